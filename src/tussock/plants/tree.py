"""A broadleaf tree: trunk, limbs, branches, twigs, leaves.

Limbs leave the trunk above the crown's base and reach for an egg-shaped crown, branches and twigs fill it, and
leaves stand around the twigs. The number of triangles asked for is spent on detail, not on size: the more
there are, the more branches, twigs and leaves, and the smaller each leaf, while the area of all leaves together
stays what it was. A leaf area of four times the ground under the crown is usual for a broadleaf in summer.

Left out: forks, roots, flowers, fruit, and limbs that avoid one another.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tussock.plants.crowns import ROOT, Habit
from tussock.plants.foliage import foliage, reach_to_egg
from tussock.plants.leaves import LEAF_AREA, LEAF_TRIANGLES
from tussock.plants.stems import Growth, Stems, fitted, grow, sprout, tubes
from tussock.sampler import Sampler
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import chance, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["tree"]

_LIMBS = 26
_USUAL = Habit("tree", base=0.25, slenderness=50, cover=4)


def tree(
    *,
    height: float = 12.0,
    crown_radius: float = 4.5,
    crown_base: float | None = None,
    trunk_radius: float | None = None,
    leaf_area: float | None = None,
    triangles: int = 100_000,
    seed: int = 0,
) -> Mesh:
    """A tree that stands on z = 0, its trunk at the origin; the trunk goes on a little below the ground.

    ``height`` and ``crown_radius`` (the furthest reach from the trunk), both to within a leaf; ``crown_base``,
    height of the lowest limb (a quarter of the height unless given); ``trunk_radius`` at the ground (a fiftieth
    of the height) [m]; ``leaf_area``, one side of all leaves together [m²] (four times the ground under the
    crown); ``triangles``: as many as asked for, less at most three.

    >>> oak = tussock.tree(height=8.0, crown_radius=3.0, triangles=20_000)
    """
    base, girth, area = _USUAL.sizes(height, crown_radius, crown_base, trunk_radius, leaf_area)
    whole("tree triangles", triangles, 5_000)
    rng = chance("tree", seed)

    fine = triangles >= 40_000
    stems = _skeleton(height, crown_radius, base, girth, twigs=_twig_count(triangles), fine=fine, rng=rng)
    sides = (16, 10, 6, 3) if fine else (8, 4, 3, 3)
    wood = [tubes(order, n) for order, n in zip(stems, sides, strict=True)]
    leaf_count = (triangles - sum(len(t) for _, t in wood)) // LEAF_TRIANGLES
    # The crown's outermost leaves shall end at the height and the radius asked for.
    leaf_length = np.sqrt(area / leaf_count / LEAF_AREA)
    stems = fitted(stems, height - 0.2 * leaf_length, crown_radius - 0.45 * leaf_length)
    wood = [tubes(order, n) for order, n in zip(stems, sides, strict=True)]

    bark, branch, leaf = SURFACES["bark"], SURFACES["branch"], SURFACES["leaf"]
    parts = [Mesh.of(v, t, (bark if i == 0 else branch,)) for i, (v, t) in enumerate(wood)]
    parts.append(Mesh.of(*foliage(stems[-1], leaf_count, area, rng), (leaf,)))
    return Mesh.joined(parts)


def _twig_count(triangles: int) -> int:
    """Twigs for a budget: about a dozen leaves each, after the coarser wood has had its share."""
    return max(60, int((triangles - 5_000) / 72))


def _skeleton(
    height: float,
    crown_radius: float,
    base: float,
    girth: float,
    *,
    twigs: int,
    fine: bool,
    rng: Sampler,
) -> list[Stems]:
    """Trunk, limbs, branches and twigs, each order grown from the one before."""
    root = np.array([[0.0, 0.0, -ROOT * height]])
    trunk = grow(
        root,
        [[0.0, 0.0, 1.0]],
        Growth(taper=0.18, segments=14 if fine else 7, wander=0.10, rise=0.3),
        lengths=0.86 * height,
        radii=[girth],
        rng=rng,
    )
    flare = 1 + 0.45 * np.exp(-np.linspace(0, 1, trunk.radii.shape[1]) * 16)
    trunk = replace(trunk, radii=trunk.radii * flare)

    low = (base + ROOT * height) / (0.86 * height)
    at = sprout(trunk, _LIMBS, first=low, down=1.05, spread=0.12, rng=rng)
    # High limbs stand steep, low ones flat.
    lifted = at.directions + np.stack([0 * at.fractions, 0 * at.fractions, 0.9 * (at.fractions - low)], 1)
    lifted /= np.linalg.norm(lifted, axis=1, keepdims=True)
    reach = reach_to_egg(at.starts, lifted, height, crown_radius, base)
    limbs = grow(
        at.starts,
        lifted,
        Growth(taper=0.15, segments=10 if fine else 4, wander=0.35, rise=0.25),
        lengths=reach * rng.uniform(0.78, 1.0, _LIMBS),
        radii=np.minimum(0.62 * at.radii, 0.045 * reach),
        rng=rng,
    )

    count = max(2 * _LIMBS, int(1.6 * np.sqrt(_LIMBS * twigs)))
    at = sprout(limbs, count, first=0.18, down=0.85, spread=0.2, rng=rng)
    room = reach_to_egg(at.starts, at.directions, height, crown_radius, base)
    own = limbs.lengths[at.parents] * (0.62 - 0.36 * at.fractions) * rng.uniform(0.7, 1.15, count)
    branches = grow(
        at.starts,
        at.directions,
        Growth(taper=0.25, segments=6 if fine else 2, wander=0.45, rise=0.2),
        lengths=np.clip(own, 0.05 * crown_radius, np.maximum(room, 0.08 * crown_radius)),
        radii=np.clip(0.55 * at.radii, 0.004, 0.05),
        rng=rng,
    )

    at = sprout(branches, twigs, first=0.25, down=0.8, spread=0.25, rng=rng)
    own = np.clip(0.45 * branches.lengths[at.parents], 0.025 * height, 0.06 * height)
    young = grow(
        at.starts,
        at.directions,
        Growth(taper=0.4, segments=3 if fine else 1, wander=0.4, rise=-0.15),
        lengths=own * rng.uniform(0.6, 1.2, twigs),
        radii=np.clip(0.6 * at.radii, 0.002, 0.006),
        rng=rng,
    )
    return [trunk, limbs, branches, young]
