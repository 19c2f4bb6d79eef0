"""Sixteen rays at a time: the packet that Embree traces, and the one call that traces it.

`RTCRayHit16` is 21 rows of 16 lanes of 4 bytes, aligned to 64 bytes. Kernels fill the rows named here, call
`intersect` and read the hit back from the same packet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from tussock.kernels import inline_kernel, kernel
from tussock.trace.embree import library

__all__ = ["LANES", "intersect", "lane_masks", "new_packet", "occluded"]

LANES = 16
ORG_X, ORG_Y, ORG_Z, TNEAR, DIR_X, DIR_Y, DIR_Z, TIME, TFAR, MASK, ID, FLAGS = range(12)
NG_X, NG_Y, NG_Z, HIT_U, HIT_V, PRIM, GEOM, INST, INST_PRIM = range(12, 21)
ROWS = 21
NOTHING = np.uint32(0xFFFFFFFF)

library()  # the symbol below must be known before a cached kernel is loaded
_intersect16: Any = types.ExternalFunction(
    "rtcIntersect16", types.void(types.uintp, types.uintp, types.uintp, types.uintp)
)
_occluded16: Any = types.ExternalFunction(
    "rtcOccluded16", types.void(types.uintp, types.uintp, types.uintp, types.uintp)
)


@kernel
def _aligned(words: Any) -> Any:
    """Uninitialised uint32 words on a 64-byte boundary."""
    raw = np.empty(words + 16, np.uint32)
    skip = (64 - raw.ctypes.data % 64) % 64 // 4
    return raw[skip : skip + words]


@kernel
def new_packet() -> Any:
    """A packet, shape (21, 16), as float32 and as uint32: two views of the same memory."""
    words = _aligned(ROWS * LANES)
    bits = words.reshape(ROWS, LANES)
    return words.view(np.float32).reshape(ROWS, LANES), bits


@kernel
def lane_masks() -> Any:
    """One mask word a lane: all bits for a lane in use, 0 for an idle one."""
    masks = _aligned(LANES)
    masks[:] = NOTHING
    return masks


@inline_kernel
def intersect(scene: Any, packet: Any, masks: Any) -> None:
    """Find the nearest hit of every lane in use; TFAR and the hit rows of lanes that hit are overwritten."""
    _intersect16(masks.ctypes.data, scene, packet.ctypes.data, np.uint64(0))


@inline_kernel
def occluded(scene: Any, packet: Any, masks: Any) -> None:
    """Find out which lanes in use meet anything before TFAR; theirs becomes −∞, and the hit rows stay as they are."""
    # RTCRayHit16 begins with the RTCRay16 that this call reads.
    _occluded16(masks.ctypes.data, scene, packet.ctypes.data, np.uint64(0))
