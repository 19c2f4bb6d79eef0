"""Where the wind has taken the parts of a plant at a moment.

A placement bends like one beam, in its own coordinates, about the height where it is rooted (`tussock.scene.stems`): a
point at the share ζ of its height is moved by ψ(ζ) times what its tip is moved by, and, as stems bend and do not stretch,
the tip sinks by ½ κ u² / h, κ = ∫ψ'² dζ = 8/7, and all below it in proportion. The tip is at

    along the wind    u₀·(1 + Σ gain·cos 2π(k·x − g·t + phase + lag)) + a·(cos 2π(f₋t + p₁) + cos 2π(f₊t + p₂))
    across it         b·cos 2π(f·t + p₃)

the plant's steady lean, its answer to the gusts that pass, and its own sway: two close frequencies f(1 ∓ ζ), whose beat
is as slow as the damping lets a swaying stem forget. A stem that is bent far turns out of the wind: displacements beyond
0.6 of the height are not reached, u / √(1 + (u / 0.6 h)²). Gusts beyond 2.5 standard deviations are cut.

Leaves flutter besides: their corners move along the wind by a wave of a few millimetres that is shorter than a branch.
Only where a ray meets a leaf, and at which angle, knows of it; its outline stays.

Everything is made of our own arithmetic in double precision, from whole tables: the same bits on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.elementary import cosine_of_turns
from tussock.kernels import Array, Real, Whole, inline_kernel, kernel
from tussock.trace.normals import PlacedCopies
from tussock.trace.placed_copies import transform_of
from tussock.trace.triangles import Corners

__all__ = [
    "BASE", "BEAT", "COPIES", "FLUTTER", "FLUTTER_HZ", "GAINS", "HEIGHT", "LAID", "MOST_GUST", "MOST_LEAN", "PLANT_NUMBERS", "WAVE_NUMBERS",
    "Swaying", "Tip", "X", "Y", "bent", "cosine", "no_sway", "straight", "sway_rates", "swayed", "swayed_alone", "tip_at", "tip_in",
]  # fmt: skip

MOST_LEAN = 0.6
"""of the height: how far a tip can be taken"""
SINKS = 4.0 / 7.0
"""½ κ"""
BASE, HEIGHT, BEAT, FLUTTER, FLUTTER_HZ, MOST_GUST, COPIES, GAINS = range(8)
"""columns of `Swaying.shapes`; from GAINS on two a wave, gain and lag [turns]"""
(
    X, Y, LEAN, FREQUENCY, OWN, ACROSS, PHASE_1, PHASE_2, PHASE_3, ALONG_X, ALONG_Y, ASIDE_X, ASIDE_Y, TALL, LAID,
    PLANT_NUMBERS,
) = range(16)  # fmt: skip
WAVE_NUMBERS = 4
_FLUTTER_TURNS = 1.0 / 0.12
"""[1/m] of the wave in which leaves flutter"""


class Swaying(NamedTuple):
    """What sways over one span of time, for kernels."""

    first: NDArray[np.int64]
    """row of a geometry's first copy in ``plants``, −1 where it stands still, shape (geometries,)"""
    shapes: NDArray[np.float64]
    """of geometries: height of the root [m] and height above it in the shape's coordinates, damping, flutter [m] and its
    frequency [Hz], what gusts add at most, copies, and the answers to the waves, shape (geometries, 7 + 2 × waves)"""
    plants: NDArray[np.float32]
    """of copies: place, lean [m], frequency [Hz], sway along and across [m], phases [turns], the wind's axes in the
    shape's coordinates, height [m], share of the height that is left, shape (n, 15)"""
    waves: NDArray[np.float64]
    """gusts: turns a metre along x and y, frequency [Hz], phase [turns], one after the other, shape (4 × waves,)"""
    leaves: NDArray[np.uint8]
    """1 for materials that flutter, shape (materials,)"""
    tips: NDArray[np.float32]
    """where the tips of all plants are at even steps of the span, for finding what a ray meets, shape (n, steps, 3)"""
    moment: NDArray[np.float64]
    """[s] when the span starts, and how long it is; number of steps less one, and the address of ``tips`` as bits,
    shape (4,)"""


_TIPS, _TIP_NUMBERS = 8, 5
KNOWN = _TIPS * _TIP_NUMBERS
"""numbers of the tips that `swayed` keeps: of which copy, when, and the three of `Tip`"""


class Tip(NamedTuple):
    """Where a plant's tip is taken."""

    x: Real
    """in the shape's coordinates"""
    y: Real
    tall: Real
    """share of the height that is left"""


def no_sway(geometries: int, materials: int) -> Swaying:
    """Still air."""
    return Swaying(
        np.full(geometries, -1, np.int64), np.zeros((0, GAINS)), np.zeros((0, PLANT_NUMBERS), np.float32), np.zeros(0),
        np.zeros(materials, np.uint8), np.zeros((0, 3, 3), np.float32), np.zeros(4),
    )  # fmt: skip


@inline_kernel
def cosine(turns: Real) -> Real:
    """cos 2π of any number of turns."""
    return np.float64(cosine_of_turns(np.float32(turns - math.floor(turns))))


@inline_kernel
def bend(share: Real) -> Real:
    """ψ of a share of the height."""
    at = max(0.0, min(share, 1.0))
    return at * at * (6.0 - at * (4.0 - at)) * (1.0 / 3.0)


@inline_kernel
def tip_at(shape: Array, plant: Array, waves: Array, time: Real) -> Tip:
    """The tip of a copy (a row of `Swaying.plants`) of a geometry (a row of `shapes`) at a ``time`` [s]."""
    x, y = np.float64(plant[X]), np.float64(plant[Y])
    gust = 0.0
    for j in range(len(waves) // WAVE_NUMBERS):
        w = WAVE_NUMBERS * j
        turns = waves[w] * x + waves[w + 1] * y - waves[w + 2] * time + waves[w + 3] + shape[GAINS + 2 * j + 1]
        gust += shape[GAINS + 2 * j] * cosine(turns)
    return tip_in(shape, plant, 0, 1, gust, time)


@inline_kernel
def tip_in(shape: Array, plant: Array, at: int, step: int, gust: Real, time: Real) -> Tip:
    """`tip_at`, where what the gusts add is known; the numbers of the plant begin at ``at`` and are ``step`` apart."""
    f = np.float64(plant[at + step * FREQUENCY])
    own = cosine(f * (1.0 - shape[BEAT]) * time + plant[at + step * PHASE_1]) + cosine(
        f * (1.0 + shape[BEAT]) * time + plant[at + step * PHASE_2]
    )
    gust = max(-shape[MOST_GUST], min(gust, shape[MOST_GUST]))
    along = plant[at + step * LEAN] * (1.0 + gust) + plant[at + step * OWN] * own
    across = plant[at + step * ACROSS] * cosine(f * time + plant[at + step * PHASE_3])
    tall = np.float64(plant[at + step * TALL])
    share2 = (along * along + across * across) / (tall * tall)
    least = 1.0 / (1.0 + share2 * (1.0 / (MOST_LEAN * MOST_LEAN)))
    reached = math.sqrt(least)
    along, across, laid = along * reached, across * reached, np.float64(plant[at + step * LAID])
    return Tip(
        laid * (along * plant[at + step * ALONG_X] + across * plant[at + step * ASIDE_X]),
        laid * (along * plant[at + step * ALONG_Y] + across * plant[at + step * ASIDE_Y]),
        laid * (1.0 - SINKS * share2 * least),
    )


@inline_kernel
def bent(shape: Array, tip: Tip, x: Real, y: Real, z: Real) -> tuple[Real, Real, Real]:
    """A point of the shape where it is now, in the shape's coordinates."""
    up = z - shape[BASE]
    way = bend(up / shape[HEIGHT])
    return x + way * tip.x, y + way * tip.y, shape[BASE] + (up * tip.tall if up > 0.0 else up)


@inline_kernel
def straight(shape: Array, tip: Tip, x: Real, y: Real, z: Real) -> tuple[Real, Real, Real]:
    """The point of the shape that is now at a place: the reverse of `bent`."""
    up = z - shape[BASE]
    up = up / tip.tall if up > 0.0 else up
    way = bend(up / shape[HEIGHT])
    return x - way * tip.x, y - way * tip.y, shape[BASE] + up


@inline_kernel
def _fluttered(shape: Array, plant: Array, time: Real, x: Real, y: Real, z: Real) -> Real:
    """[m] along the wind by which a corner of a leaf is off."""
    turns = shape[FLUTTER_HZ] * time + plant[PHASE_3] + _FLUTTER_TURNS * (x + 1.3 * y + 0.7 * z)
    return shape[FLUTTER] * cosine(turns)


@inline_kernel
def swayed(
    sway: Swaying, geometry: Whole, copy: Whole, ray_time: Real, at: Corners, material: Whole, known: Array
) -> Corners:  # fmt: skip
    """A triangle of a copy of a geometry where it is at ``ray_time`` in [0, 1], in the shape's coordinates.

    ``known`` is room for the tips that were asked for last, shape (`KNOWN`,), −1 everywhere at first: the sub-rays of a pulse have one
    time and meet few plants, and to add up the gusts takes longer than all else.
    """
    row = sway.first[geometry] + np.int64(copy)
    shape, plant = sway.shapes[geometry], sway.plants[row]
    time = sway.moment[0] + np.float64(ray_time) * sway.moment[1]
    k = row % _TIPS * _TIP_NUMBERS
    if known[k] != row or known[k + 1] != time:
        now = tip_at(shape, plant, sway.waves, time)
        known[k], known[k + 1], known[k + 2], known[k + 3], known[k + 4] = np.float64(row), time, now.x, now.y, now.tall
    return bent_triangle(sway, geometry, row, time, Tip(known[k + 2], known[k + 3], known[k + 4]), at, material)


@inline_kernel
def swayed_alone(sway: Swaying, geometry: Whole, copy: Whole, ray_time: Real, at: Corners, material: Whole) -> Corners:
    """As `swayed`, by who has no room to remember tips."""
    row = sway.first[geometry] + np.int64(copy)
    time = sway.moment[0] + np.float64(ray_time) * sway.moment[1]
    tip = tip_at(sway.shapes[geometry], sway.plants[row], sway.waves, time)
    return bent_triangle(sway, geometry, row, time, tip, at, material)


@inline_kernel
def bent_triangle(
    sway: Swaying, geometry: Whole, row: Whole, time: Real, tip: Tip, at: Corners, material: Whole
) -> Corners:  # fmt: skip
    """A triangle of a plant whose tip is at ``tip`` at a ``time`` [s], where it is then, in the shape's coordinates."""
    shape, plant = sway.shapes[geometry], sway.plants[row]
    ax, ay, az = bent(shape, tip, at.ax, at.ay, at.az)
    bx, by, bz = bent(shape, tip, at.bx, at.by, at.bz)
    cx, cy, cz = bent(shape, tip, at.cx, at.cy, at.cz)
    if sway.leaves[material] != 0:
        a = _fluttered(shape, plant, time, at.ax, at.ay, at.az)
        b = _fluttered(shape, plant, time, at.bx, at.by, at.bz)
        c = _fluttered(shape, plant, time, at.cx, at.cy, at.cz)
        ex, ey = np.float64(plant[ALONG_X]), np.float64(plant[ALONG_Y])
        ax, ay, bx, by, cx, cy = ax + a * ex, ay + a * ey, bx + b * ex, by + b * ey, cx + c * ex, cy + c * ey
    return Corners(ax, ay, az, bx, by, bz, cx, cy, cz)


@kernel
def sway_rates(sway: Swaying, placed: PlacedCopies, rows: Array, points: Array, towards: Array, out: Array) -> None:
    """How fast [m/s] points of plants move along ``towards`` (n, 3), by their sway; flutter is left out.

    ``rows`` (n, 3) hold geometry, copy and time [s], ``points`` (n, 3) where the points are then in the tracer's
    coordinates.
    """
    step = 1e-4
    for i in range(len(rows)):
        geometry, copy, time = int(rows[i, 0]), int(rows[i, 1]), rows[i, 2]
        shape, plant = sway.shapes[geometry], sway.plants[sway.first[geometry] + copy]
        before, after = tip_at(shape, plant, sway.waves, time - step), tip_at(shape, plant, sway.waves, time + step)
        now = Tip(0.5 * (before.x + after.x), 0.5 * (before.y + after.y), 0.5 * (before.tall + after.tall))
        m = transform_of(placed, geometry, copy, 0.0)
        x, y, z = points[i, 0] - m.x, points[i, 1] - m.y, points[i, 2] - m.z
        # The rows of A⁻¹ are v×w, w×u, u×v over the determinant.
        ux, uy, uz = m.vy * m.wz - m.vz * m.wy, m.vz * m.wx - m.vx * m.wz, m.vx * m.wy - m.vy * m.wx
        vx, vy, vz = m.wy * m.uz - m.wz * m.uy, m.wz * m.ux - m.wx * m.uz, m.wx * m.uy - m.wy * m.ux
        wx, wy, wz = m.uy * m.vz - m.uz * m.vy, m.uz * m.vx - m.ux * m.vz, m.ux * m.vy - m.uy * m.vx
        per = 1.0 / (m.ux * ux + m.uy * uy + m.uz * uz)
        x, y, z = straight(
            shape,
            now,
            per * (ux * x + uy * y + uz * z),
            per * (vx * x + vy * y + vz * z),
            per * (wx * x + wy * y + wz * z),
        )
        ax, ay, az = bent(shape, before, x, y, z)
        bx, by, bz = bent(shape, after, x, y, z)
        dx, dy, dz = (bx - ax) / (2 * step), (by - ay) / (2 * step), (bz - az) / (2 * step)
        out[i] = (
            (m.ux * dx + m.vx * dy + m.wx * dz) * towards[i, 0]
            + (m.uy * dx + m.vy * dy + m.wy * dz) * towards[i, 1]
            + (m.uz * dx + m.vz * dy + m.wz * dz) * towards[i, 2]
        )
