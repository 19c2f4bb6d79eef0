"""A shrub: many stems from one root, branches, twigs, leaves.

The stems rise from a patch a tenth as wide as the shrub and lean outward to fill an egg-shaped crown that
begins just above the ground. As with the tree, the triangles asked for are spent on detail: the area of all
leaves together stays what it was. A leaf area of three times the ground under the shrub is usual for a hedge plant
in summer. The wood is bare at the middle, so a scan through the shrub sees two depths: foliage, then stems.

Left out: flowers, fruit, stems that avoid one another.
"""

from __future__ import annotations

import numpy as np

from tussock.plants.foliage import foliage, reach_to_egg
from tussock.plants.leaves import LEAF_AREA, LEAF_TRIANGLES
from tussock.plants.stems import Growth, Stems, fitted, grow, sprout, thinned, tubes
from tussock.sampler import Sampler
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import chance, positive, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["shrub"]


def shrub(
    *,
    height: float = 1.8,
    radius: float = 1.0,
    stems: int = 12,
    leaf_area: float | None = None,
    triangles: int = 20_000,
    seed: int = 0,
) -> Mesh:
    """A shrub that stands on z = 0, its root at the origin; its stems go on a little below the ground.

    ``height`` and ``radius`` (its furthest reach), both to within a leaf [m]; ``stems`` from the ground;
    ``leaf_area``, one side of all leaves together [m²] (three times the ground under it unless given);
    ``triangles``: as many as asked for, less at most three.

    >>> bush = tussock.shrub(height=1.5, radius=0.8, triangles=6_000)
    """
    positive("shrub height", height)
    positive("shrub radius", radius)
    whole("shrub stems", stems, 1)
    area = 3 * np.pi * radius**2 if leaf_area is None else positive("shrub leaf_area", leaf_area)
    least = 1_000 + 150 * stems
    whole("shrub triangles", triangles, least)
    rng = chance("shrub", seed)

    twigs = max(30, (triangles - least) // 60)
    orders = _skeleton(height, radius, stems, twigs, rng)
    orders[1:] = [thinned(orders[1], 0.1 * area), thinned(orders[2], 0.1 * area)]
    sides = (8, 4, 3)
    wood_triangles = sum(
        2 * n * o.points.shape[0] * (o.points.shape[1] - 1) for o, n in zip(orders, sides, strict=True)
    )
    leaves = (triangles - wood_triangles) // LEAF_TRIANGLES
    leaf_length = np.sqrt(area / leaves / LEAF_AREA)
    orders = fitted(orders, height - 0.2 * leaf_length, max(radius - 0.45 * leaf_length, 0.3 * radius))
    wood = [tubes(order, n) for order, n in zip(orders, sides, strict=True)]
    stem, branch = SURFACES["branch"].changed(name="stem", label="stem"), SURFACES["branch"]
    parts = [Mesh.of(v, t, (stem if i == 0 else branch,)) for i, (v, t) in enumerate(wood)]
    parts.append(Mesh.of(*foliage(orders[-1], leaves, area, rng), (SURFACES["leaf"],)))
    return Mesh.joined(parts)


def _skeleton(height: float, radius: float, stems: int, twigs: int, rng: Sampler) -> list[Stems]:
    """Stems, branches and twigs, each order grown from the one before."""
    turn = 2 * np.pi * (np.arange(stems) + rng.uniform(-0.35, 0.35, stems)) / stems
    outward = np.stack([np.cos(turn), np.sin(turn), np.zeros(stems)], 1)
    root = 0.1 * radius * np.sqrt(rng.uniform(0, 1, stems))[:, None] * outward
    root[:, 2] = -0.04 * height
    lean = np.arccos(1 - 0.62 * (rng.permutation(stems) + 0.5) / stems)[:, None]  # even over the crown
    towards = np.sin(lean) * outward + np.cos(lean) * np.array([0.0, 0.0, 1.0])
    reach = reach_to_egg(root + np.array([0.0, 0.0, 0.2 * height]), towards, height, radius, 0.1 * height)
    main = grow(
        root,
        towards,
        Growth(taper=0.3, segments=8, wander=0.15, rise=0.15),
        lengths=(reach + 0.2 * height) * rng.uniform(0.80, 0.92, stems),
        radii=0.012 * height * rng.uniform(0.7, 1.2, stems),
        rng=rng,
    )
    count = max(2 * stems, twigs // 5)
    at = sprout(main, count, first=0.22, down=0.75, spread=0.2, rng=rng)
    room = reach_to_egg(at.starts, at.directions, height, radius, 0.05 * height)
    branches = grow(
        at.starts,
        at.directions,
        Growth(taper=0.4, segments=3, wander=0.4, rise=0.2),
        lengths=np.clip(
            0.4 * main.lengths[at.parents] * (1.1 - 0.6 * at.fractions),
            0.06 * radius,
            np.maximum(0.9 * room, 0.08 * radius),
        ),
        radii=np.clip(0.5 * at.radii, 0.0012 * height, 0.008 * height),
        rng=rng,
    )
    at = sprout(branches, twigs, first=0.2, down=0.8, spread=0.25, rng=rng)
    young = grow(
        at.starts,
        at.directions,
        Growth(taper=0.5, segments=1, wander=0.3, rise=0.0),
        lengths=np.clip(0.4 * branches.lengths[at.parents], 0.05 * radius, 0.18 * radius)
        * rng.uniform(0.6, 1.2, twigs),
        radii=np.clip(0.6 * at.radii, 0.0006 * height, 0.002 * height),
        rng=rng,
    )
    return [main, branches, young]
