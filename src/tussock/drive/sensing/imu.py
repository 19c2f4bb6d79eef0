"""An IMU in the body's origin: specific force and turn rate in the body's axes, from the truth of the motion.

Both come from differences of the truth over the time between two readings, as a strapdown unit integrates them. At rest
on level ground it reads +9.81 m/s² along z. Noise densities are given as data sheets do; a reading's white noise is the
density times the root of the rate.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from tussock.drive.sensing.errors import Errors, ErrorSettings
from tussock.drive.sensing.readings import ImuReadings, sample_times
from tussock.drive.vehicles.attitude import matrices, quaternions, rates_between
from tussock.drive.vehicles.body import Driven
from tussock.drive.vehicles.vehicle import GRAVITY
from tussock.quantities import NotNegative, Positive
from tussock.randomness import Purpose
from tussock.settings import Settings

__all__ = ["Imu", "ImuAtWork"]


class Imu(Settings):
    name: str = "imu"
    description: str = ""
    rate_hz: Annotated[float, Field(gt=0.0, le=1000.0)] = 100.0
    gyro_noise_deg_s_rthz: NotNegative = 0.0
    gyro_bias_deg_h: NotNegative = 0.0
    """standard deviation of what wanders"""
    gyro_walk_deg_s_rts: NotNegative = 0.0
    accel_noise_ug_rthz: NotNegative = 0.0
    accel_bias_mg: NotNegative = 0.0
    accel_walk_m_s2_rts: NotNegative = 0.0
    bias_time_s: Positive = 100.0
    sources: dict[str, str] = Field(default_factory=dict)

    @property
    def gyro(self) -> ErrorSettings:
        """[rad/s]"""
        return ErrorSettings(
            white=float(np.deg2rad(self.gyro_noise_deg_s_rthz) * np.sqrt(self.rate_hz)),
            drift=float(np.deg2rad(self.gyro_bias_deg_h) / 3600),
            drift_time_s=self.bias_time_s,
            walk=float(np.deg2rad(self.gyro_walk_deg_s_rts)),
        )

    @property
    def accelerometer(self) -> ErrorSettings:
        """[m/s²]"""
        return ErrorSettings(
            white=float(self.accel_noise_ug_rthz * 1e-6 * GRAVITY * np.sqrt(self.rate_hz)),
            drift=self.accel_bias_mg * 1e-3 * GRAVITY,
            drift_time_s=self.bias_time_s,
            walk=self.accel_walk_m_s2_rts,
        )


class ImuAtWork:
    def __init__(self, imu: Imu, *, seed: int) -> None:
        self.imu = imu
        dt = 1 / imu.rate_hz
        self._gyro = Errors(imu.gyro, dt, axes=3, seed=seed, purpose=Purpose.VEHICLE_IMU, stream=0)
        self._accel = Errors(imu.accelerometer, dt, axes=3, seed=seed, purpose=Purpose.VEHICLE_IMU, stream=1)
        self._velocity = np.zeros(3)

    def read(self, driven: Driven) -> ImuReadings:
        """The readings of one step."""
        _, times = sample_times(self.imu.rate_hz, float(driven.times[0]), float(driven.times[-1]))
        dt = float(driven.times[1] - driven.times[0])
        # Velocity over each of the vehicle's own steps, and its change from one to the next.
        velocities = np.diff(driven.rows[:, :3], axis=0) / dt
        changes = np.diff(np.concatenate([self._velocity[None], velocities]), axis=0) / dt
        self._velocity = velocities[-1]
        angles = driven.rows[:, 3:6].T
        rates = rates_between(quaternions(*angles), dt)
        which = np.clip(((times - driven.times[0]) / dt + 1e-6).astype(int), 0, len(rates) - 1)
        up = np.array([0.0, 0.0, GRAVITY])
        forces = ((changes + up)[:, None, :] @ matrices(*angles)[:-1])[:, 0]
        return ImuReadings(
            times, forces[which] + self._accel.take(len(times)), rates[which] + self._gyro.take(len(times))
        )
