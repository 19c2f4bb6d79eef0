"""What packets say, in the sensor's own units: the way back from `tussock.wire.velodyne.encode`.

Nothing is computed that is not on the wire: no calibration, no interpolation, no coordinates. It is for looking into
recordings and for checking that encoding loses nothing; to make points of packets use a driver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.shown import Shown
from tussock.wire.velodyne.layout import LAST, PACKET, PACKET_BYTES, STRONGEST, Layout, layout_of
from tussock.wire.velodyne.models import MODE_BYTES, MODELS, PacketModel, ReturnMode

__all__ = ["RawPackets", "decode_packets", "recognise"]


@dataclass(frozen=True, eq=False, repr=False)
class RawPackets(Shown):
    """Packets of one sensor, taken apart.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("vlp-16")
    >>> packets = tussock.PacketEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> raw = tussock.decode_packets(packets.payloads)
    >>> raw.mode
    'strongest'
    """

    model: PacketModel
    mode: ReturnMode
    azimuth: NDArray[np.uint16]
    """[0.01°], clockwise, of every block, shape (packets, 12)"""
    stamp: NDArray[np.uint32]
    """[µs] past the hour, shape (packets,)"""
    factory: NDArray[np.uint8]
    """shape (packets, 2)"""
    distance: NDArray[np.uint16]
    """in the model's steps, 0 without return, shape (packets, cycles, lasers, returns)"""
    intensity: NDArray[np.uint8]
    """shape (packets, cycles, lasers, returns)"""

    @property
    def layout(self) -> Layout:
        return layout_of(self.model, self.mode)

    @property
    def returns(self) -> int:
        """How many distances are not 0."""
        return int(np.count_nonzero(self.distance))


def decode_packets(payloads: NDArray[np.uint8], model: str | None = None) -> RawPackets:
    """Take packets (n, 1206) apart; ``model`` is needed for the HDL-64E, which does not name itself.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("vlp-16")
    >>> packets = tussock.PacketEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> raw = tussock.decode_packets(packets.payloads)
    >>> raw.model.name, raw.returns > 0
    ('vlp-16', True)
    """
    if payloads.ndim != 2 or payloads.shape[1] != PACKET_BYTES:
        raise InputError.of("packets", f"must have the shape (n, {PACKET_BYTES})", payloads.shape)
    if not len(payloads):
        raise InputError("packets: there are none")
    packets = np.ascontiguousarray(payloads).view(PACKET)[:, 0]
    kind, mode = recognise(packets, model)
    layout = layout_of(kind, mode)
    wrong = (packets["blocks"]["flag"] != layout.flags).any(axis=1)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(f"packet {first}: its blocks are not those of a {kind.name} in mode {mode}")
    blocks, entries = np.divmod(layout.place.astype(np.int64), 100)
    returns = packets["blocks"]["returns"][:, blocks, (entries - 4) // 3]
    return RawPackets(
        model=kind,
        mode=mode,
        azimuth=packets["blocks"]["azimuth"],
        stamp=packets["stamp"],
        factory=packets["factory"],
        distance=returns["distance"],
        intensity=returns["intensity"],
    )


def recognise(packets: NDArray[Any], name: str | None) -> tuple[PacketModel, ReturnMode]:
    """Which model sent packets, and in which mode."""
    if name is not None:
        if name not in MODELS:
            raise InputError.of("model", "must be one of " + ", ".join(MODELS), name)
        model = MODELS[name]
    else:
        by_byte = {m.model_byte: m for m in MODELS.values() if m.model_byte is not None}
        byte = int(packets["factory"][0, 1])
        if byte not in by_byte or (packets["factory"] != packets["factory"][0]).any():
            raise InputError.of("packets", "must name their model", f"0x{byte:02x}", "name it if it is an HDL-64E")
        model = by_byte[byte]
    if model.model_byte is None:
        # No mode byte: in dual mode the blocks of both returns carry the same azimuth.
        azimuth = packets["blocks"]["azimuth"]
        dual = bool((azimuth[:, STRONGEST] == azimuth[:, 2 * LAST]).all())
        return model, "dual" if dual else "strongest"
    modes: dict[int, Any] = {byte: mode for mode, byte in MODE_BYTES.items()}
    byte = int(packets["factory"][0, 0])
    if byte not in modes:
        raise InputError.of("packets", "must name their return mode (0x37, 0x38, 0x39)", f"0x{byte:02x}")
    return model, modes[byte]
