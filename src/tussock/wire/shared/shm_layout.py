"""The fixed layout of a shared segment, version 1. `docs/shared_memory.md` has the same tables for C and MATLAB.

    header            256 bytes
    channel table     128 bytes a channel
    slots             two for every channel, each 64 bytes and its data, on 64-byte boundaries

All numbers are little-endian and lie on multiples of their own size. A channel carries arrays of one type and of
at most a given shape, in one direction; each new one goes into the slot that does not hold the newest.

The sequence lock, for the one writer of a channel:

    slot = slots[(published + 1) & 1]
    slot.sequence = odd           (being written)
    slot.… = …, data
    slot.sequence = even          (whole)
    published += 1

and for any reader, who never makes the writer wait:

    n = published; slot = slots[n & 1]
    s = slot.sequence             again if odd
    copy the data
    good if slot.sequence == s, else again

A writer that dies half way leaves an odd number in the slot that nobody reads; the next one starts from there.
Stores and loads must stay in this order. On x86 they do; in C use the acquire and release fences of the example.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

__all__ = [
    "CHANNEL",
    "CLOSED",
    "DIRECTIONS",
    "ELEMENT_TYPES",
    "HEADER",
    "LIVE",
    "LOCKSTEP",
    "MAGIC",
    "SLOT",
    "VERSION",
    "ChannelSpec",
    "Direction",
    "slot_bytes",
]

MAGIC = b"TUSSOCK\0"
VERSION = 1
BUILDING, LIVE, CLOSED = 0, 1, 2
"""values of `state`"""
LOCKSTEP = 1
"""bit of `flags`: the simulator waits for answers"""

Direction = Literal["out", "in"]
DIRECTIONS: dict[str, int] = {"out": 1, "in": 2}
"""seen from the simulator, which made the segment"""

ELEMENT_TYPES: dict[str, int] = {
    "u1": 1, "i1": 2, "u2": 3, "i2": 4, "u4": 5, "i4": 6, "u8": 7, "i8": 8, "f4": 9, "f8": 10,
}  # fmt: skip

HEADER = np.dtype(
    {
        "names": [
            "magic", "version", "flags", "bytes", "channels", "channel_bytes", "state",
            "simulator_pid", "simulator_start", "simulator_heartbeat",
            "consumer_pid", "consumer_start", "consumer_heartbeat", "step", "answer",
        ],
        "formats": ["S8", "u4", "u4", "u8", "u4", "u4", "u8", *["u8"] * 8],
        "offsets": [0, 8, 12, 16, 24, 28, 32, 40, 48, 56, 64, 72, 80, 88, 96],
        "itemsize": 256,
    }
)  # fmt: skip
"""Process numbers with their start [clock ticks since boot, /proc/PID/stat], heartbeats [ns, CLOCK_MONOTONIC];
``step`` is the simulator's last step, ``answer`` the last step that a consumer has answered."""

CHANNEL = np.dtype(
    {
        "names": ["name", "direction", "type", "dimensions", "shape", "offset", "slot_bytes", "published"],
        "formats": ["S40", "u4", "u4", "u4", ("u8", (3,)), "u8", "u8", "u8"],
        "offsets": [0, 40, 44, 48, 56, 80, 88, 96],
        "itemsize": 128,
    }
)
"""``shape`` is the largest; ``offset`` [bytes] is that of slot 0; ``published`` counts the arrays."""

SLOT = np.dtype(
    {
        "names": ["sequence", "number", "time", "shape"],
        "formats": ["u8", "u8", "f8", ("u8", (3,))],
        "offsets": [0, 8, 16, 24],
        "itemsize": 64,
    }
)
"""``number`` counts arrays from 1, ``time`` [s] is the simulation's, ``shape`` that of this array; data follow."""


class ChannelSpec(NamedTuple):
    """A channel to be made.

    >>> tussock.ChannelSpec("points", "out", "f4", (1000, 6)).name
    'points'
    """

    name: str
    direction: Direction
    dtype: str
    """element type, such as ``f4``"""
    shape: tuple[int, ...]
    """largest shape, one to three dimensions; only the first may be smaller in an array"""


def slot_bytes(spec: ChannelSpec) -> int:
    """Size of a slot: its header and the largest array, rounded up to 64 bytes."""
    data = int(np.prod(spec.shape, dtype=np.int64)) * np.dtype(spec.dtype).itemsize
    return SLOT.itemsize + (data + 63) // 64 * 64
