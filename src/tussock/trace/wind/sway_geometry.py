"""Copies that sway, for Embree: primitives of ours whose boxes hold a plant wherever the wind may take it.

No hierarchy is built for a frame, only a table of where the tips are at steps of 20 ms. Where a ray enters such a box, Embree calls
back, and the ray goes on into the shape's own hierarchy, which all copies share, in the coordinates in which the plant stands upright.
There a straight ray is a curve; it is followed, from where it enters the box to where it leaves it, in straight pieces between points
on it, one where it runs through less than a quarter of the plant's height, as the rays of a LIDAR mostly do, two or three where it comes
from above. A piece that spans the share s of the height from z on leaves the curve by ½ s²(1 − z)² of the tip's displacement at most, as
ψ'' = 4(1 − z)²; pieces are as many as keep s(1 − z) to about a quarter, three at most. What the ray has met elsewhere only ends the
search, as plants are asked in any order. That settles which triangle is met; where is then computed with the triangle bent at the ray's
own time (`tussock.trace.packets.resolve`).

What a callback is handed (rtcSetGeometryIntersectFunction, Embree 4 API):

    arguments  0 valid   8 our numbers   16 primitive   24 context   32 rays   40 how many   44 geometry
    context    0 instance, its primitive   8 `Swaying.moment`   16 room for 16 masks   80 room for 16 rays

Rays come in packets of sixteen where there is AVX-512, else one at a time, in structs of one ray.
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
    lanes_unlike,
    lowest_bit,
    uint32_at,
    uint32_view,
    uint64_at,
)  # fmt: skip
from tussock.trace.embree import Device, Geometry, GeometryType, RawScene, library
from tussock.trace.ray import Ray
from tussock.trace.wind.straightened import (
    MARGIN,
    PIECES,
    Plant,
    Upright,
    begin_of,
    least,
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
_MASK, _SENT = 0, _LANES
"""in our room: which lanes are sent on, then what they are sent on with, in Embree's own rows"""
_SEVERAL, _PER_TALL, _SHARE = range(10 * _LANES, 13 * _LANES, _LANES)
"""of Embree's rows those that it does not read of rays that are sent on: which go on in several pieces, one over what is left of
the height, and what a piece is of the part of a ray that may meet the plant"""
(
    _X, _Y, _Z, _DX, _DY, _DZ, _TIP_X, _TIP_Y, _TALL, _BEGIN, _END, _RISE, _FROM, _TO, _OWN_NEAR, _OWN_FAR, _ROOM,
) = range(13 * _LANES, 30 * _LANES, _LANES)  # fmt: skip  # rows of our own, after Embree's
_NUMBERS, _NEAR_OF_ONE, _FAR_OF_ONE, _ALONE = 9, 3, 8, _TALL
"""of a ray that comes alone: what is read of it, two of that, and where in our room it is sent on from"""
_ROOM_AT = 16  # bytes into the context
_ALL, _NO = np.uint32(0xFFFFFFFF), np.uint32(0)
_NONE, _ONE = np.float32(0.0), np.float32(1.0)
_MOST_OF_IT = np.float32(0.9)
"""of a ray: where less of it is done, pieces are left"""

_forward: Any = from_library(library(), "rtcForwardIntersect16Ex", 6)
_forward_shadow: Any = from_library(library(), "rtcForwardOccluded16Ex", 6)
_forward_one: Any = from_library(library(), "rtcForwardIntersect1Ex", 5)
_forward_shadow_of_one: Any = from_library(library(), "rtcForwardOccluded1Ex", 5)


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


class _Rays(NamedTuple):
    """What Embree handed over, and our room."""

    valid: Array
    given: Array
    room: Array
    words: Array
    """the same memory as ``room``"""


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
    if uint32_at(arguments, 10) == 1:
        _send_one(arguments, shadow)
    else:
        _send_lanes(arguments, shadow)


class _Called(NamedTuple):
    """What a callback is about."""

    numbers: Whole
    """addresses"""
    back: Whole
    tips: Array
    """of the copy, shape (3 × steps,)"""
    steps: Whole
    room: Whole
    """address"""
    copy: Whole


@inline_kernel
def _called(arguments: Whole) -> _Called:
    numbers, context = uint64_at(arguments, 1), uint64_at(arguments, 3)
    copy = np.int64(uint32_at(arguments, 4)) + np.int64(uint64_at(numbers, _FIRST))
    moment = uint64_at(context, 1)
    steps = int(float64_view(moment, 3)[2]) + 1
    row = np.int64(uint64_at(numbers, _ROW)) + copy
    own, back = uint64_at(moment, 3) + np.uint64(12 * steps * row), uint64_at(numbers, _BACK) + np.uint64(48 * copy)
    fetch(own)  # two million plants are in no cache; meanwhile the times of the rays are looked at
    fetch(back)
    fetch(back + np.uint64(47))
    return _Called(numbers, back, float32_view(own, 3 * steps), steps, context + np.uint64(_ROOM_AT), copy)


@inline_kernel
def _send_one(arguments: Whole, shadow: bool) -> None:
    """Where Embree takes packets apart, as it does on a processor without AVX-512: one ray, its numbers one after the other."""
    called = _called(arguments)
    numbers, begin = called.numbers, called.room
    valid, ray = uint32_view(uint64_at(arguments, 0), 1), float32_view(uint64_at(arguments, 4), _NUMBERS)
    room, words = float32_view(begin, _ROOM), uint32_view(begin, _ROOM)
    for k in range(_NUMBERS):
        room[_SENT + k * _LANES] = ray[k]
    given = float32_view(begin + np.uint64(4 * _SENT), _FAR + 1)
    x, y, tall = _tip_at(called.tips, called.steps, given[_TIME])
    plant = _plant_of(numbers, called.back)
    _take_upright(plant, Tip(x, y, tall), _Rays(valid, given, room, words), 0)
    if words[_MASK] == 0:
        return
    near, far, share, done = given[_NEAR], given[_FAR], room[_SHARE], _ONE
    scene, instance, number = uint64_at(numbers, _SCENE), np.uint64(uint32_at(arguments, 11)), np.uint64(called.copy)
    for piece in range(PIECES):
        _straighten(plant, room, piece, 0)
        lent = least(room[_TO], far) if share < _ONE else far
        ray[_NEAR_OF_ONE], ray[_FAR_OF_ONE] = room[_FROM], lent
        for k in range(_NUMBERS):
            room[_ALONE + k] = room[_SENT + k * _LANES]
        room[_ALONE + _NEAR_OF_ONE] = ray[_NEAR_OF_ONE]  # of one ray Embree takes the near end from what is sent on
        if shadow:
            _forward_shadow_of_one(arguments, scene, begin + np.uint64(4 * _ALONE), instance, number)
        else:
            _forward_one(arguments, scene, begin + np.uint64(4 * _ALONE), instance, number)
        ray[_NEAR_OF_ONE] = near
        if share == _ONE or ray[_FAR_OF_ONE] != lent:
            return
        ray[_FAR_OF_ONE] = far
        if not _goes_on(room, done, far, 0):
            return
        done += _ONE


@inline_kernel
def _send_lanes(arguments: Whole, shadow: bool) -> None:
    """A packet of sixteen rays, some of them in use.

    Masks and room are one stretch of memory, and all that is read of Embree's rays is read in one loop: so the compiler sees that
    what the loops write is not what they read, and makes vector code of them without asking.
    """
    called = _called(arguments)
    numbers, begin, tips, steps = called.numbers, called.room, called.tips, called.steps
    used, rays = uint64_at(arguments, 0), uint64_at(arguments, 4)
    valid, given = uint32_view(used, _LANES), float32_view(rays, _FAR + _LANES)
    room, words = float32_view(begin, _ROOM), uint32_view(begin, _ROOM)
    lanes = lanes_unlike(used, _NO)
    first = _TIME + lowest_bit(lanes)
    apart = lanes & lanes_unlike(rays + np.uint64(4 * _TIME), uint32_at(rays, first))
    plant = _plant_of(numbers, called.back)
    if apart == 0:  # mostly: they are of one pulse
        x, y, tall = _tip_at(tips, steps, given[first])
        tip = Tip(x, y, tall)
        for l in range(_LANES):
            _take_upright(plant, tip, _Rays(valid, given, room, words), l)
    else:
        _take_tips(tips, steps, valid, given, room)
        for l in range(_LANES):
            x, y, tall = room[_TIP_X + l], room[_TIP_Y + l], room[_TALL + l]
            _take_upright(plant, Tip(x, y, tall), _Rays(valid, given, room, words), l)
    if lanes_unlike(begin, _NO) == 0:
        return
    in_pieces = lanes_unlike(begin + np.uint64(4 * _SEVERAL), _NO) != 0
    scene, instance, number = uint64_at(numbers, _SCENE), np.uint64(uint32_at(arguments, 11)), np.uint64(called.copy)
    for piece in range(PIECES):
        for l in range(_LANES):
            _straighten(plant, room, piece, l)
        _take_piece(given, room, words)
        if shadow:
            _forward_shadow(begin, arguments, scene, begin + np.uint64(4 * _SENT), instance, number)
        else:
            _forward(begin, arguments, scene, begin + np.uint64(4 * _SENT), instance, number)
        if not in_pieces:
            for l in range(_LANES):
                given[_NEAR + l] = room[_OWN_NEAR + l]
            return
        _give_back(given, room, words, piece)
        if lanes_unlike(begin, _NO) == 0:
            return


@inline_kernel
def _take_piece(given: Array, room: Array, words: Array) -> None:
    """Let rays begin where they enter the plant's box, and those that go in pieces be as long as one, if nothing nearer was met."""
    for l in range(_LANES):
        on = words[_MASK + l] != 0
        near, far = given[_NEAR + l], given[_FAR + l]
        lent = least(room[_TO + l], far) if on & (room[_SHARE + l] < _ONE) else far
        room[_OWN_NEAR + l], room[_OWN_FAR + l], room[_TO + l] = near, far, lent
        given[_NEAR + l], given[_FAR + l] = room[_FROM + l] if on else near, lent


@inline_kernel
def _give_back(given: Array, room: Array, words: Array, piece: int) -> None:
    """Let the rays be as long as they were, but for those that have met something; who goes on after a ``piece`` stays masked."""
    done = np.float32(piece + 1)
    for l in range(_LANES):
        far, own_far = given[_FAR + l], room[_OWN_FAR + l]
        met_nothing = (words[_MASK + l] != 0) & (far == room[_TO + l])
        given[_NEAR + l], given[_FAR + l] = room[_OWN_NEAR + l], own_far if met_nothing else far
        words[_MASK + l] = _ALL if met_nothing & _goes_on(room, done, own_far, l) else _NO


@inline_kernel
def _goes_on(room: Array, done: Real, far: Real, l: int) -> bool:
    """Whether, after so many pieces, a ray has another one that begins before what it has met."""
    share = room[_SHARE + l]
    return (done * share < _MOST_OF_IT) & (begin_of(room[_BEGIN + l], room[_END + l], share, done) <= far)


@inline_kernel
def _take_tips(tips: Array, steps: int, valid: Array, given: Array, room: Array) -> None:
    """Where the plant's tip is at the moment of each ray in use."""
    for l in range(_LANES):
        time = given[_TIME + l] if valid[l] != 0 else _NONE
        room[_TIP_X + l], room[_TIP_Y + l], room[_TALL + l] = _tip_at(tips, steps, time)


@inline_kernel
def _tip_at(tips: Array, steps: int, time: Real) -> tuple[Real, Real, Real]:
    """Where the tip is at a ray's time in [0, 1]: on a parabola through three of its ``tips`` (3 × steps,)."""
    place = time * np.float32(steps - 1)
    node = min(int(place), steps - 3)
    at, t = place - np.float32(node), 3 * node
    return (
        on_parabola(tips[t], tips[t + 3], tips[t + 6], at),
        on_parabola(tips[t + 1], tips[t + 4], tips[t + 7], at),
        on_parabola(tips[t + 2], tips[t + 5], tips[t + 8], at),
    )


@inline_kernel
def _take_upright(plant: Plant, tip: Tip, rays: _Rays, l: int) -> None:
    """A ray in the coordinates of the shape, the part of it in the plant's box, and in how many pieces it goes on.

    Without branches, so that a loop over all lanes does them at once.
    """
    valid, given, room, words = rays
    ray = Ray(
        given[_ORG_X + l], given[_ORG_Y + l], given[_ORG_Z + l], given[_DIR_X + l], given[_DIR_Y + l], given[_DIR_Z + l],
        given[_NEAR + l], given[_FAR + l], given[_TIME + l],
    )  # fmt: skip
    made = upright(plant, ray, tip)
    own = made.ray
    inside = (valid[l] != 0) & (own.near <= own.far) & (own.near <= ray.far)
    pieces = pieces_of(made.rise)
    room[_TIP_X + l], room[_TIP_Y + l], room[_PER_TALL + l] = tip.x, tip.y, made.per_tall
    room[_X + l], room[_Y + l], room[_Z + l] = own.x, own.y, own.z
    room[_DX + l], room[_DY + l], room[_DZ + l] = own.dx, own.dy, own.dz
    room[_BEGIN + l], room[_END + l], room[_RISE + l] = own.near, own.far, made.rise
    room[_SHARE + l] = share_of(pieces)
    words[_MASK + l] = _ALL if inside else _NO
    words[_SEVERAL + l] = _ALL if inside & (pieces > 1) else _NO


@inline_kernel
def _straighten(plant: Plant, room: Array, piece: int, l: int) -> None:
    """A straight ray through where a piece of a ray begins and ends in the plant upright; without branches."""
    ray = Ray(
        room[_X + l], room[_Y + l], room[_Z + l], room[_DX + l], room[_DY + l], room[_DZ + l], room[_BEGIN + l],
        room[_END + l], _NONE,
    )  # fmt: skip
    whole = Upright(ray, room[_RISE + l], room[_PER_TALL + l])
    made = straightened(plant, whole, room[_TIP_X + l], room[_TIP_Y + l], room[_SHARE + l], piece)
    room[_SENT + _ORG_X + l], room[_SENT + _ORG_Y + l], room[_SENT + _ORG_Z + l] = made.x, made.y, made.z
    room[_SENT + _DIR_X + l], room[_SENT + _DIR_Y + l], room[_SENT + _DIR_Z + l] = made.dx, made.dy, made.dz
    room[_FROM + l], room[_TO + l] = made.near, made.far
