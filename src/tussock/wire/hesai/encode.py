"""From frames to the packets that a Hesai LIDAR would have sent.

The firing cycles of a sensor are one endless stream, cut into packets of a fixed number of cycles without regard
to where a revolution ends; `flush` completes the last packet with cycles that saw nothing. In dual mode a pulse with one
return reports it twice: the strongest is then the last too. A distance of 0 is no return, or one beyond 16 bits.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.kernels import loop_kernel
from tussock.return_modes import KINDS, ReturnKind
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.checksums import mpeg_crc32
from tussock.wire.dual_returns import kinds_of_places
from tussock.wire.hesai.models import (
    DISTANCE_STEP_M,
    FACTORY,
    MODE_BYTES,
    WHITE,
    HesaiModel,
    ReturnMode,
    mode_of,
    model_of,
)
from tussock.wire.packets import EPOCH, Packets, Sent

__all__ = ["HesaiEncoder"]

LAST, STRONGEST = 0, 1
"""blocks of a pulse's returns in packets of two"""
_BOTH, _SKIP = 2, 255
_STANDARD = 2  # operational state of the Pandar128
_NORMAL = 1 << 5  # functional safety: the LIDAR's state


class _Places(NamedTuple):
    """Where the return of a pulse goes."""

    per_round: int
    """pulses in the cycles of all turns"""
    ends: NDArray[np.int64]
    """of the turns among them, shape (turns,)"""
    skipped: int
    """pulses of the round before the frame's first"""
    carried: int
    """cycles in the first packet before the round that the frame begins in"""
    cycles: int
    """in a packet"""
    returns: int
    packet: int
    """[bytes]"""
    first: int
    """[bytes] of the first channel of the first block"""
    block: int
    unit: int


class HesaiEncoder:
    """Turns the frames of one sensor into packets, one after the other.

    ``epoch`` [s] is the Unix time of simulation time 0.

    >>> encoder = tussock.HesaiEncoder(tussock.load_sensor("xt32"))
    >>> encoder.packets_per_second > 1000
    True
    """

    def __init__(self, sensor: Sensor, *, epoch: float = EPOCH) -> None:
        self.sensor, self.epoch = sensor, epoch
        self.model: HesaiModel = model_of(sensor)
        self.mode: ReturnMode = mode_of(sensor)
        assert isinstance(sensor.pattern, SpinningPattern)
        self._pattern = sensor.pattern
        self._record = self.model.packet
        self._cycles = self.model.cycles(self.mode)
        self._slots = _slots(self.mode)
        self._next: int | None = None  # the cycle that must come next
        self._begun = np.empty((0, self._record.itemsize), np.uint8)
        self._carried = 0  # cycles in the packet begun
        self._sent = 0

    @property
    def packets_per_second(self) -> float:
        return 1.0 / (self._cycles * float(self._pattern.cycle))

    def encode(self, frame: Frame) -> Sent:
        """The packets that this frame completes. After a gap the packet begun before it is completed empty."""
        number = int(frame.meta.get("frame", 0))
        cycles, turns = self._pattern.cycles(number), len(self._pattern.order)
        firings = self._pattern.firings
        rounds, rest = divmod(len(cycles), turns)
        wanted = rounds * sum(firings) + sum(firings[(cycles.start + k) % turns] for k in range(rest))
        if frame.pulses != wanted:
            raise InputError.of(
                f"frame {number}", f"must be of the sensor {self.sensor.name} with its settings",
                f"{frame.pulses} pulses instead of {wanted}",
            )  # fmt: skip
        before = Packets.none(self._record.itemsize)
        if self._next is None:
            # A packet begins with the first turn: what is missing before the frame saw nothing.
            self._carried = cycles.start % self._aligned
            self._begun = np.zeros((min(self._carried, 1), self._record.itemsize), np.uint8)
        elif self._next != cycles.start:
            before = self.flush()["data"]
            self._carried = cycles.start % self._aligned
            self._begun = np.zeros((min(self._carried, 1), self._record.itemsize), np.uint8)
        total = self._carried + len(cycles)
        payloads = np.zeros((ceil(total / self._cycles), self._record.itemsize), np.uint8)
        payloads[: len(self._begun)] = self._begun
        self._place(frame, cycles.start % turns, payloads)
        first = cycles.start - self._carried
        self._next, self._carried = cycles.stop, total % self._cycles
        whole = total // self._cycles
        self._begun = payloads[whole:].copy()
        done = self._finished(payloads[:whole], first)
        return {"data": Packets.joined([before, done]) if len(before) else done}

    def flush(self) -> Sent:
        """The packet begun, if there is one; its last cycles hold no returns."""
        if not self._carried or self._next is None:
            return {"data": Packets.none(self._record.itemsize)}
        done = self._finished(self._begun, self._next - self._carried)
        self._begun, self._carried, self._next = self._begun[:0], 0, None
        return {"data": done}

    @property
    def _aligned(self) -> int:
        """A packet begins at a cycle that is a multiple of this."""
        return self._cycles if len(self._pattern.order) > 1 else 1

    def _place(self, frame: Frame, phase: int, payloads: NDArray[np.uint8]) -> None:
        firings, fields = self._pattern.firings, self._record.fields
        assert fields is not None
        block, start = fields["blocks"][0].base, fields["blocks"][1]
        skipped = sum(firings[:phase])
        units = block.fields["units"][0] if block.fields else block
        places = _Places(
            sum(firings), np.cumsum(firings), skipped, self._carried - phase, self._cycles,
            2 if self.mode == "dual" else 1, self._record.itemsize, start + 2, block.itemsize,
            units.base.itemsize,
        )  # fmt: skip
        returned = _Returned(
            frame.pulse, frame.laser, kinds_of_places(frame.return_kind), frame.return_count, frame.range,
            frame.intensity,
        )  # fmt: skip
        written = _write_returns(places, self._slots, returned, payloads.reshape(-1))
        if not written and frame.hit.any():
            kinds = ", ".join(sorted({KINDS[kind] for kind in set(frame.return_kind.tolist())}))
            raise InputError.of(f"packets of {self.mode} returns", "need frames that hold them", kinds)

    def _finished(self, payloads: NDArray[np.uint8], first: int) -> Packets:
        """Packets with all but their returns; ``first`` is the cycle that the first of them begins with."""
        packets = payloads.reshape(-1).view(self._record)
        count, model, pattern = len(packets), self.model, self._pattern
        cycle = float(pattern.cycle)
        starts: NDArray[np.int64] = np.arange(count) * self._cycles
        of_block = np.repeat(np.arange(self._cycles), model.blocks // self._cycles)
        # Exact for the first, so that a late cycle does not wander; the few that follow are close to it.
        ratio = pattern.cycles_per_revolution
        turned = float((first % ratio) / ratio) + model.block_us * 1e-6 * pattern.rotation_hz - pattern.start_deg / 360
        azimuths = turned + (starts[:, None] + of_block) / float(ratio)
        begin = (float(first * pattern.cycle) + starts * cycle).astype(np.float64)
        last = begin + (self._cycles - 1) * cycle + model.block_us * 1e-6
        micro = round(self.epoch * 1e6) + np.floor(last * 1e6 + model.stamp_us + 0.5).astype(np.int64)
        packets["head"] = np.frombuffer(model.head(self.mode), np.uint8)
        packets["blocks"]["azimuth"] = np.floor(azimuths % 1.0 * 36000 + 0.5).astype(np.int64) % 36000
        packets["mode"], packets["factory"] = MODE_BYTES[self.mode], FACTORY
        packets["speed"] = round(pattern.rotation_hz * 60)
        packets["stamp"] = micro % 1_000_000
        packets["date"] = _dates(micro // 1_000_000, model.year)
        names = self._record.names or ()
        if "sequence" in names:
            packets["sequence"] = (self._sent + 1 + np.arange(count)).astype(np.uint32)
        self._sent += count
        turns = (first + starts) % len(pattern.order)
        if "turn" in names:
            # Whether the packet's first block is of the first turn, which it always is with one return.
            packets["turn"] = turns == 0
        if "state" in names:
            packets["state"] = _STANDARD
            state = [(first + starts + of_block[block]) % len(pattern.order) for block in range(2)]
            packets["azimuth_state"] = (state[0] << 14) | (state[1] << 12)
        if model.checked:
            self._check(packets)
        return Packets(payloads, begin + self._cycles * cycle)

    def _check(self, packets: NDArray[Any]) -> None:
        """Fill in the checksums of body, functional safety and tail."""
        fields = self._record.fields
        assert fields is not None
        raw = packets.view(np.uint8).reshape(len(packets), -1)
        body, safety, crc = fields["blocks"][1], fields["safety"][1], fields["crc_body"][1]
        version, checked = self.model.safety
        packets["safety"][:, 0], packets["safety"][:, 1] = version, _NORMAL
        packets["crc_body"] = mpeg_crc32(raw[:, body:crc])
        packets["crc_safety"] = mpeg_crc32(raw[:, safety + 1 : safety + 1 + checked])
        packets["crc_tail"] = mpeg_crc32(raw[:, fields["reserved"][1] : fields["crc_tail"][1]])


def _dates(seconds: NDArray[np.int64], year: int) -> NDArray[np.uint8]:
    """Year, month, day, hour, minute, second (UTC) of Unix times, shape (n, 6)."""
    known, place = np.unique(seconds, return_inverse=True)
    rows = [datetime.fromtimestamp(int(second), UTC) for second in known]
    table = [(t.year - year, t.month, t.day, t.hour, t.minute, t.second) for t in rows]
    return np.array(table, np.uint8).reshape(-1, 6)[place]


def _slots(mode: ReturnMode) -> NDArray[np.uint8]:
    """Which block of a pulse's a kind of return goes to, for every kind in `KINDS`; 255: none."""
    slots = np.full(len(KINDS), _SKIP, np.uint8)
    if mode == "dual":
        slots[ReturnKind.STRONGEST], slots[ReturnKind.LAST] = STRONGEST, LAST
    else:
        slots[KINDS.index(mode)] = 0
    return slots


class _Returned(NamedTuple):
    """Columns of a frame, each of shape (n,)."""

    pulse: Any
    laser: Any
    kind: Any
    """of the place that the return goes to"""
    count: Any
    """returns of its pulse"""
    reach: Any
    """[m]"""
    intensity: Any


@loop_kernel
def _write_returns(places: Any, slots: Any, returned: _Returned, payloads: Any) -> int:
    """Write returns into zeroed packets, laid end to end; how many were of a kind that packets carry."""
    pulse, laser, kind, count, reach, intensity = returned
    written = 0
    per_step = np.float32(1.0 / DISTANCE_STEP_M)
    turns = len(places.ends)
    low, high, cycle = np.int64(0), np.int64(-1), np.int64(0)  # pulses of the cycle that the last return was of
    where = np.int64(0)
    for i in range(len(pulse)):
        slot = np.int64(slots[kind[i]])
        if slot == _SKIP:
            continue
        written += 1
        at = np.int64(pulse[i]) + places.skipped
        if at < low or at > high:
            whole = at // places.per_round
            rest = at - whole * places.per_round
            turn = 0
            while rest >= places.ends[turn]:
                turn += 1
            high = whole * places.per_round + places.ends[turn] - 1
            low = whole * places.per_round + (places.ends[turn - 1] if turn else 0)
            cycle = places.carried + whole * turns + turn
            packet = cycle // places.cycles
            where = (
                packet * places.packet + places.first + (cycle - packet * places.cycles) * places.returns * places.block
            )
        steps = np.int64(reach[i] * per_step + np.float32(0.5))
        if steps < 1 or steps > 65535:
            continue
        white = min(max(intensity[i] * np.float32(WHITE), np.float32(0.0)), np.float32(255.0)) + np.float32(0.5)
        both = places.returns == 2 and count[i] == 1
        begin = np.int64(0) if both else slot
        end = np.int64(2) if both else slot + 1
        for k in range(begin, end):
            byte = where + k * places.block + np.int64(laser[i]) * places.unit
            payloads[byte] = steps & 0xFF
            payloads[byte + 1] = steps >> 8
            payloads[byte + 2] = np.int64(white)
    return written
