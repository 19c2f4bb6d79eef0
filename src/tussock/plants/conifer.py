"""A conifer: one straight trunk, whorls of branches, side shoots, needles.

The branches stand in whorls around the trunk, a year's growth apart; their tips lie on a cone, the low ones
hang and the high ones rise, as on a spruce. Shoots leave a branch sideways in its own plane, and the needles stand
around the shoots. The triangles asked for are spent on shoots and needles, while the needle area stays what it
was: five times the ground under the crown unless given, usual for a spruce stand.

Left out: cones, dead lower branches, broken tops.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.plants.crowns import ROOT, Habit
from tussock.plants.needles import NEEDLE_AREA, NEEDLE_TRIANGLES, needle_shapes
from tussock.plants.stems import Growth, Stems, fitted, grow, sprout, thinned, tubes
from tussock.sampler import Sampler
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import chance, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["conifer"]


_USUAL = Habit("conifer", base=0.125, slenderness=70, cover=5)
_A_WHORL = 6
"""branches of a whorl"""


def conifer(
    *,
    height: float = 14.0,
    crown_radius: float = 2.4,
    crown_base: float | None = None,
    trunk_radius: float | None = None,
    leaf_area: float | None = None,
    triangles: int = 60_000,
    seed: int = 0,
) -> Mesh:
    """A conifer that stands on z = 0, its trunk at the origin; the trunk goes on a little below the ground.

    ``height`` and ``crown_radius`` (the furthest reach from the trunk), both to within a needle; ``crown_base``,
    height of the lowest whorl (an eighth of the height unless given); ``trunk_radius`` at the ground (a seventieth
    of the height) [m]; ``leaf_area``, one side of all needles together [m²]; ``triangles``: as many as asked for,
    less at most one.

    >>> spruce = tussock.conifer(height=8.0, crown_radius=1.5, triangles=8_000)
    >>> len(spruce.triangles) <= 8_000
    True
    """
    base, girth, area = _USUAL.sizes(height, crown_radius, crown_base, trunk_radius, leaf_area)
    whole("conifer triangles", triangles, 8_000)
    rng = chance("conifer", seed)

    fine = triangles >= 30_000
    detail = _Detail(int(np.clip(triangles / 1_500, 8, 34)), max(100, (triangles - 3_000) // 40), fine)
    orders = _skeleton(height, crown_radius, base, girth, detail, rng)
    orders[-1] = thinned(orders[-1], 0.15 * area)
    sides = (10, 4, 3) if fine else (6, 3, 3)
    wood_triangles = sum(2 * n * len(o.points) * (o.points.shape[1] - 1) for o, n in zip(orders, sides, strict=True))
    count = (triangles - wood_triangles) // NEEDLE_TRIANGLES
    length = np.sqrt(area / count / NEEDLE_AREA)
    orders = fitted(orders, height - 0.5 * length, max(crown_radius - 0.9 * length, 0.5 * crown_radius))
    parts = [
        Mesh.of(*tubes(order, n), (SURFACES[name],))
        for order, n, name in zip(orders, sides, ("bark", "branch", "branch"), strict=True)
    ]
    parts.append(Mesh.of(*_needles(orders[-1], count, area, rng), (SURFACES["needle"],)))
    return Mesh.joined(parts)


class _Detail(NamedTuple):
    """How much of a tree is made for its triangles."""

    whorls: int
    shoots: int
    fine: bool


def _skeleton(height: float, radius: float, base: float, girth: float, detail: _Detail, rng: Sampler) -> list[Stems]:
    whorls, shoots, fine = detail
    root = np.array([[0.0, 0.0, -ROOT * height]])
    up = [[0.0, 0.0, 1.0]]
    whole_length = (1 + ROOT) * height
    trunk = grow(
        root, up, Growth(taper=0.04, segments=12, wander=0.02, rise=0.5), lengths=whole_length, radii=[girth], rng=rng
    )

    # Whorls lie closer towards the top, where the tree is young.
    share = np.repeat(1 - (1 - np.linspace(0, 0.97, whorls)) ** 0.9, _A_WHORL)
    n = len(share)
    level = base + share * (height - base) + rng.normal(0, 0.004 * height, n)
    turn = 2 * np.pi * (np.arange(n) / _A_WHORL + rng.uniform(-0.06, 0.06, n)) + np.repeat(
        rng.uniform(0, 2 * np.pi, whorls), _A_WHORL
    )
    lift = -0.25 + 1.1 * share
    directions = np.stack([np.cos(turn) * np.cos(lift), np.sin(turn) * np.cos(lift), np.sin(lift)], 1)
    place = np.interp(level, trunk.points[0, :, 2], np.arange(trunk.points.shape[1]))
    low = np.minimum(place.astype(int), trunk.points.shape[1] - 2)
    part = (place - low)[:, None]
    starts = trunk.points[0, low] * (1 - part) + trunk.points[0, low + 1] * part
    reach = radius * np.clip(1.04 - share, 0.05, 1.0) * rng.uniform(0.8, 1.0, n)
    branches = grow(
        starts,
        directions,
        Growth(taper=0.25, segments=5 if fine else 2, wander=0.12, rise=0.25),
        lengths=reach,
        radii=np.clip(0.018 * reach, 0.004, 0.35 * girth),
        rng=rng,
    )
    at = sprout(branches, shoots, first=0.12, down=1.0, spread=0.15, rng=rng)
    # Shoots lie in the plane of their branch.
    flat = at.directions * np.array([1.0, 1.0, 0.3])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    own = np.clip(0.38 * branches.lengths[at.parents] * (1.15 - 0.8 * at.fractions), 0.03 * radius, 0.3 * radius)
    young = grow(
        at.starts,
        flat,
        Growth(taper=0.5, segments=2 if fine else 1, wander=0.15, rise=-0.25),
        lengths=own * rng.uniform(0.7, 1.1, shoots),
        radii=np.clip(0.5 * at.radii, 0.0015, 0.006),
        rng=rng,
    )
    return [trunk, branches, young]


def _needles(shoots: Stems, count: int, area: float, rng: Sampler) -> tuple[FloatArray, NDArray[np.int64]]:
    at = sprout(shoots, count, first=0.0, down=0.75, spread=0.2, rng=rng)
    lengths = rng.uniform(0.75, 1.25, count)
    lengths *= np.sqrt(area / (NEEDLE_AREA * (lengths**2).sum()))
    return needle_shapes(at.starts, at.directions, rng.standard_normal((count, 3)), lengths)
