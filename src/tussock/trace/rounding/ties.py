"""Surfaces that lie within rounding of each other along a ray: which is in front our own arithmetic decides.

Where two surfaces cross (leaves, a blade in the ground), or a fold hides right behind another, both are as far as Embree can
tell, and which of them it names depends on the processor's instructions. So while a packet is traced, a filter notes every
triangle that Embree comes upon, and lets rays go on a little beyond it, by

    κ = K γ (2|o| + |o'|/|d'| + t) / cos θ        at most `_MOST`

t the distance, θ the angle of incidence, o' and d' the ray in the coordinates of the shape, γ = 2⁻²⁴. Embree's t is off by some
γ(|o| + t)|e||f| / |d·n|, n = e × f, which is that over cos θ and over the sine of the angle between the edges e and f; K = 64 is
for blades, whose corners are that sharp. What was noted within κ of the nearest is put in order by its distance in
double precision (`tussock.trace.triangles.meet_triangle`), and where those are the same, by its numbers.

A triangle of these that a ray passes within the band along its edges (`tussock.trace.rounding.edges`) is struck off, and the next one
is looked at.

Eight are noted for a ray, the nearest as Embree has it. Where the wind bends plants nothing is: the filter would see bent rays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Real, Whole, float32_view, inline_kernel, uint32_at, uint32_view, uint64_at
from tussock.trace.cut_outs.filter import CUT_OUTS, KNOWN_AT, QUERY_CONTEXT, RAYS_END, strike_out

__all__ = [
    "TIES_END", "Note", "Notes", "begin_notes", "comes_first", "note_at", "note_what_is_met", "noted_of", "notes_in",
    "strike_taken", "take",
]  # fmt: skip

_LANES, _SLOTS = 16, 8
_WORDS = _LANES * (4 + 5 * _SLOTS)
_TIES_AT = RAYS_END
"""bytes into the context of a query where the notes begin"""
TIES_END = _TIES_AT + 4 * _WORDS
_START, _END, _COUNT, _CHOSEN, _FIRST = range(0, 5 * _LANES, _LANES)
"""rows: how far from zero the ray starts (the sum of its coordinates) and how far it goes on; how many triangles there are, and
which of them was taken last; then of each five:"""
_NEXT = 5 * _LANES
"""its distance, geometry, primitive, instance and copy, as Embree calls them"""
_NOTHING = np.uint32(0xFFFFFFFF)
_K = np.float32(64.0 * 2.0**-24)
_MOST = np.float32(0.01)
"""[m] at grazing incidence"""
_GRAZING = np.float32(1e-3)


class Notes(NamedTuple):
    """What was noted for the lanes of a packet."""

    bits: NDArray[np.uint32]
    numbers: NDArray[np.float32]
    """the same memory"""


class Note(NamedTuple):
    """A triangle, as Embree calls it."""

    geometry: Whole
    primitive: Whole
    instance: Whole
    copy: Whole


@inline_kernel
def notes_in(query: Array) -> Notes:
    """Those in `Packet.query`."""
    return _notes_at(np.uint64(query.ctypes.data) + np.uint64(QUERY_CONTEXT + _TIES_AT))


@inline_kernel
def noted_of(notes: Notes, lane: int) -> Whole:
    """How many triangles there are for a lane."""
    return notes.bits[_COUNT + lane]


@inline_kernel
def _notes_at(address: Whole) -> Notes:
    return Notes(uint32_view(address, _WORDS), float32_view(address, _WORDS))


@inline_kernel
def begin_notes(notes: Notes, lane: int, start: Real) -> None:
    """Nothing is noted for a lane; ``start``: how far from zero its ray begins."""
    notes.numbers[_START + lane] = start
    notes.numbers[_END + lane] = np.float32(np.inf)
    notes.bits[_COUNT + lane] = np.uint32(0)
    notes.bits[_CHOSEN + lane] = np.uint32(0)


@inline_kernel
def note_at(notes: Notes, slot: Whole, lane: int) -> Note:
    """One of the triangles; its primitive is "nothing" where it is not within κ of the nearest, or was struck off."""
    bits, at = notes.bits, _FIRST + slot * _NEXT + lane
    primitive = bits[at + 2 * _LANES] if notes.numbers[at] <= notes.numbers[_END + lane] else _NOTHING
    return Note(bits[at + _LANES], primitive, bits[at + 3 * _LANES], bits[at + 4 * _LANES])


@inline_kernel
def take(notes: Notes, slot: Whole, lane: int) -> Note:
    """One of the triangles is what the ray meets, as far as is known yet."""
    notes.bits[_CHOSEN + lane] = np.uint32(slot)
    return note_at(notes, slot, lane)


@inline_kernel
def strike_taken(notes: Notes, lane: int) -> None:
    """Strike off what was taken last."""
    if notes.bits[_COUNT + lane] > 0:
        slot = np.int64(notes.bits[_CHOSEN + lane])
        notes.bits[_FIRST + slot * _NEXT + 2 * _LANES + lane] = _NOTHING


@inline_kernel
def comes_first(notes: Notes, slot: Whole, taken: Whole, lane: int) -> bool:
    """Of two at the same distance, that of the lower numbers: in which order Embree found them does not count."""
    one, other = note_at(notes, slot, lane), note_at(notes, max(taken, 0), lane)
    if one.instance != other.instance:
        return one.instance < other.instance
    if one.geometry != other.geometry:
        return one.geometry < other.geometry
    if one.copy != other.copy:
        return one.copy < other.copy
    return one.primitive < other.primitive


def note_what_is_met(arguments: Any) -> None:
    """The filter of a query: strike out what is cut out, note the rest, and let the rays go on a little.

    What it is handed: `tussock.trace.cut_outs.filter`.
    """
    context = uint64_at(arguments, 2)
    if uint64_at(uint64_at(context, KNOWN_AT // 8), CUT_OUTS) != 0:
        strike_out(arguments)
    count = np.int64(uint32_at(arguments, 10))
    valid = uint32_view(uint64_at(arguments, 0), count)
    rays, hits = uint64_at(arguments, 3), uint64_at(arguments, 4)
    lanes, ray = uint32_view(rays, 11 * count), float32_view(rays, 9 * count)
    notes = _notes_at(context + np.uint64(_TIES_AT))
    for i in range(count):
        if valid[i] != 0:
            lane = np.int64(lanes[10 * count + i])
            distance = ray[8 * count + i]
            beyond = _beyond(ray, float32_view(hits, 3 * count), count, i, notes.numbers[_START + lane])
            end = min(distance + beyond, notes.numbers[_END + lane])
            notes.numbers[_END + lane] = end
            ray[8 * count + i] = end
            slot = _slot_for(notes, lane, distance)
            if slot >= 0:
                bits, at = notes.bits, _FIRST + slot * _NEXT + lane
                notes.numbers[at] = distance
                bits[at + _LANES], bits[at + 2 * _LANES] = (
                    uint32_at(hits, 6 * count + i),
                    uint32_at(hits, 5 * count + i),
                )
                bits[at + 3 * _LANES] = uint32_at(hits, 7 * count + i)
                bits[at + 4 * _LANES] = uint32_at(hits, 8 * count + i)


@inline_kernel
def _beyond(ray: Array, normal: Array, count: Whole, i: Whole, start: Real) -> Real:
    """κ [m] of what the i-th ray meets; its numbers are those of the shape."""
    ox, oy, oz = ray[i], ray[count + i], ray[2 * count + i]
    dx, dy, dz = ray[4 * count + i], ray[5 * count + i], ray[6 * count + i]
    nx, ny, nz = normal[i], normal[count + i], normal[2 * count + i]
    long = dx * dx + dy * dy + dz * dz
    length = np.sqrt(long * (nx * nx + ny * ny + nz * nz))
    off = np.sqrt((ox * ox + oy * oy + oz * oz) / long)
    across = abs(dx * nx + dy * ny + dz * nz)
    if not across > _GRAZING * length:
        return _MOST
    return min(_K * (start + start + off + ray[8 * count + i]) * length / across, _MOST)


@inline_kernel
def _slot_for(notes: Notes, lane: Whole, distance: Real) -> Whole:
    """Where a triangle is noted: behind the others, or in place of the furthest; −1 where there are nearer ones enough."""
    numbers, known, furthest = notes.numbers, np.int64(notes.bits[_COUNT + lane]), np.int64(0)
    for slot in range(known):
        if numbers[_FIRST + slot * _NEXT + lane] > numbers[_FIRST + furthest * _NEXT + lane]:
            furthest = np.int64(slot)
    far = numbers[_FIRST + furthest * _NEXT + lane]
    if known > 0 and far > numbers[_END + lane]:
        return furthest  # no longer within reach of the nearest
    if known < _SLOTS:
        notes.bits[_COUNT + lane] = np.uint32(known + 1)
        return known
    return furthest if far > distance else np.int64(-1)
