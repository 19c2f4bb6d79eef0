"""What Hesai's packets say, in the sensor's own units, and their points by the angles of a sensor.

Packets are told apart by their header. What a packet says of itself is believed: blocks, channels and steps must be those
of the model; packets whose checksums do not match are counted and left out.
"""

from __future__ import annotations

from calendar import timegm
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.checksums import mpeg_crc32
from tussock.wire.hesai.models import DISTANCE_STEP_M, MODELS, HesaiModel, ReturnMode

__all__ = ["HesaiPackets", "decode_hesai", "hesai_model"]

_HIGH_RESOLUTION = 0  # operational state of a Pandar128


@dataclass(frozen=True, eq=False)
class HesaiPackets:
    """Packets of one sensor, taken apart.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("xt32")
    >>> packets = tussock.HesaiEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> tussock.decode_hesai(packets["data"].payloads).damaged
    0
    """

    model: HesaiModel
    mode: ReturnMode
    azimuth: NDArray[np.uint16]
    """[0.01°], clockwise, of every cycle, shape (packets, cycles)"""
    stamp_us: NDArray[np.int64]
    """[µs] Unix time of every packet, shape (packets,)"""
    distance: NDArray[np.uint16]
    """[4 mm], 0 without return, shape (packets, cycles, lasers, returns), of two in the order of `returns`"""
    reflectivity: NDArray[np.uint8]
    """[%], of the same shape"""
    turn: NDArray[np.int64]
    """which turn every cycle is of, where cycles take turns, shape (packets, cycles)"""
    sequence: NDArray[np.uint32] | None
    """number of every packet, where the model counts them, shape (packets,)"""
    whole: NDArray[np.bool_]
    """which of the packets given had right checksums; the others were left out"""
    returns: tuple[str, ...] = ("strongest",)
    """what a pulse's block, or its two, hold: ``last``, ``strongest``"""

    @property
    def damaged(self) -> int:
        """Packets that were left out because a checksum is wrong."""
        return int((~self.whole).sum())

    def select(self, rows: NDArray[Any]) -> HesaiPackets:
        """The chosen packets, in their order."""
        names = ("azimuth", "stamp_us", "distance", "reflectivity", "turn")
        sequence = None if self.sequence is None else self.sequence[rows]
        return replace(self, **{name: getattr(self, name)[rows] for name in names}, sequence=sequence)

    @property
    def lost(self) -> int:
        """Packets that are missing between the first and the last, by their numbers."""
        if self.sequence is None or not len(self.sequence):
            return 0
        numbers = np.unique(self.sequence.astype(np.int64))
        return int(numbers[-1] - numbers[0] + 1 - len(numbers))

    def times(self, sensor: Sensor) -> NDArray[np.float64]:
        """[s] Unix time of every firing, shape (packets, cycles, lasers)."""
        pattern = _pattern(self, sensor)
        cycles = self.azimuth.shape[1]
        # The packet's time is known by that of its last block.
        last = self.stamp_us * 1e-6 - (self.model.stamp_us + self.model.block_us) * 1e-6
        start = last[:, None] - (cycles - 1 - np.arange(cycles)) * float(pattern.cycle)
        return start[..., None] + _firing(pattern)[self.turn]

    def directions(self, sensor: Sensor) -> NDArray[np.float64]:
        """Unit vectors in the frame of ``sensor``, whose angles are used, shape (packets, cycles, lasers, 3)."""
        pattern = _pattern(self, sensor)
        elevation = np.deg2rad(pattern.elevation_deg)
        offset = np.deg2rad(pattern.azimuth_deg) if pattern.azimuth_deg else np.zeros(len(elevation))
        late = _firing(pattern) - self.model.block_us * 1e-6
        turned = -np.deg2rad(self.azimuth * 0.01)[..., None]
        azimuth = turned + offset - 2 * np.pi * pattern.rotation_hz * late[self.turn]
        level = np.cos(elevation)
        up = np.broadcast_to(np.sin(elevation), azimuth.shape)
        return np.stack([level * np.cos(azimuth), level * np.sin(azimuth), up], -1)

    def fires(self, sensor: Sensor) -> NDArray[np.bool_]:
        """Whether a laser fires in a cycle, shape (packets, cycles, lasers)."""
        pattern = _pattern(self, sensor)
        table = np.ones((len(pattern.order), pattern.lasers), bool)
        for row, turn in enumerate(pattern.order):
            table[row, list(turn.resting)] = False
        return table[self.turn]

    def xyz(self, sensor: Sensor) -> NDArray[np.float64]:
        """Points [m] in the frame of ``sensor``, all 0 without return, shape (packets, cycles, lasers, returns, 3)."""
        reach = self.distance * DISTANCE_STEP_M
        return self.directions(sensor)[..., None, :] * reach[..., None]


def _pattern(packets: HesaiPackets, sensor: Sensor) -> SpinningPattern:
    pattern = sensor.pattern
    if not isinstance(pattern, SpinningPattern) or pattern.lasers != packets.model.lasers:
        raise InputError.of(
            f"sensor {sensor.name}", f"must have the {packets.model.lasers} lasers of a {packets.model.name}",
            sensor.lasers,
        )  # fmt: skip
    return pattern


def _firing(pattern: SpinningPattern) -> NDArray[np.float64]:
    """[s] from the start of a cycle, shape (turns, lasers)."""
    return np.array([turn.firing_us or (0.0,) * pattern.lasers for turn in pattern.order]) * 1e-6


def hesai_model(payload: NDArray[np.uint8]) -> HesaiModel | None:
    """The model whose packet this is, by its first bytes and its size, as its flags say; None for any other."""
    for model in MODELS.values():
        head, known = np.frombuffer(model.head("strongest"), np.uint8), model.known_head()
        if len(payload) >= len(head) and np.array_equal(payload[known], head[known]):
            found = model.with_flags(int(payload[11]))
            return found if len(payload) >= found.packet.itemsize else None
    return None


def decode_hesai(payloads: NDArray[np.uint8]) -> HesaiPackets:
    """Take packets (n, size) of one sensor apart.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("xt32")
    >>> packets = tussock.HesaiEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> tussock.decode_hesai(packets["data"].payloads).model.name
    'pandar-xt32'
    """
    if payloads.ndim != 2 or not len(payloads):
        raise InputError.of("packets", "must have the shape (n, size), with n above 0", payloads.shape)
    model = hesai_model(payloads[0])
    if model is None:
        begins = payloads[0, :12].tobytes().hex(" ")
        raise InputError.of("packets", "must be of " + ", ".join(MODELS), f"{payloads.shape[1]} bytes: {begins} …")
    record = model.packet
    raw = np.ascontiguousarray(payloads[:, : record.itemsize])
    packets = raw.reshape(-1).view(record)
    returns = _returns(packets, model)
    mode: ReturnMode = "dual" if len(returns) == 2 else cast("ReturnMode", returns[0])
    good = _whole(raw, packets, model)
    if not good.any():
        raise InputError("packets: none has a right checksum")
    packets = packets if good.all() else packets[good]
    dual = mode == "dual"
    cycles = model.cycles(mode)
    blocks = packets["blocks"].reshape(len(packets), cycles, 2 if dual else 1)
    units = blocks["units"]
    names = record.names or ()
    return HesaiPackets(
        model=model,
        mode=mode,
        azimuth=np.ascontiguousarray(blocks["azimuth"][:, :, 0]),
        stamp_us=_stamps(packets, model),
        distance=np.moveaxis(units["distance"], 2, -1),
        reflectivity=np.moveaxis(units["reflectivity"], 2, -1),
        turn=_turns(packets, model, dual),
        sequence=np.ascontiguousarray(packets["sequence"]) if "sequence" in names else None,
        whole=good,
        returns=returns,
    )


def _returns(packets: NDArray[Any], model: HesaiModel) -> tuple[str, ...]:
    """What the blocks of a cycle hold; an `InputError` where not all packets are of one model, mode and setting."""
    byte = int(packets["mode"][0])
    if byte not in model.returns:
        known = ", ".join(f"0x{value:02x}" for value in model.returns)
        raise InputError.of("packets", f"must have a return mode of a {model.name} ({known})", f"0x{byte:02x}")
    other = np.flatnonzero(packets["mode"] != byte)
    if len(other):
        rule = f"must have the return mode of those before it, 0x{byte:02x}"
        raise InputError.of(f"packet {other[0]}", rule, f"0x{int(packets['mode'][other[0]]):02x}")
    told = packets["head"][:, model.known_head()]
    same = (told == told[0]).all(axis=1)
    if model.protocol is not None:
        flags = packets["head"][:, 11]
        same &= flags == flags[0]
        if model.has_own_order(int(flags[0])):
            rule = "must hold all channels, not chosen ones in an order of the unit's own"
            raise InputError.of("packets", rule, f"flags 0x{int(flags[0]):02x}", "record with all channels")
    if not same.all():
        raise InputError(f"packet {int(np.argmin(same))}: its header is not that of the {model.name} before it")
    if "state" in (packets.dtype.names or ()) and (packets["state"] == _HIGH_RESOLUTION).any():
        rule = "must be of the standard mode, not of high resolution"
        raise InputError.of("packets", rule, "operational state 0", "record in the standard mode")
    return model.returns[byte]


def _whole(raw: NDArray[np.uint8], packets: NDArray[Any], model: HesaiModel) -> NDArray[np.bool_]:
    """Which packets have right checksums, shape (n,); all, where there are none."""
    if not model.checked:
        return np.ones(len(packets), bool)
    fields = model.packet.fields
    assert fields is not None
    body = mpeg_crc32(raw[:, fields["blocks"][1] : fields["crc_body"][1]])
    tail = mpeg_crc32(raw[:, fields["reserved"][1] : fields["crc_tail"][1]])
    return np.asarray((body == packets["crc_body"]) & (tail == packets["crc_tail"]))


def _turns(packets: NDArray[Any], model: HesaiModel, dual: bool) -> NDArray[np.int64]:
    cycles = 1 if dual and model.blocks == 2 else model.blocks // (2 if dual else 1)
    turns = np.zeros((len(packets), cycles), np.int64)
    names = packets.dtype.names or ()
    if "azimuth_state" in names:
        for cycle in range(cycles):
            turns[:, cycle] = (packets["azimuth_state"] >> (14 - 2 * cycle)) & 3
    elif "turn" in names:
        turns[:] = 1 - (packets["turn"][:, None] & 1) if dual else np.arange(cycles)
    return turns


def _stamps(packets: NDArray[Any], model: HesaiModel) -> NDArray[np.int64]:
    """[µs] Unix time."""
    dates, place = np.unique(packets["date"], axis=0, return_inverse=True)
    try:
        seconds = np.array([timegm((int(d[0]) + model.year, *map(int, d[1:]), 0, 0, 0)) for d in dates], np.int64)
    except ValueError:
        raise InputError.of("packets", "must have a date and a time", dates[0].tolist()) from None
    return seconds[place.ravel()] * 1_000_000 + packets["stamp"].astype(np.int64)
