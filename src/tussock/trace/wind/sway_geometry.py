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
from tussock.trace.wind.sway import BASE, HEIGHT

__all__ = ["Copies", "swaying_geometry"]

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
_NONE, _HALF, _ONE, _FOUR, _SIX, _THIRD = (np.float32(value) for value in (0.0, 0.5, 1.0, 4.0, 6.0, 1.0 / 3.0))
_TINY = np.float32(1e-12)
_STEEP = np.float32(0.27)
_PIECES = 3
_MOST_OF_IT = np.float32(0.9)
"""of a ray: where less of it is done, pieces are left"""
_FEW = 4
"""lanes in use that are cheaper one by one than all at once"""
_SHORT = np.float32(1e-3)
"""[m] pieces of a ray are not shorter: single precision would lose their direction"""
_MARGIN = np.float32(1e-4)
"""[m] of boxes, for rounding"""

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
    box = _box_numbers(copies)
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


class _Plant(NamedTuple):
    """The copy that a callback is about, in numbers that no array that is written to could overlap."""

    back: tuple[Real, ...]
    """`Copies.back` of the copy"""
    low: tuple[Real, Real, Real]
    """lowest corner of the shape standing, and its highest, a little wider; that above the root"""
    high: tuple[Real, Real, Real]
    base: Real
    """[m] height of the root"""
    per_height: Real
    """[1/m] of the height above it"""


def _box_numbers(copies: Copies) -> NDArray[np.float32]:
    """What `_Plant` holds of a shape: low, high, base and per_height, shape (8,)."""
    low, high, base, height = copies.box[:3], copies.box[3:], copies.shape[BASE], copies.shape[HEIGHT]
    low = np.append(low[:2], min(low[2], base)) - _MARGIN
    return np.concatenate([low, high[:2] + _MARGIN, [high[2] - base, base, 1.0 / height]]).astype(np.float32)


@inline_kernel
def _plant_of(numbers: Whole, back: Whole) -> _Plant:
    m = float32_view(back, 12)
    box = float32_view(uint64_at(numbers, _BOX), 8)
    return _Plant(
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
    own = 1 if rise <= _STEEP else (2 if rise <= _STEEP + _STEEP else _PIECES)
    masks[l] = _ALL if inside else np.uint32(0)
    room[_SHARE + l] = _ONE if own == 1 else (_HALF if own == 2 else _THIRD)
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
            low = _least(low, given[_TIME + l]) if used else low
            high = _most(high, given[_TIME + l]) if used else high
    scale = np.float32(steps - 1)
    if (high - low) * scale <= _ONE:  # one parabola for all: neighbours are fired at nearly the same time
        node = min(int(low * scale), steps - 3)
        t = 3 * node
        x, y, tall = tips[t], tips[t + 1], tips[t + 2]
        x2, y2, tall2 = (
            _curve(x, tips[t + 3], tips[t + 6]),
            _curve(y, tips[t + 4], tips[t + 7]),
            _curve(tall, tips[t + 5], tips[t + 8]),
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
        second = _curve(tips[t], tips[t + 3], tips[t + 6])
        room[_TIP_X + k * _LANES + l] = tips[t] + at * (tips[t + 3] - tips[t] - second + at * second)


@inline_kernel
def _curve(a: Real, b: Real, c: Real) -> Real:
    """Half the second difference of three numbers."""
    return _HALF * (a - b - b + c)


@inline_kernel
def _take_upright(plant: _Plant, given: Array, room: Array, l: int) -> None:
    """A ray in the coordinates of the shape, the part of it that may meet the plant, and s(1 − z) there.

    Written without branches and in single precision, so that a loop over all lanes does them at once.
    """
    m, low, high, base = plant.back, plant.low, plant.high, plant.base
    gx, gy, gz = given[_ORG_X + l] - m[9], given[_ORG_Y + l] - m[10], given[_ORG_Z + l] - m[11]
    hx, hy, hz = given[_DIR_X + l], given[_DIR_Y + l], given[_DIR_Z + l]
    x, dx = m[0] * gx + m[1] * gy + m[2] * gz, m[0] * hx + m[1] * hy + m[2] * hz
    y, dy = m[3] * gx + m[4] * gy + m[5] * gz, m[3] * hx + m[4] * hy + m[5] * hz
    z, dz = m[6] * gx + m[7] * gy + m[8] * gz, m[6] * hx + m[7] * hy + m[8] * hz
    tip_x, tip_y, tall = room[_TIP_X + l], room[_TIP_Y + l], room[_TALL + l]
    per_x, per_y, per_z = _ONE / _not_zero(dx), _ONE / _not_zero(dy), _ONE / _not_zero(dz)
    x0 = (low[0] + _least(tip_x, _NONE) - x) * per_x
    x1 = (high[0] + _most(tip_x, _NONE) - x) * per_x
    y0 = (low[1] + _least(tip_y, _NONE) - y) * per_y
    y1 = (high[1] + _most(tip_y, _NONE) - y) * per_y
    z0, z1 = (low[2] - z) * per_z, (base + high[2] * tall + _MARGIN - z) * per_z
    near = _most(given[_NEAR + l], _most(_most(_least(x0, x1), _least(y0, y1)), _least(z0, z1)))
    far = _least(given[_FAR + l], _least(_least(_most(x0, x1), _most(y0, y1)), _most(z0, z1)))
    room[_X + l], room[_Y + l], room[_Z + l] = x, y, z
    room[_DX + l], room[_DY + l], room[_DZ + l] = dx, dy, dz
    room[_BEGIN + l], room[_END + l] = near, far
    # What is left of the height only matters to pieces from here on, by its reciprocal.
    per_tall = _ONE / tall
    share = per_tall * plant.per_height
    lowest = (_least(z + near * dz, z + far * dz) - base) * share
    room[_RISE + l], room[_PER_TALL + l] = abs(dz) * (far - near) * share * _least(_ONE - lowest, _ONE), per_tall


@inline_kernel
def _straighten(plant: _Plant, room: Array, piece: int, l: int) -> None:
    """A straight ray through where a piece of a ray begins and ends in the plant upright; without branches."""
    base, per_height = plant.base, plant.per_height
    step = (room[_END + l] - room[_BEGIN + l]) * room[_SHARE + l]
    near = room[_BEGIN + l] + np.float32(piece) * step
    length = _most(step, _SHORT)
    far = near + length
    tip_x, tip_y, per_tall = room[_TIP_X + l], room[_TIP_Y + l], room[_PER_TALL + l]
    x, y, z = room[_X + l], room[_Y + l], room[_Z + l]
    dx, dy, dz = room[_DX + l], room[_DY + l], room[_DZ + l]
    up_a, up_b = z + near * dz - base, z + far * dz - base
    up_a, up_b = up_a * (per_tall if up_a > _NONE else _ONE), up_b * (per_tall if up_b > _NONE else _ONE)
    way_a, way_b = _bend(up_a * per_height), _bend(up_b * per_height)
    a_x, a_y = x + near * dx - way_a * tip_x, y + near * dy - way_a * tip_y
    b_x, b_y = x + far * dx - way_b * tip_x, y + far * dy - way_b * tip_y
    per = _ONE / length
    dx, dy, dz = (b_x - a_x) * per, (b_y - a_y) * per, (up_b - up_a) * per
    room[_ORG_X + l], room[_ORG_Y + l] = a_x - near * dx, a_y - near * dy
    room[_ORG_Z + l] = base + up_a - near * dz
    room[_DIR_X + l], room[_DIR_Y + l], room[_DIR_Z + l] = dx, dy, dz
    room[_FROM + l], room[_TO + l] = near, near + step


@inline_kernel
def _bend(share: Real) -> Real:
    """ψ, in single precision."""
    at = _least(_most(share, _NONE), _ONE)
    return at * at * (_SIX - at * (_FOUR - at)) * _THIRD


@inline_kernel
def _not_zero(value: Real) -> Real:
    return value if abs(value) > _TINY else _TINY


@inline_kernel
def _least(a: Real, b: Real) -> Real:
    return a if a < b else b


@inline_kernel
def _most(a: Real, b: Real) -> Real:
    return a if a > b else b
