"""From frames to the packets that the sensor itself would have sent.

The firing cycles of a spinning sensor are one endless stream, cut into packets of a fixed number of cycles without
regard to where a revolution ends: what is left over of a frame waits for the next one. `flush` completes the
last packet with cycles that saw nothing.

Out of range, below half a step or beyond 65535 steps, is 0: no return. In dual mode a pulse with one return
reports it twice, as the device does; see `tussock.wire.dual_returns` for the rest.

Left out: the wander of the motor, and intensities that some devices report without a distance.
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.kernels import kernel
from tussock.return_modes import KINDS, ReturnKind
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.dual_returns import kinds_of_places
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.velodyne.layout import LAST, PACKET, PACKET_BYTES, STRONGEST, Layout, layout_of
from tussock.wire.velodyne.models import MODE_BYTES, PacketModel, ReturnMode, mode_of, model_of
from tussock.wire.velodyne.status64 import StatusStream

__all__ = ["PacketEncoder", "assemble", "intensity_bytes", "place_returns"]

HOUR_US = 3_600_000_000
_BOTH, _SKIP = 2, 255


class PacketEncoder:
    """Turns the frames of one sensor into packets, one after the other.

    ``mode`` is that of the sensor's receiver unless given. ``epoch`` [s] is the Unix time of simulation time 0.

    >>> encoder = tussock.PacketEncoder(tussock.load_sensor("vlp-16"))
    >>> round(encoder.packets_per_second)
    754
    """

    def __init__(self, sensor: Sensor, *, mode: ReturnMode | None = None, epoch: float = EPOCH) -> None:
        self.sensor = sensor
        self.model: PacketModel = model_of(sensor)
        self.mode: ReturnMode = mode or mode_of(sensor)
        self.epoch = epoch
        self.layout = layout_of(self.model, self.mode)
        assert isinstance(sensor.pattern, SpinningPattern)
        self._pattern = sensor.pattern
        self._status = StatusStream(sensor, self.mode) if self.model.model_byte is None else None
        self._next: int | None = None  # the cycle that must come next
        self._begun = np.empty((0, PACKET_BYTES), np.uint8)
        self._carried = 0  # cycles in the packet begun

    @property
    def packets_per_second(self) -> float:
        return 1.0 / (self.layout.cycles * float(self._pattern.cycle))

    def encode(self, frame: Frame) -> Packets:
        """The packets that this frame completes. After a gap the packet begun before it is completed empty."""
        number = int(frame.meta.get("frame", 0))
        cycles = self._pattern.cycles(number)
        if frame.pulses != len(cycles) * self.model.lasers:
            raise InputError.of(
                f"frame {number}", f"must be of the sensor {self.sensor.name} with its settings",
                f"{frame.pulses} pulses instead of {len(cycles) * self.model.lasers}",
            )  # fmt: skip
        before = self.flush() if self._next not in (None, cycles.start) else Packets.none(PACKET_BYTES)

        total = self._carried + len(cycles)
        payloads = np.zeros((ceil(total / self.layout.cycles), PACKET_BYTES), np.uint8)
        payloads[: len(self._begun)] = self._begun
        returns = _Returns(
            frame.pulse, frame.laser, self._slots(frame), distance_steps(frame.range, self.model.distance_step_m),
            intensity_bytes(frame.intensity, self.model.white),
        )  # fmt: skip
        _place(self.layout.place, self._carried, returns, payloads)
        first = cycles.start - self._carried
        self._next = cycles.stop
        self._carried = total % self.layout.cycles
        whole = total // self.layout.cycles
        self._begun = payloads[whole:].copy()
        done = self._finished(payloads[:whole], first)
        return Packets.joined([before, done]) if len(before) else done

    def flush(self) -> Packets:
        """The packet begun, if there is one; its last cycles hold no returns."""
        if not self._carried:
            return Packets.none(PACKET_BYTES)
        assert self._next is not None
        done = self._finished(self._begun, self._next - self._carried)
        self._begun, self._carried, self._next = self._begun[:0], 0, None
        return done

    def _slots(self, frame: Frame) -> NDArray[np.uint8]:
        """Which place of the packet each row goes to, shape (n,)."""
        slots = np.full(len(KINDS), _SKIP, np.uint8)
        if self.mode == "dual":
            slots[ReturnKind.STRONGEST], slots[ReturnKind.LAST] = STRONGEST, LAST
        else:
            slots[KINDS.index(self.mode)] = 0
        row = slots[kinds_of_places(frame.return_kind)]
        if self.mode == "dual":
            row[(row != _SKIP) & (frame.return_count == 1)] = _BOTH
        if len(frame) and (row == _SKIP).all() and frame.hit.any():
            kinds = sorted({KINDS[kind] for kind in set(frame.return_kind.tolist())})
            raise InputError.of(f"packets of {self.mode} returns", "need frames that hold them", ", ".join(kinds))
        return row

    def _finished(self, payloads: NDArray[np.uint8], first: int) -> Packets:
        """Packets with their headers; ``first`` is the cycle that the first of them begins with."""
        starts = first + self.layout.cycles * np.arange(len(payloads))
        # Exact for the first, so that a late cycle does not wander; the few that follow are close to it.
        ratio = self._pattern.cycles_per_revolution
        turned = float((first % ratio) / ratio)
        per_cycle = 1.0 / float(ratio)
        blocks = turned + ((starts - first)[:, None] + np.maximum(self.layout.block_cycle, 0)) * per_cycle
        if not self._pattern.clockwise:
            blocks = -blocks
        blocks = blocks - self._pattern.start_deg / 360.0  # the wire's azimuth grows clockwise
        azimuths = np.floor(blocks % 1.0 * 36000 + 0.5).astype(np.int64) % 36000

        cycle = self._pattern.cycle
        begin = (float(first * cycle) + (starts - first) * float(cycle)).astype(np.float64)
        micro = (self.epoch % 3600) * 1e6 + begin * 1e6 + self.model.stamp_us
        stamps = np.floor(micro + 0.5).astype(np.int64) % HOUR_US
        if self._status is None:
            factory = np.array([MODE_BYTES[self.mode], self.model.model_byte], np.uint8)
        else:
            factory = self._status.bytes(starts // self.layout.cycles, self.epoch + begin)
        assemble(payloads, self.layout, azimuths, stamps, factory)
        return Packets(payloads, begin + self.layout.cycles * float(cycle))


def assemble(
    payloads: NDArray[np.uint8], layout: Layout, azimuths: NDArray[Any], stamps: NDArray[Any], factory: NDArray[Any]
) -> None:
    """Write everything but the returns: azimuths [0.01°] (n, 12), stamps [µs] (n,), factory bytes (n, 2) or (2,)."""
    packets = payloads.view(PACKET)[:, 0]
    packets["blocks"]["flag"] = layout.flags
    packets["blocks"]["azimuth"] = np.where(layout.block_cycle < 0, 0, azimuths)
    packets["stamp"] = stamps
    packets["factory"] = factory


def distance_steps(ranges: NDArray[np.float32], step: float) -> NDArray[np.uint16]:
    """Ranges [m] in whole steps, 0 where they do not fit 16 bits (or are no number)."""
    steps = np.rint(ranges / np.float32(step))
    with np.errstate(invalid="ignore"):
        return np.where((steps >= 1) & (steps <= 65535), steps, 0).astype(np.uint16)


def intensity_bytes(intensity: NDArray[np.float32], white: float) -> NDArray[np.uint8]:
    """Relative intensities as bytes: ``white`` for a white wall met head-on, above it retro-reflectors, at most 255."""
    return np.clip(intensity * np.float32(white) + np.float32(0.5), 0, 255).astype(np.uint8)


def place_returns(
    layout: Layout, pulse: NDArray[Any], laser: NDArray[Any], slot: NDArray[Any], distance: NDArray[np.uint16],
    intensity: NDArray[np.uint8], payloads: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Write returns into packets; pulse, counted from the first packet's first, laser, slot: shape (n,)."""
    returns = _Returns(pulse.astype(np.uint32), laser.astype(np.uint16), slot.astype(np.uint8), distance, intensity)
    _place(layout.place, 0, returns, payloads)


class _Returns(NamedTuple):
    """Returns as they are written, each array of shape (n,)."""

    pulse: Any
    laser: Any
    slot: Any
    """which place of the pulse's"""
    distance: Any
    """steps"""
    intensity: Any
    """bytes"""


@kernel
def _place(place: Any, carried: int, returned: _Returns, payloads: Any) -> None:
    """``carried``: cycles in the first packet before pulse 0."""
    pulse, laser, slot, distance, intensity = returned
    cycles, lasers, returns = place.shape
    for i in range(len(pulse)):
        if slot[i] == _SKIP:
            continue
        cycle = carried + np.int64(pulse[i]) // lasers
        packet = cycle // cycles
        first, last = (0, returns) if slot[i] == _BOTH else (np.int64(slot[i]), np.int64(slot[i]) + 1)
        for k in range(first, last):
            at = place[cycle - packet * cycles, laser[i], k]
            payloads[packet, at] = distance[i] & 0xFF
            payloads[packet, at + 1] = distance[i] >> 8
            payloads[packet, at + 2] = intensity[i]
