"""The packets of Hesai's spinning LIDARs, as data: everything in which one model differs from another.

A packet is a header, blocks of {azimuth, one {distance, reflectivity} a channel}, and a tail with mode, speed, date and
time. The header's flags say whether a number and inertial readings follow, and whether functional safety stands between;
a unit's settings switch them. A block holds one firing cycle of all channels (of which some may rest); with two returns two blocks share an
azimuth, the last return first. All numbers are little-endian, distances in steps of 4 mm, azimuths in 0.01° clockwise.

A block's time is that which the manuals count its firings from; the packet's is known by that of its last block. The
azimuth of a block is that of the rotor at the block's time, so a channel looks at

    azimuth of the block + azimuth offset of the channel + rotation from the block's time to the channel's firing

which Hesai's drivers call the correction of firing times; those that leave it out are up to 0.2° off at 10 Hz.

Fields of the header are not the same in every manual: the XT32's says of "return number" once that it is that of the mode
and once that it is always 2, and "first block return" is reserved in some. So nothing is concluded from these: which
returns a packet holds, its tail says.

Sources: user manuals of the PandarXT-32 (sections 3.1.2 and appendix II), Pandar64 (the same), QT128C2X (3.1, appendix B)
and Pandar128E3X (the same); layouts and firing times as in the decoders of tier4/nebula; checksums: CRC-32/MPEG-2. Not
confirmed by a recording. Motor speed is in rpm: the tables of the tail in the manuals of the XT32, Pandar64 and Pandar128
say so, and Hesai's SDK takes it so for the QT128.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor

__all__ = ["HESAI_PORT", "MODELS", "MODE_BYTES", "HesaiModel", "ReturnMode", "mode_of", "model_of"]

ReturnMode = Literal["strongest", "last", "first", "dual"]
HESAI_PORT = 2368
DISTANCE_STEP_M = 0.004
WHITE = 100.0
"""reflectivity, in per cent, of a white wall met head-on"""
MODE_BYTES: dict[ReturnMode, int] = {"first": 0x33, "strongest": 0x37, "last": 0x38, "dual": 0x39}
FACTORY = 0x42
_SEQUENCE, _INERTIAL, _SAFETY = 1, 2, 4  # bits of the header's flags; 8 is a signature behind all else
_CONFIDENCE = 16  # reserved in the QT128's manual; Hesai's SDK takes channels for three bytes without it
_CHOSEN = 64  # of a QT128: channels stand in an order of the unit's own

_RECEIVER_MODES: dict[str, ReturnMode] = {
    "strongest": "strongest", "last": "last", "first": "first", "strongest+last": "dual",
}  # fmt: skip

_DATE = ("date", "u1", (6,))
_CHECKED = [("crc_body", "<u4"), ("safety", "u1", (13,)), ("crc_safety", "<u4")]
_READING = ("imu", "u1", (22,))


class HesaiModel(NamedTuple):
    """What is particular to one model."""

    name: str
    lasers: int
    blocks: int
    confidence: bool
    """whether a channel has a fourth byte"""
    protocol: tuple[int, int] | None
    """version of the packets; None: the Pandar64's short header has none"""
    tail: tuple[tuple[object, ...], ...]
    """the fields behind the blocks, as NumPy wants them"""
    block_us: float
    """from the start of a firing cycle to the time of its block"""
    stamp_us: float
    """from the time of the last block to that of the packet"""
    year: int
    """that the date counts years from"""
    flags: int
    modes: tuple[ReturnMode, ...]
    """that are written"""
    returns: dict[int, tuple[str, ...]]
    """by the tail's byte of the mode: what the block, or the two blocks, of a cycle hold"""
    safety: tuple[int, int] = (0, 0)
    """version of functional safety, and how many of its bytes, from the second on, its checksum is of"""

    @property
    def packet(self) -> np.dtype:
        """One packet as a NumPy record."""
        unit: list[tuple[object, ...]] = [("distance", "<u2"), ("reflectivity", "u1")]
        if self.confidence:
            unit.append(("confidence", "u1"))
        block = [("azimuth", "<u2"), ("units", unit, (self.lasers,))]
        head = [("head", "u1", (8 if self.protocol is None else 12,)), ("blocks", block, (self.blocks,))]
        return np.dtype([*head, *self.tail])

    def with_flags(self, flags: int) -> HesaiModel:
        """The model with the parts behind its blocks that a header's flags tell of, as its unit was set up."""
        if self.protocol is None:
            return self
        # Where channels have three bytes, the flag of confidence gives them a fourth.
        model = self._replace(confidence=True) if flags & _CONFIDENCE and not self.confidence else self
        if (flags ^ self.flags) & (_SEQUENCE | _INERTIAL | _SAFETY) == 0:
            return model
        tail = [
            field
            for field in self.tail
            if (flags & _SEQUENCE or field[0] != "sequence") and (flags & _SAFETY or "safety" not in str(field[0]))
        ]
        if flags & _INERTIAL:
            tail.insert(len(tail) - (1 if self.checked else 0), _READING)
        return model._replace(tail=tuple(tail), flags=flags)

    def known_head(self) -> NDArray[np.intp]:
        """Which of the first bytes tell the model: not what is reserved in one manual or the other, and not the flags."""
        return np.array([0, 1, 2, 3, 5] if self.protocol is None else [0, 1, 2, 3, 6, 7, 9])

    def has_own_order(self, flags: int) -> bool:
        """Whether channels stand in an order that only the unit's own list tells."""
        return self.name == "qt128" and bool(flags & _CHOSEN)

    @property
    def checked(self) -> bool:
        """Whether packets carry checksums."""
        return any(field[0] == "crc_body" for field in self.tail)

    def cycles(self, mode: ReturnMode) -> int:
        """Firing cycles in a packet."""
        return self.blocks // 2 if mode == "dual" else self.blocks

    def head(self, mode: ReturnMode) -> bytes:
        """The first bytes of every packet."""
        returns = 2 if mode == "dual" else 1
        if self.protocol is None:
            return bytes([0xEE, 0xFF, self.lasers, self.blocks, 0, 4, 0, 0])
        first = 1 if mode == "dual" else 0
        return bytes([0xEE, 0xFF, *self.protocol, 0, 0, self.lasers, self.blocks, first, 4, returns, self.flags])


_ALL: tuple[ReturnMode, ...] = ("strongest", "last", "first", "dual")
_RETURNS: dict[int, tuple[str, ...]] = {
    0x33: ("first",), 0x37: ("strongest",), 0x38: ("last",), 0x39: ("last", "strongest"), 0x3B: ("last", "first"),
    0x3C: ("first", "strongest"),
}  # fmt: skip
"""of a cycle's blocks, as the manuals of the XT32 and Pandar128 have them"""
_RETURNS_QT128 = _RETURNS | {0x3B: ("first", "last"), 0x3E: ("strongest", "second")}

MODELS: dict[str, HesaiModel] = {
    model.name: model
    for model in (
        HesaiModel(
            "pandar-xt32", 32, 8, True, (6, 1),
            (("reserved", "u1", (9,)), ("hot", "u1"), ("mode", "u1"), ("speed", "<u2"), _DATE, ("stamp", "<u4"),
             ("factory", "u1"), ("sequence", "<u4")),
            0.0, -5.632, 1900, _SEQUENCE, ("strongest", "last", "dual"), _RETURNS,
        ),
        HesaiModel(
            "pandar-64", 64, 6, False, None,
            (("reserved", "u1", (5,)), ("hot", "u1"), ("reserved_2", "u1", (2,)), ("speed", "<u2"), ("stamp", "<u4"),
             ("mode", "u1"), ("factory", "u1"), _DATE),
            500 / 9, 42.58, 2000, 0, ("strongest", "last", "dual"), _RETURNS,
        ),
        HesaiModel(
            "qt128", 128, 2, True, (3, 2),
            (*_CHECKED, ("reserved", "u1", (5,)), ("turn", "u1"), ("reserved_2", "u1", (6,)), ("mode", "u1"),
             ("speed", "<u2"), _DATE, ("stamp", "<u4"), ("factory", "u1"), ("sequence", "<u4"), ("crc_tail", "<u4")),
            0.0, -9.0, 1900, _SEQUENCE | _SAFETY | _CONFIDENCE, _ALL, _RETURNS_QT128, (1, 12),
        ),
        HesaiModel(
            "pandar-128", 128, 2, False, (1, 4),
            (*_CHECKED, ("reserved", "u1", (9,)), ("azimuth_state", "<u2"), ("state", "u1"), ("mode", "u1"),
             ("speed", "<u2"), _DATE, ("stamp", "<u4"), ("factory", "u1"), ("sequence", "<u4"), ("crc_tail", "<u4")),
            0.0, -3.148, 1900, _SEQUENCE | _SAFETY, _ALL, _RETURNS, (0, 4),
        ),
    )
}  # fmt: skip
"""Every model by the name that ``packets`` of a sensor's file gives."""


def model_of(sensor: Sensor) -> HesaiModel:
    """The packets that a sensor sends; an `InputError` where none are known for it."""
    if sensor.packets not in MODELS:
        raise InputError(f"sensor {sensor.name}: packets {sensor.packets!r}: {nearest(str(sensor.packets), MODELS)}")
    model, pattern = MODELS[sensor.packets], sensor.pattern
    if not isinstance(pattern, SpinningPattern) or sensor.lasers != model.lasers or not pattern.clockwise:
        raise InputError.of(
            f"sensor {sensor.name}: packets {model.name}",
            f"need a spinning pattern of {model.lasers} lasers that turns clockwise",
            f"{pattern.kind} of {sensor.lasers}",
        )
    if len(pattern.order) not in (1, model.blocks):
        raise InputError.of(
            f"sensor {sensor.name}: packets {model.name}", f"need cycles that take 1 turn or {model.blocks}",
            len(pattern.order),
        )  # fmt: skip
    return model


def mode_of(sensor: Sensor) -> ReturnMode:
    """The return mode of a sensor's packets, from that of its receiver."""
    model, mode = model_of(sensor), _RECEIVER_MODES.get(str(sensor.receiver.mode))
    if mode is None or mode not in model.modes:
        allowed = ", ".join(name for name, known in _RECEIVER_MODES.items() if known in model.modes)
        raise InputError.of(
            "receiver.mode", f"packets of a {model.name} carry {allowed}", str(sensor.receiver.mode),
            "set receiver.mode to one of them",
        )  # fmt: skip
    return mode
