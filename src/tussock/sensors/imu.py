"""The inertial sensor inside a LIDAR: what it feels on a path.

Between the poses of a trajectory the body is taken to move on the smoothest curves through them (cubic splines of
position and rotation), because straight lines with corners would have no acceleration but infinite jerks. With R and p
the pose of the sensor, ω and α its rate and angular acceleration in its own axes, and r where the inertial sensor sits
in it, an accelerometer feels the specific force

    f = Rᵀ (p̈ + g ẑ) + α × r + ω × (ω × r)

so at rest it reads +g upwards. Before the first and after the last pose the body stands still. White noise of a
given density is added, σ = density · √rate, by counted chance: sample k of a run is the same in any cut of it.

Left out: the wander of the bias, scale errors, and the anti-alias filter.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from tussock.arrays import FloatArray
from tussock.poses import Trajectory
from tussock.quantities import NotNegative, Triple
from tussock.randomness import Purpose, normal_array
from tussock.settings import Settings

__all__ = ["GRAVITY", "Imu", "ImuReadings"]

GRAVITY = 9.80665
"""[m/s²] standard gravity, downwards along world z"""

_BLOCK, _AROUND = 64, 16  # poses: a spline forgets a pose that is 16 further on to 1e-9


class ImuReadings(NamedTuple):
    """Samples in the axes of the sensor.

    >>> imu = tussock.Imu(rate_hz=100.0)
    >>> imu.measure(tussock.Trajectory.standing(tussock.Pose()), imu.samples(0.0, 0.1)).rate.shape
    (10, 3)
    """

    time: NDArray[np.float64]
    """[s] simulation time, shape (n,)"""
    force: FloatArray
    """[m/s²] specific force: at rest +9.80665 upwards, shape (n, 3)"""
    rate: FloatArray
    """[rad/s] shape (n, 3)"""


class Imu(Settings):
    """An inertial sensor whose axes are those of the LIDAR.

    >>> imu = tussock.Imu(rate_hz=100.0)
    >>> felt = imu.measure(tussock.Trajectory.standing(tussock.Pose()), imu.samples(0.0, 0.1))
    >>> float(felt.force[0, 2].round(2))
    9.81
    """

    rate_hz: Annotated[float, Field(gt=0.0, le=10_000.0)]
    """samples a second"""
    position_m: Triple = (0.0, 0.0, 0.0)
    """where it sits in the sensor's frame"""
    accelerometer_noise: NotNegative = 0.0
    """density of its white noise [m/s²/√Hz]"""
    gyroscope_noise: NotNegative = 0.0
    """density of its white noise [rad/s/√Hz]"""

    def samples(self, start: float, end: float) -> range:
        """Numbers k of the samples at k / rate_hz in [start, end) [s]: any cut of the time gives each once."""
        first, stop = (int(np.ceil(time * self.rate_hz - 1e-6)) for time in (start, end))
        return range(first, stop)

    def measure(self, path: Trajectory, samples: range, *, seed: int = 0) -> ImuReadings:
        """What the samples of these numbers read on ``path`` (``T_world_sensor``)."""
        number = np.arange(samples.start, samples.stop)
        time = number / self.rate_hz
        force, rate = _felt(path, time, np.array(self.position_m))
        if self.accelerometer_noise or self.gyroscope_noise:
            noise = np.sqrt(self.rate_hz) * normal_array(seed, Purpose.IMU, np.arange(6)[None, :], number[:, None])
            force += self.accelerometer_noise * noise[:, :3]
            rate += self.gyroscope_noise * noise[:, 3:]
        return ImuReadings(time, force, rate)


def _felt(path: Trajectory, time: NDArray[np.float64], arm: NDArray[np.float64]) -> tuple[FloatArray, FloatArray]:
    """Specific force [m/s²] and rate [rad/s] at ``time`` (n,), in the axes of the sensor, shapes (n, 3)."""
    _, quaternions = path.at(time)
    force = Rotation.from_quat(quaternions).apply([0.0, 0.0, GRAVITY], inverse=True)
    rate = np.zeros((len(time), 3))
    if not path.moving:
        return force, rate
    last = len(path.times) - 1
    moving = (time >= path.times[0]) & (time <= path.times[-1])
    # Blocks of poses, not of samples: what a sample reads does not depend on which others were asked for.
    block = np.clip(np.searchsorted(path.times, time, side="right") - 1, 0, last - 1) // _BLOCK
    for number in np.unique(block[moving]).tolist():
        rows = moving & (block == number)
        poses = slice(max(0, number * _BLOCK - _AROUND), min(last, (number + 1) * _BLOCK + _AROUND) + 1)
        knots = path.times[poses]
        position = CubicSpline(knots, path.positions[poses], bc_type="natural")
        turning = RotationSpline(knots, Rotation.from_quat(path.quaternions[poses]))
        acceleration = position(time[rows], 2) + np.array([0.0, 0.0, GRAVITY])
        # SciPy's rates are those of the body's own axes.
        omega, alpha = turning(time[rows], 1), turning(time[rows], 2)
        spinning = np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
        force[rows] = turning(time[rows]).apply(acceleration, inverse=True) + spinning
        rate[rows] = omega
    return force, rate
