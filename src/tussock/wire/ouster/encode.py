"""From frames to the packets that an Ouster LIDAR would have sent.

A revolution is a whole number of packets, so nothing is carried from one frame to the next. The range on the wire is
counted from the axis of rotation: the frame's range plus the distance from there to the start of the beam. No
return is 0, as is one that does not fit the field.

Reflectivity: 100 for a white wall met head-on, and in proportion up to 255 (the device's own scale above 100, for
retro-reflectors, is not linear). Signal: photons in proportion to intensity / range², 2000 for a white wall at 10 m, a
scale of ours. Near infrared: photons of sunlight, 4000 for a white wall that faces the sun, a scale of ours too; 0 where
a frame has no row for a pixel (keep misses to have the sky's). The footer's checksum is 0, as firmware before 3.2 leaves it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.kernels import loop_kernel
from tussock.listening import sensitivity_of
from tussock.poses import Pose, Trajectory
from tussock.return_modes import KINDS, ReturnKind
from tussock.sensors.imu import GRAVITY
from tussock.sensors.sensor import Sensor
from tussock.wire.ouster.models import profile_of, unit_of
from tussock.wire.ouster.profiles import ENCODER_TICKS, IMU_BYTES, Profile
from tussock.wire.packets import EPOCH, Packets, Sent, whole_nanoseconds

__all__ = ["OusterEncoder"]

WHITE = 100.0
"""reflectivity of a white wall met head-on"""
SIGNAL_AT_1_M = 200_000.0
"""photons of a white wall at 1 m"""
NEAR_INFRARED_WHITE = 4000.0
"""photons of sunlight from a white wall that faces the sun"""
_SKIP = 255
_TYPE_LIDAR = 1


class _Layout(NamedTuple):
    """Where a return goes, in bytes."""

    pixels: int
    columns: int
    """in a packet"""
    packet: int
    first: int
    """of the first column's first pixel"""
    column: int
    pixel: int
    range_at: int
    """in the pixel; −1 for what a profile does not have"""
    range_on: int
    """from the first return's range to the second's"""
    wide: bool
    """whether a range has three bytes, not two"""
    step_mm: int
    most: int
    """the largest range in steps"""
    reflectivity_at: int
    reflectivity_on: int
    signal_at: int
    signal_on: int
    near_at: int
    near_step: int
    """photons a unit of the field"""
    near_most: int
    offset_mm: float
    """from the axis to the start of the beam"""


def _layout(profile: Profile, lasers: int, per_packet: int, offset_mm: float) -> _Layout:
    def places(name: str) -> tuple[int, int]:
        one, two = profile.field(name), profile.field(f"{name}2")
        return -1 if one is None else one.at, 0 if one is None or two is None else two.at - one.at

    reach, near = profile.field("RANGE"), profile.field("NEAR_IR")
    assert reach is not None and near is not None
    return _Layout(
        lasers, per_packet, profile.size(lasers, per_packet), profile.header + profile.column_header,
        profile.column(lasers), profile.pixel, *places("RANGE"), reach.bits > 16, reach.step,
        (1 << reach.bits) - 1, *places("REFLECTIVITY"), *places("SIGNAL"), near.at, near.step,
        (1 << near.bits) - 1, offset_mm,
    )  # fmt: skip


class OusterEncoder:
    """Turns the frames of one sensor into LIDAR packets (``data``) and inertial packets (``imu``).

    ``epoch`` [s] is the Unix time of simulation time 0, ``serial`` the number of the unit.

    >>> encoder = tussock.OusterEncoder(tussock.load_sensor("os1-64"))
    >>> encoder.unit.lasers
    64
    """

    def __init__(self, sensor: Sensor, *, epoch: float = EPOCH, serial: int | None = None) -> None:
        self.sensor = sensor
        self.profile = profile_of(sensor)
        self.unit = unit_of(sensor, serial=serial)
        self.epoch = epoch
        unit = self.unit
        self._layout = _layout(self.profile, unit.lasers, unit.columns_per_packet, unit.axis_mm)
        self._head = self._packet_head()
        self._slots = _slots(self.profile.returns, str(sensor.receiver.mode))
        scale, _ = sensitivity_of(sensor)
        # Photons of a signal that is as strong as the receiver's noise; 0 where its sheet does not say how strong that is.
        self._photons = np.float32(SIGNAL_AT_1_M / scale if scale > 0 else 0.0)

    @property
    def packets_per_second(self) -> float:
        return self.unit.columns * self.unit.rate_hz / self.unit.columns_per_packet

    def encode(self, frame: Frame) -> Sent:
        """The packets of one revolution."""
        number, unit = int(frame.meta.get("frame", 0)), self.unit
        if frame.pulses != unit.columns * unit.lasers:
            raise InputError.of(
                f"frame {number}", f"must be of the sensor {self.sensor.name} with its settings",
                f"{frame.pulses} pulses instead of {unit.columns * unit.lasers}",
            )  # fmt: skip
        payloads = np.zeros((unit.columns // unit.columns_per_packet, self._layout.packet), np.uint8)
        times = self._put_headers(payloads, number)
        returned = _Returned(
            frame.pulse, frame.return_kind, frame.range, frame.intensity, frame.signal, frame.near_infrared
        )
        written = _place(self._layout, self._slots, returned, self._photons, payloads.reshape(-1))
        if not written and frame.hit.any():
            kinds = ", ".join(sorted({KINDS[kind] for kind in set(frame.return_kind.tolist())}))
            raise InputError.of(f"packets {self.profile.name}", f"need {self.sensor.receiver.mode} returns", kinds)
        sent: Sent = {"data": Packets(payloads, times)}
        if self.sensor.imu is not None:
            path = frame.trajectory or Trajectory.standing(Pose())
            sent["imu"] = self._imu(number, path, int(frame.meta.get("seed", 0)))
        return sent

    def flush(self) -> Sent:
        """Nothing is ever left over."""
        return {"data": Packets.none(self._layout.packet)}

    def _packet_head(self) -> NDArray[np.uint8]:
        """The header of every packet, its frame number still 0."""
        if self.profile.legacy:
            return np.empty(0, np.uint8)
        head = np.zeros(self.profile.header, np.uint8)
        head[0] = _TYPE_LIDAR
        head[4:7] = np.frombuffer(self.unit.initialisation.to_bytes(3, "little"), np.uint8)
        head[7:12] = np.frombuffer(self.unit.serial.to_bytes(5, "little"), np.uint8)
        return head

    def _put_headers(self, payloads: NDArray[np.uint8], number: int) -> NDArray[np.float64]:
        """Everything but the pixels; when each packet leaves [s], shape (packets,)."""
        unit, layout = self.unit, self._layout
        packets, per_packet = len(payloads), unit.columns_per_packet
        column = np.arange(unit.columns)
        # Whole nanoseconds: a Unix time in seconds would lose them.
        start = whole_nanoseconds(self.epoch) + round(number / unit.rate_hz * 1e9)
        stamps = (start + np.rint(column * (1e9 / unit.rate_hz / unit.columns)).astype(np.int64)).astype("<u8")
        if not self.profile.legacy:
            payloads[:, : len(self._head)] = self._head
            payloads[:, 2:4] = np.frombuffer((number % 65536).to_bytes(2, "little"), np.uint8)
        size = per_packet * layout.column
        blocks = payloads[:, self.profile.header : self.profile.header + size].reshape(
            packets, per_packet, layout.column
        )
        blocks[:, :, 0:8] = stamps.view(np.uint8).reshape(packets, per_packet, 8)
        blocks[:, :, 8:10] = column.astype("<u2").view(np.uint8).reshape(packets, per_packet, 2)
        if self.profile.legacy:
            blocks[:, :, 10:12] = np.frombuffer((number % 65536).to_bytes(2, "little"), np.uint8)
            ticks = (column * ENCODER_TICKS // unit.columns).astype("<u4")
            blocks[:, :, 12:16] = ticks.view(np.uint8).reshape(packets, per_packet, 4)
            blocks[:, :, -4:] = 0xFF
        else:
            blocks[:, :, 10] = 1  # valid
        ends = (np.arange(packets) + 1) * per_packet / (unit.columns * unit.rate_hz)
        return number / unit.rate_hz + ends

    def _imu(self, number: int, path: Trajectory, seed: int) -> Packets:
        """Inertial packets: when they were read [ns] (three clocks), acceleration [g], turn rate [deg/s]."""
        imu = self.sensor.imu
        assert imu is not None
        period = 1 / self.unit.rate_hz
        readings = imu.measure(path, imu.samples(number * period, (number + 1) * period), seed=seed)
        payloads = np.empty((len(readings.time), IMU_BYTES), np.uint8)
        stamps = whole_nanoseconds(self.epoch) + np.rint(readings.time * 1e9).astype(np.int64)
        payloads[:, :24] = np.repeat(stamps.astype("<u8")[:, None], 3, 1).view(np.uint8)
        payloads[:, 24:36] = (readings.force / GRAVITY).astype("<f4").view(np.uint8)
        payloads[:, 36:] = np.rad2deg(readings.rate).astype("<f4").view(np.uint8)
        return Packets(payloads, readings.time)


def _slots(returns: int, mode: str) -> NDArray[np.uint8]:
    """Which of a pixel's returns a kind of return is, for every kind in `KINDS`; 255: none."""
    slots = np.full(len(KINDS), _SKIP, np.uint8)
    if returns == 2:
        slots[ReturnKind.STRONGEST] = 0
        slots[ReturnKind.LAST] = slots[ReturnKind.SECOND] = 1
    else:
        slots[KINDS.index(mode)] = 0
    return slots


class _Returned(NamedTuple):
    """Columns of a frame, each of shape (n,)."""

    pulse: Any
    kind: Any
    reach: Any
    """[m]"""
    intensity: Any
    signal: Any
    near: Any


@loop_kernel
def _place(layout: Any, slots: Any, returned: _Returned, photons_a_signal: Any, payloads: Any) -> int:
    """Write returns into zeroed packets, laid end to end; how many were of a kind that packets carry.

    The photons of a return are its signal's; where that is not known, those that its intensity has at its range.
    """
    pulse, kind, reach, intensity, signal, near = returned
    written = 0
    per_step = np.float32(1000.0 / layout.step_mm)
    offset = np.float32(layout.offset_mm / layout.step_mm + 0.5)
    first, column = np.int64(0), np.int64(-1)  # the first pulse of the column that the last return was of, and where
    for i in range(len(pulse)):
        slot = np.int64(slots[kind[i]])
        laser = np.int64(pulse[i]) - first
        if column < 0 or laser < 0 or laser >= layout.pixels:
            number = np.int64(pulse[i]) // layout.pixels
            first = number * layout.pixels
            laser = np.int64(pulse[i]) - first
            packet = number // layout.columns
            column = packet * layout.packet + layout.first + (number - packet * layout.columns) * layout.column
        at = column + laser * layout.pixel
        if near[i] > np.float32(0.0):  # not NaN; a pixel without return has it too
            photons = np.int64(near[i] * np.float32(NEAR_INFRARED_WHITE) + np.float32(0.5)) // layout.near_step
            photons = min(photons, layout.near_most)
            payloads[at + layout.near_at] = photons & 0xFF
            if layout.near_most > 0xFF:
                payloads[at + layout.near_at + 1] = photons >> 8
        if slot == _SKIP:
            continue
        written += 1
        metres = reach[i]
        steps = np.int64(metres * per_step + offset)
        if steps < 1 or steps > layout.most:
            continue
        where = at + layout.range_at + slot * layout.range_on
        payloads[where] = steps & 0xFF
        payloads[where + 1] = (steps >> 8) & 0xFF
        if layout.wide:
            payloads[where + 2] = steps >> 16
        bright = intensity[i]
        white = min(max(bright * np.float32(WHITE), np.float32(0.0)), np.float32(255.0)) + np.float32(0.5)
        payloads[at + layout.reflectivity_at + slot * layout.reflectivity_on] = np.int64(white)
        if layout.signal_at >= 0:
            where = at + layout.signal_at + slot * layout.signal_on
            received = signal[i] * photons_a_signal
            if not received > np.float32(0.0):
                received = np.float32(SIGNAL_AT_1_M) * bright / (metres * metres)
            photons = np.int64(min(received, np.float32(65535.0)))
            payloads[where] = photons & 0xFF
            payloads[where + 1] = photons >> 8
    return written
