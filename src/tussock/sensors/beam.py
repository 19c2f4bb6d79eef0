"""The spread of a pulse: the shape of its spot, its divergence, and the sub-rays that sample it.

Sub-rays leave from the pulse's origin through points of the plane one metre ahead: sub-ray k goes along
``d + h_k·left + v_k·up``. Stencils with nine rays follow Goodin et al. (2018), section 3.2.1: the centre and
eight points on a ring of radius √2·tan(γ/2)/4 for a circular spot. That is 0.35 of the spot's radius tan(γ/2);
`full` puts the ring on the edge of the spot instead.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.settings import Settings

__all__ = ["Beam"]

Divergence = Annotated[float, Field(ge=0.0, lt=1500.0)]


class Beam(Settings):
    """The spot of one pulse and how it is sampled."""

    shape: Literal["circle", "rectangle", "ellipse"] = "circle"
    divergence_horizontal_mrad: Divergence = 0.0
    """full angle, edge to edge [mrad]"""
    divergence_vertical_mrad: Divergence = 0.0
    """full angle, edge to edge [mrad]"""
    rays: Annotated[int, Field(ge=1, le=1024)] = 1
    """sub-rays a pulse; 1 is the beam's axis alone"""
    sampling: Literal["stencil", "full", "sequence", "random"] = "stencil"
    """stencil: the nine points of MAVS; full: the same nine points out to the spot's edge; sequence: any number
    of points spread evenly over the spot; random: the same, sampled anew for every pulse"""

    @property
    def half_sizes(self) -> tuple[float, float]:
        """Half the width and half the height of the spot one metre ahead [m]: tan(γ/2)."""
        across, up = self.divergence_horizontal_mrad, self.divergence_vertical_mrad
        return float(np.tan(across * 5e-4)), float(np.tan(up * 5e-4))

    def stencil(self) -> NDArray[np.float32]:
        """Offsets (horizontal, vertical) of the sub-rays one metre ahead [m], shape (rays, 2)."""
        half = np.array(self.half_sizes)
        if self.rays == 1:
            return np.zeros((1, 2), np.float32)
        if self.rays == 9 and self.sampling in ("stencil", "full"):
            reach = np.sqrt(2) / 4 if self.sampling == "stencil" else 1.0
            return (_nine_points(self.shape) * half * reach).astype(np.float32)
        return (spread_over_spot(self.shape, _additive_sequence(self.rays)) * half).astype(np.float32)


def _nine_points(shape: str) -> NDArray[np.float64]:
    """The centre and eight points around it on the unit spot, shape (9, 2)."""
    if shape == "rectangle":
        side = np.array([-1.0, 0.0, 1.0])
        grid = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(9, 2)
        return np.concatenate([grid[4:5], np.delete(grid, 4, 0)])
    angle = np.arange(8) * np.pi / 4
    return np.concatenate([np.zeros((1, 2)), np.stack([np.cos(angle), np.sin(angle)], 1)])


def _additive_sequence(count: int) -> NDArray[np.float64]:
    """A low-discrepancy sequence in the unit square (additive recurrence of the plastic number), (n, 2)."""
    plastic = 1.324717957244746
    step = np.array([1 / plastic, 1 / plastic**2])
    return (0.5 + np.arange(count)[:, None] * step) % 1.0


def spread_over_spot(shape: str, unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map points of the unit square evenly onto the unit spot, shape (n, 2)."""
    if shape == "rectangle":
        return 2.0 * unit - 1.0
    radius, angle = np.sqrt(unit[:, 0]), 2 * np.pi * unit[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
