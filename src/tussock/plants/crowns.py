"""The sizes of whatever has a trunk and a crown, checked in one place: trees and conifers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.scene.sizes import between, positive

__all__ = ["ROOT", "Habit"]

ROOT = 0.03
"""how far a trunk reaches below the ground, as a share of the height"""
_HIGHEST_BASE = 0.8


class Habit(NamedTuple):
    """How a kind of plant usually grows: what stands for sizes that are not given."""

    kind: str
    base: float
    """height of the lowest limb or whorl, as a share of the height"""
    slenderness: float
    """height over the trunk's radius at the ground"""
    cover: float
    """area of one side of all leaves over that of the ground under the crown"""

    def sizes(
        self, height: float, radius: float, base: float | None, girth: float | None, area: float | None
    ) -> tuple[float, float, float]:
        """Crown base [m], trunk radius [m] and leaf area [m²] of a plant of ``height`` and crown ``radius`` [m]."""
        positive(f"{self.kind} height", height)
        positive(f"{self.kind} crown_radius", radius)
        highest = _HIGHEST_BASE * height
        return (
            self.base * height if base is None else between(f"{self.kind} crown_base", base, 0.0, highest),
            height / self.slenderness if girth is None else positive(f"{self.kind} trunk_radius", girth),
            self.cover * np.pi * radius**2 if area is None else positive(f"{self.kind} leaf_area", area),
        )
