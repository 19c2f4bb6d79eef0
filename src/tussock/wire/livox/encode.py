"""From frames to the packets that a Livox LIDAR would have sent.

The pulses of a sensor are one endless stream, cut into packets of 96 or 100 without regard to where a frame ends; packets
of the second SDK are counted anew in every frame. `flush` completes the last one with points that saw nothing.

Of two returns the nearer comes first, and the tag counts them. Left out: what else the tag tells, how sure the device is of
a point, is 0; frames are not told apart in non-repetitive
scanning, so the frame's number stays 0, as on the device.
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.kernels import inline_kernel, loop_kernel
from tussock.poses import Pose, Trajectory
from tussock.return_modes import KINDS
from tussock.sensors.imu import GRAVITY
from tussock.sensors.sensor import Sensor
from tussock.wire.checksums import ethernet_crc32
from tussock.wire.livox.formats import IMU_PACKETS, IMU_TYPES, PTP, TIME_AT, VERSIONS, WHITE, format_of
from tussock.wire.packets import EPOCH, Packets, Sent, whole_nanoseconds

__all__ = ["LivoxEncoder"]

_RETURN_NUMBER = 16  # the tag's, from its fourth bit on


class LivoxEncoder:
    """Turns the frames of one sensor into packets of points (``data``) and inertial packets (``imu``).

    ``epoch`` [s] is the Unix time of simulation time 0.

    >>> encoder = tussock.LivoxEncoder(tussock.load_sensor("livox-mid-360"))
    """

    def __init__(self, sensor: Sensor, *, epoch: float = EPOCH) -> None:
        self.sensor, self.epoch = sensor, epoch
        self.format = format_of(sensor)
        self._record = self.format.packet
        mode = str(sensor.receiver.mode)
        self._kind = KINDS.index("strongest" if self.format.returns == 2 else mode)
        self._begun = np.zeros(1, self._record)
        self._carried = 0  # pulses in the packet begun
        self._times = np.empty(0)  # [s] when they were fired
        self._next: int | None = None  # the frame that must come next
        self._counted = 0  # packets in the frame

    @property
    def packets_per_second(self) -> float:
        return len(self.sensor.pulses(0)) / self.sensor.frame_period / self.format.pulses

    def encode(self, frame: Frame) -> Sent:
        """The packets that this frame completes. After a gap the packet begun before it is completed empty."""
        number = int(frame.meta.get("frame", 0))
        pulses = self.sensor.pulses(number)
        if frame.pulses != len(pulses):
            raise InputError.of(
                f"frame {number}", f"must be of the sensor {self.sensor.name} with its settings",
                f"{frame.pulses} pulses instead of {len(pulses)}",
            )  # fmt: skip
        before = self.flush()["data"] if self._next not in (None, number) else Packets.none(self._record.itemsize)
        self._counted = 0
        points = self.format.pulses
        times = np.concatenate([self._times, number * self.sensor.frame_period + pulses.offsets])
        packets = np.zeros(ceil(len(times) / points), self._record)
        if self._carried:
            packets[0] = self._begun[0]
        self._place(frame, packets)
        whole = len(times) // points
        self._next, self._carried = number + 1, len(times) - whole * points
        self._begun = packets[whole:].copy() if self._carried else np.zeros(1, self._record)
        self._times = times[whole * points :]
        done = self._finished(packets[:whole], times[: whole * points].reshape(whole, points))
        sent: Sent = {"data": Packets.joined([before, done]) if len(before) else done}
        if self.sensor.imu is not None:
            path = frame.trajectory or Trajectory.standing(Pose())
            sent["imu"] = self._imu(number, path, int(frame.meta.get("seed", 0)))
        return sent

    def flush(self) -> Sent:
        """The packet begun, if there is one; its last points saw nothing."""
        if not self._carried:
            return {"data": Packets.none(self._record.itemsize)}
        step = self.sensor.frame_period / len(self.sensor.pulses(0))
        rest = self._times[-1] + step * (1 + np.arange(self.format.pulses - self._carried))
        done = self._finished(self._begun, np.concatenate([self._times, rest])[None])
        self._begun, self._carried, self._times, self._next = np.zeros(1, self._record), 0, np.empty(0), None
        return {"data": done}

    def _place(self, frame: Frame, packets: NDArray[Any]) -> None:
        form, pulse, kind = self.format, frame.pulse, frame.return_kind
        if form.returns == 2:
            # A point for either return of a pulse, and whichever is reported has its place.
            pulse = 2 * pulse + _farther(frame).astype(np.uint32)
            kind = np.where(frame.hit, np.uint8(self._kind), kind)
        carried = form.returns * self._carried
        given = _Given(form.points, self._kind, carried, pulse, kind, frame.intensity, packets["data"])
        if self.format.spherical:
            written = _write_spherical(given, frame.range, frame.azimuth, frame.elevation)
        else:
            most = np.iinfo(packets["data"]["x"].dtype).max
            written = _write_points(given, frame.xyz, np.float32(1 / self.format.step_m), np.int64(most))
        if form.returns == 2:
            packets["data"]["tag"] = np.where(_returned(packets), _RETURN_NUMBER * (1 + np.arange(form.points) % 2), 0)
        if not written and frame.hit.any():
            kinds = ", ".join(sorted({KINDS[kind] for kind in set(frame.return_kind.tolist())}))
            raise InputError.of(f"packets {self.format.name}", f"need {self.sensor.receiver.mode} returns", kinds)

    def _finished(self, packets: NDArray[Any], times: NDArray[np.float64]) -> Packets:
        """Packets with their headers; ``times`` [s] of all pulses, shape (packets, pulses)."""
        points, step = self.format.points, self.sensor.frame_period / len(self.sensor.pulses(0))
        if self.format.sdk == 2:
            packets["interval"] = round(points * step / 1e-7)
            packets["packet"] = (self._counted + np.arange(len(packets))) % 65536
        self._counted += len(packets)
        return Packets(self._headed(packets, self.format.type, points, times[:, 0]), times[:, -1] + step)

    def _imu(self, number: int, path: Trajectory, seed: int) -> Packets:
        imu, period, sdk = self.sensor.imu, self.sensor.frame_period, self.format.sdk
        assert imu is not None
        readings = imu.measure(path, imu.samples(number * period, (number + 1) * period), seed=seed)
        packets = np.zeros(len(readings.time), IMU_PACKETS[sdk])
        packets["rate"], packets["force"] = readings.rate, readings.force / GRAVITY
        return Packets(self._headed(packets, IMU_TYPES[sdk], 1, readings.time), readings.time)

    def _headed(self, packets: NDArray[Any], kind: int, points: int, times: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Packets as bytes with what every header says and their checksums, shape (n, size); ``times`` [s] of each."""
        sdk, size = self.format.sdk, packets.dtype.itemsize
        packets["version"], packets["type"], packets["clock"] = VERSIONS[sdk], kind, PTP
        packets["time"] = whole_nanoseconds(self.epoch) + np.rint(times * 1e9).astype(np.int64)
        raw = packets.view(np.uint8).reshape(len(packets), size)
        if sdk == 1:
            packets["slot"], packets["unit"] = 1, 1
        else:
            packets["length"], packets["points"] = size, points
            packets["crc"] = ethernet_crc32(raw[:, TIME_AT:])
        return raw


def _farther(frame: Frame) -> NDArray[np.bool_]:
    """Whether a row is the second to arrive of its pulse's two returns, which are neighbours, shape (n,)."""
    same = np.concatenate([[False], frame.pulse[1:] == frame.pulse[:-1], [False]])
    reach = np.concatenate([[np.inf], frame.range, [np.inf]])
    behind = same[:-1] & (reach[:-2] <= frame.range)
    return np.asarray(behind | (same[1:] & (reach[2:] < frame.range)))


def _returned(packets: NDArray[Any]) -> NDArray[np.bool_]:
    return np.any([packets["data"][axis] != 0 for axis in "xyz"], axis=0)


class _Given(NamedTuple):
    """The returns of a frame, and the packets that they go to."""

    points: int
    """in a packet"""
    wanted: int
    """the kind of return that the sensor reports"""
    carried: int
    """points in the first packet before pulse 0"""
    pulse: Any
    kind: Any
    intensity: Any
    data: Any
    """shape (packets, points)"""


@inline_kernel
def _point_of(given: _Given, i: int) -> Any:
    """Packet, and point in it, that a return goes to."""
    at = given.carried + np.int64(given.pulse[i])
    packet = at // given.points
    return packet, at - packet * given.points


@inline_kernel
def _reflectivity(intensity: Any) -> Any:
    """The byte of a relative intensity, rounded."""
    white = min(max(intensity * np.float32(WHITE), np.float32(0.0)), np.float32(255.0))
    return np.int64(white + np.float32(0.5))


@loop_kernel
def _write_points(given: _Given, xyz: Any, per_step: Any, most: Any) -> int:
    """Write points in steps; one that does not fit is left out."""
    written = 0
    half = np.float32(0.5)
    for i in range(len(given.pulse)):
        if given.kind[i] != given.wanted:
            continue
        written += 1
        x = np.int64(np.floor(xyz[i, 0] * per_step + half))
        y = np.int64(np.floor(xyz[i, 1] * per_step + half))
        z = np.int64(np.floor(xyz[i, 2] * per_step + half))
        if max(abs(x), abs(y), abs(z)) > most:
            continue
        packet, place = _point_of(given, i)
        point = given.data[packet, place]
        point["x"], point["y"], point["z"] = x, y, z
        point["reflectivity"] = _reflectivity(given.intensity[i])
    return written


@loop_kernel
def _write_spherical(given: _Given, reach: Any, azimuth: Any, elevation: Any) -> int:
    """Write distances [mm] and angles [0.01°]: zenith down from straight up, azimuth counter-clockwise from x."""
    written = 0
    per_angle = 18000.0 / np.pi
    for i in range(len(given.pulse)):
        if given.kind[i] != given.wanted:
            continue
        written += 1
        packet, place = _point_of(given, i)
        point = given.data[packet, place]
        point["distance"] = np.int64(reach[i] * np.float32(1000.0) + np.float32(0.5))
        point["zenith"] = np.int64(9000.0 - elevation[i] * per_angle + 0.5)
        turned = np.int64(np.floor(azimuth[i] * per_angle + 0.5))
        point["azimuth"] = turned + 36000 if turned < 0 else turned
        point["reflectivity"] = _reflectivity(given.intensity[i])
    return written
