"""Where each return lies in a packet: the tables that encoding and decoding share.

All numbers on the wire are little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tussock.wire.velodyne.models import PacketModel, ReturnMode

__all__ = ["BLOCKS", "LAST", "PACKET", "PACKET_BYTES", "STRONGEST", "Layout", "layout_of"]

BLOCKS = 12
BLOCK = np.dtype([("flag", "<u2"), ("azimuth", "<u2"), ("returns", [("distance", "<u2"), ("intensity", "u1")], (32,))])
PACKET = np.dtype([("blocks", BLOCK, (BLOCKS,)), ("stamp", "<u4"), ("factory", "u1", (2,))])
"""One packet as a NumPy record: distances in the model's steps, azimuths in 0.01°, the stamp in microseconds."""
PACKET_BYTES = PACKET.itemsize
assert PACKET_BYTES == 1206

FLAGS = (0xEEFF, 0xDDFF, 0xCCFF, 0xBBFF)
"""bytes FF EE, FF DD, FF CC, FF BB: lasers 0-31, 32-63, 64-95, 96-127"""

STRONGEST, LAST = 0, 1
"""places of a pulse's returns in packets of two"""


@dataclass(frozen=True, eq=False)
class Layout:
    """The packets of one model in one return mode."""

    cycles: int
    """firing cycles in a packet"""
    flags: NDArray[np.uint16]
    """flag of every block, 0 for an empty one, shape (12,)"""
    block_cycle: NDArray[np.int64]
    """first cycle of every block, counted within the packet, −1 for an empty block, shape (12,)"""
    place: NDArray[np.int16]
    """[bytes] where a return begins in the packet, shape (cycles, lasers, returns)"""

    @property
    def returns(self) -> int:
        """How many returns of a pulse the packet holds."""
        return self.place.shape[2]


@cache
def layout_of(model: PacketModel, mode: ReturnMode) -> Layout:
    """The tables for a model in a mode."""
    dual = mode == "dual"
    cycles = model.dual_cycles if dual else model.cycles
    banks = max(1, model.lasers // 32)
    together = max(1, 32 // model.lasers)  # cycles that share a block
    if not dual:
        order = [(bank, 0) for bank in range(banks)]
    elif model.dual_order == "last, strongest":
        order = [(bank, slot) for bank in range(banks) for slot in (LAST, STRONGEST)]
    else:
        order = [(bank, slot) for slot in (STRONGEST, LAST) for bank in range(banks)]

    flags = np.zeros(BLOCKS, np.uint16)
    block_cycle = np.full(BLOCKS, -1)
    place = np.full((cycles, model.lasers, 2 if dual else 1), -1, np.int16)
    block = 0
    for cycle in range(0, cycles, together):
        for bank, slot in order:
            flags[block], block_cycle[block] = FLAGS[bank], cycle
            for entry in range(32):
                laser = 32 * bank + entry % model.lasers
                place[cycle + entry // model.lasers, laser, slot] = block * BLOCK.itemsize + 4 + 3 * entry
            block += 1
    assert block <= BLOCKS and (place >= 0).all()
    return Layout(cycles, flags, block_cycle, place)
