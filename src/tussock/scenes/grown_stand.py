"""A stand of plants of one species: each copy has the age that its height says, and one of the shapes of that age.

A young tree is no small old one: its crown is narrower and begins lower, and its leaves are as large. So a species has a
shape or more for each of several heights; a copy takes one of those that were grown nearest to its own height, and is stretched
by what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.sizes import chance

__all__ = ["Age", "by_age"]


class Age(NamedTuple):
    """How a species looks at a height."""

    height: float
    """[m] that its shapes are grown to"""
    grow: Callable[[int], Mesh]
    """the shape of a variant, 0, 1, …"""
    variants: int = 2


def by_age(
    places: Placements, ages: Mapping[str, Age], *, height: float, seed: int
) -> Iterator[tuple[str, Mesh, Placements]]:
    """Age with the number of the variant, shape and copies, for every shape that has any.

    ``places`` are those of a plant of ``height`` [m]: where each stands, and how tall it is, stays as it is.
    """
    matrices = places.matrices
    tall = height * np.linalg.norm(matrices[:, :, 2], axis=1)
    own = np.abs(np.log(tall[:, None] / [age.height for age in ages.values()])).argmin(1)
    turn = chance("variants", seed).uniform(0, 1, len(places))
    for number, (name, age) in enumerate(ages.items()):
        for variant in range(age.variants):
            some = matrices[(own == number) & ((turn * age.variants).astype(int) == variant)].copy()
            if len(some):
                some[:, :, :3] *= height / age.height
                yield f"{name}-{variant + 1}", age.grow(variant), Placements(some)
