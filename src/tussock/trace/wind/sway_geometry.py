"""Copies that sway, for Embree: primitives of ours whose boxes hold a plant wherever the wind may take it.

No hierarchy is built for a frame, only a table of where the tips are at steps of 20 ms. Where a ray enters such a box, Embree calls back, and the ray goes on into the shape's own
hierarchy, which all copies share, in the coordinates in which the plant stands upright. There a straight ray is a curve;
it is followed in straight pieces between points on it, one where it runs through less than a quarter of the plant's
height, as the rays of a LIDAR mostly do, two or three where it comes from above. A piece that spans the share s of the height
from z on leaves the curve by ½ s²(1 − z)² of the tip's displacement at most, as ψ'' = 4(1 − z)²; pieces are as many as keep
s(1 − z) to about a quarter, three at most. That settles which triangle is met; where is then
computed with the triangle bent at the ray's own time (`tussock.trace.packets.resolve`).

What a callback is handed (rtcSetGeometryIntersectFunction, Embree 4 API):

    arguments  0 valid   8 our numbers   16 primitive   24 context   32 rays   40 how many   44 geometry
    context    0 instance, its primitive   8 `Swaying.moment`   16 room for 16 masks   80 room for 16 rays
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import (
    Array,
    Real,
    Whole,
    callback_address,
    fetch,
    float32_view,
    float64_view,
    from_library,
    inline_kernel,
    int32_view,
    uint32_at,
    uint32_view,
    uint64_at,
)  # fmt: skip
from tussock.trace.embree import Device, Geometry, GeometryType, RawScene, library
from tussock.trace.ray import Ray
from tussock.trace.wind.straightened import (
    MARGIN,
    Plant,
    Upright,
    curve,
    least,
    most,
    on_parabola,
    pieces_of,
    share_of,
    straightened,
    upright,
)
from tussock.trace.wind.sway import BASE, HEIGHT, Tip

__all__ = ["Copies", "box_numbers", "swaying_geometry"]

_SCENE, _BACK, _BOX, _BOUNDS, _FIRST, _ROW, _WORDS = range(7)
"""our numbers: addresses, the copy that primitive 0 is, and the row of copy 0 in `Swaying.tips`"""
_LANES = 16
_ORG_X, _ORG_Y, _ORG_Z, _NEAR, _DIR_X, _DIR_Y, _DIR_Z, _TIME, _FAR = range(0, 9 * _LANES, _LANES)
(
    _X, _Y, _Z, _DX, _DY, _DZ, _TIP_X, _TIP_Y, _TALL, _BEGIN, _END, _RISE, _FROM, _TO, _OWN_NEAR, _OWN_FAR, _ROOM,
) = range(12 * _LANES, 29 * _LANES, _LANES)  # fmt: skip  # rows of our own, after Embree's
_USED, _PER_TALL, _SHARE = 9 * _LANES, 10 * _LANES, 11 * _LANES
"""in Embree's part, which it does not read of rays that are sent on: the lanes in use, one over what is left of the height, and
what a piece is of the part of a ray that may meet the plant"""
_MASKS, _ROOM_AT = 16, 80  # bytes into the context
_ALL = np.uint32(0xFFFFFFFF)
_ONE = np.float32(1.0)
_MOST_OF_IT = np.float32(0.9)
"""of a ray: where less of it is done, pieces are left"""
_FEW = 4
"""lanes in use that are cheaper one by one than all at once"""

_forward: Any = from_library(library(), "rtcForwardIntersect16Ex", 6)
_forward_shadow: Any = from_library(library(), "rtcForwardOccluded16Ex", 6)


class Copies(NamedTuple):
    """Copies of a shape that sway; the arrays are read by Embree's callbacks for as long as the geometry lives."""

    shape: NDArray[np.float64]
    """row of `Swaying.shapes`"""
    plants: NDArray[np.float32]
    """`Swaying.plants` of the copies, shape (n, 15)"""
    waves: NDArray[np.float64]
    back: NDArray[np.float32]
    """world to shape: the rows of A⁻¹, then b, shape (n, 12)"""
    box: NDArray[np.float32]
    """lowest and highest corner of the shape standing, shape (6,)"""
    bounds: NDArray[np.float32]
    """where each copy may be: lowest corner and a word, highest corner and a word, shape (n, 8)"""


def swaying_geometry(
    device: Device, shape: RawScene, copies: Copies, row: int, first: int = 0, count: int | None = None
) -> Geometry:
    """Copies of ``shape`` that sway: all of them, or ``count`` from number ``first`` on.

    ``row`` is that of copy 0 in `Swaying.tips`.
    """
    numbers = np.zeros(_WORDS, np.uint64)
    assert shape.handle is not None
    numbers[_SCENE] = shape.handle
    box = box_numbers(copies)
    for at, array in ((_BACK, copies.back), (_BOX, box), (_BOUNDS, copies.bounds)):
        numbers[at] = array.ctypes.data
    numbers[_FIRST], numbers[_ROW] = first, row
    addresses = [callback_address(function) for function in (_say_bounds, _intersect_copy, _occlude_copy)]
    geometry = device.geometry(GeometryType.USER)
    return geometry.primitives(len(copies.plants) if count is None else count, numbers, addresses, (shape, copies, box))


def _say_bounds(arguments: Any) -> None:
    """RTCBoundsFunctionArguments: our numbers, primitive, time step, and where the bounds go."""
    numbers, copy = uint64_at(arguments, 0), np.int64(uint32_at(arguments, 2))
    copy += np.int64(uint64_at(numbers, _FIRST))
    known, said = (
        float32_view(uint64_at(numbers, _BOUNDS) + np.uint64(32 * copy), 8),
        float32_view(uint64_at(arguments, 2), 8),
    )
    for i in range(8):
        said[i] = known[i]


def _intersect_copy(arguments: Any) -> None:
    _meet_copy(arguments, False)


def _occlude_copy(arguments: Any) -> None:
    _meet_copy(arguments, True)


def box_numbers(copies: Copies) -> NDArray[np.float32]:
    """What `Plant` holds of a shape: low, high, base and per_height, shape (8,)."""
    low, high, base, height = copies.box[:3], copies.box[3:], copies.shape[BASE], copies.shape[HEIGHT]
    low = np.append(low[:2], min(low[2], base)) - MARGIN
    return np.concatenate([low, high[:2] + MARGIN, [high[2] - base, base, 1.0 / height]]).astype(np.float32)


@inline_kernel
def _plant_of(numbers: Whole, back: Whole) -> Plant:
    m = float32_view(back, 12)
    box = float32_view(uint64_at(numbers, _BOX), 8)
    return Plant(
        (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11]),
        (box[0], box[1], box[2]), (box[3], box[4], box[5]), box[6], box[7],
    )  # fmt: skip


@inline_kernel
def _meet_copy(arguments: Whole, shadow: bool) -> None:
    """Send the rays that Embree calls with on into the shape, straightened."""
    numbers, context = uint64_at(arguments, 1), uint64_at(arguments, 3)
    copy = np.int64(uint32_at(arguments, 4)) + np.int64(uint64_at(numbers, _FIRST))
    moment = uint64_at(context, 1)
    steps = int(float64_view(moment, 3)[2]) + 1
    row = np.int64(uint64_at(numbers, _ROW)) + copy
    own, back = uint64_at(moment, 3) + np.uint64(12 * steps * row), uint64_at(numbers, _BACK) + np.uint64(48 * copy)
    fetch(own)  # two million plants are in no cache; meanwhile the lanes are looked at
    fetch(back)
    fetch(back + np.uint64(47))
    tips, plant = float32_view(own, 3 * steps), _plant_of(numbers, back)
    valid, given = uint32_view(uint64_at(arguments, 0), _LANES), float32_view(uint64_at(arguments, 4), _FAR + _LANES)
    masks, room = uint32_view(context + np.uint64(_MASKS), _LANES), float32_view(context + np.uint64(_ROOM_AT), _ROOM)
    used = int32_view(context + np.uint64(_ROOM_AT + 4 * _USED), _LANES)
    count = _used_lanes(valid, used, masks)
    few, pieces = count <= _FEW, 0
    if few:
        for i in range(count):
            _take_tip(tips, steps, given, room, used[i])
            _take_upright(plant, given, room, used[i])
            pieces = max(pieces, _count_pieces(valid, room, masks, used[i]))
    else:
        _take_tips(tips, steps, valid, given, room, given[_TIME + used[0]])
        for l in range(_LANES):
            _take_upright(plant, given, room, l)
        for l in range(_LANES):
            pieces = max(pieces, _count_pieces(valid, room, masks, l))
    if pieces == 0:
        return
    scene, instance, number = uint64_at(numbers, _SCENE), np.uint64(uint32_at(arguments, 11)), np.uint64(copy)
    for piece in range(pieces):
        if few:
            for i in range(count):
                _straighten(plant, room, piece, used[i])
        else:
            for l in range(_LANES):
                _straighten(plant, room, piece, l)
        if pieces > 1:
            _take_piece(given, room, masks)
        if shadow:
            _forward_shadow(masks.ctypes.data, arguments, scene, room.ctypes.data, instance, number)
        else:
            _forward(masks.ctypes.data, arguments, scene, room.ctypes.data, instance, number)
        if pieces > 1 and not _give_back(given, room, masks, piece):
            return


@inline_kernel
def _used_lanes(valid: Array, used: Array, masks: Array) -> int:
    """Write down which lanes are in use; how many. Mostly it is one or two: rays part on their way to a plant."""
    count = 0
    for l in range(_LANES):
        used[count] = l
        count += valid[l] != 0
        masks[l] = 0
    return count


@inline_kernel
def _count_pieces(valid: Array, room: Array, masks: Array, l: int) -> int:
    """In how many pieces a ray goes on, whatever others need; 0 where it misses the plant. Without branches."""
    inside, rise = (valid[l] != 0) & (room[_BEGIN + l] <= room[_END + l]), room[_RISE + l]
    own = pieces_of(rise)
    masks[l] = _ALL if inside else np.uint32(0)
    room[_SHARE + l] = share_of(own)
    return own if inside else 0


@inline_kernel
def _take_piece(given: Array, room: Array, masks: Array) -> None:
    """Let the rays that go in pieces be as long as one."""
    for l in range(_LANES):
        if masks[l] != 0 and room[_SHARE + l] < _ONE:
            room[_OWN_NEAR + l], room[_OWN_FAR + l] = given[_NEAR + l], given[_FAR + l]
            given[_NEAR + l], given[_FAR + l] = room[_FROM + l], room[_TO + l]


@inline_kernel
def _give_back(given: Array, room: Array, masks: Array, piece: int) -> int:
    """Let the rays be as long as they were, but for those that have met something; how many go on after a ``piece``."""
    left, done = 0, np.float32(piece + 1)
    for l in range(_LANES):
        goes_on = False
        if masks[l] != 0 and room[_SHARE + l] < _ONE:
            given[_NEAR + l] = room[_OWN_NEAR + l]
            if given[_FAR + l] == room[_TO + l]:
                given[_FAR + l] = room[_OWN_FAR + l]
                goes_on = done * room[_SHARE + l] < _MOST_OF_IT
        masks[l] = _ALL if goes_on else np.uint32(0)
        left += goes_on
    return left


@inline_kernel
def _take_tips(tips: Array, steps: int, valid: Array, given: Array, room: Array, time: Real) -> None:
    """Where the plant's tip is at the moment of each ray: on a parabola through three of its ``tips`` (3 × steps,).

    ``time`` is that of one ray in use, and mostly of all: they are of one pulse. To see that needs no loop lane by lane.
    """
    low, high, others = time, time, 0
    for l in range(_LANES):
        others += (valid[l] != 0) & (given[_TIME + l] != time)
    if others > 0:
        for l in range(_LANES):
            used = valid[l] != 0
            low = least(low, given[_TIME + l]) if used else low
            high = most(high, given[_TIME + l]) if used else high
    scale = np.float32(steps - 1)
    if (high - low) * scale <= _ONE:  # one parabola for all: neighbours are fired at nearly the same time
        node = min(int(low * scale), steps - 3)
        t = 3 * node
        x, y, tall = tips[t], tips[t + 1], tips[t + 2]
        x2, y2, tall2 = (
            curve(x, tips[t + 3], tips[t + 6]),
            curve(y, tips[t + 4], tips[t + 7]),
            curve(tall, tips[t + 5], tips[t + 8]),
        )
        x1, y1, tall1 = tips[t + 3] - x - x2, tips[t + 4] - y - y2, tips[t + 5] - tall - tall2
        begin = np.float32(node)
        for l in range(_LANES):
            at = given[_TIME + l] * scale - begin
            room[_TIP_X + l] = x + at * (x1 + at * x2)
            room[_TIP_Y + l] = y + at * (y1 + at * y2)
            room[_TALL + l] = tall + at * (tall1 + at * tall2)
        return
    for l in range(_LANES):
        if valid[l] != 0:
            _take_tip(tips, steps, given, room, l)


@inline_kernel
def _take_tip(tips: Array, steps: int, given: Array, room: Array, l: int) -> None:
    """As `_take_tips`, for one ray."""
    place = given[_TIME + l] * np.float32(steps - 1)
    node = min(int(place), steps - 3)
    at = place - np.float32(node)
    for k in range(3):
        t = 3 * node + k
        room[_TIP_X + k * _LANES + l] = on_parabola(tips[t], tips[t + 3], tips[t + 6], at)


@inline_kernel
def _take_upright(plant: Plant, given: Array, room: Array, l: int) -> None:
    """A ray in the coordinates of the shape, the part of it that may meet the plant, and s(1 − z) there.

    Without branches, so that a loop over all lanes does them at once.
    """
    ray = Ray(
        given[_ORG_X + l], given[_ORG_Y + l], given[_ORG_Z + l], given[_DIR_X + l], given[_DIR_Y + l], given[_DIR_Z + l],
        given[_NEAR + l], given[_FAR + l], given[_TIME + l],
    )  # fmt: skip
    made = upright(plant, ray, Tip(room[_TIP_X + l], room[_TIP_Y + l], room[_TALL + l]))
    room[_X + l], room[_Y + l], room[_Z + l] = made.x, made.y, made.z
    room[_DX + l], room[_DY + l], room[_DZ + l] = made.dx, made.dy, made.dz
    room[_BEGIN + l], room[_END + l] = made.begin, made.end
    room[_RISE + l], room[_PER_TALL + l] = made.rise, made.per_tall


@inline_kernel
def _straighten(plant: Plant, room: Array, piece: int, l: int) -> None:
    """A straight ray through where a piece of a ray begins and ends in the plant upright; without branches."""
    ray = Upright(
        room[_X + l], room[_Y + l], room[_Z + l], room[_DX + l], room[_DY + l], room[_DZ + l], room[_BEGIN + l],
        room[_END + l], room[_RISE + l], room[_PER_TALL + l],
    )  # fmt: skip
    made = straightened(plant, ray, room[_TIP_X + l], room[_TIP_Y + l], room[_SHARE + l], piece)
    room[_ORG_X + l], room[_ORG_Y + l], room[_ORG_Z + l] = made.x, made.y, made.z
    room[_DIR_X + l], room[_DIR_Y + l], room[_DIR_Z + l] = made.dx, made.dy, made.dz
    room[_FROM + l], room[_TO + l] = made.begin, made.end
