"""The spread of a pulse: the shape of its spot, its divergence, and the sub-rays that sample it.

Sub-rays leave from the pulse's origin through points of the plane one metre ahead: sub-ray k goes along
``d + h_k·left + v_k·up``. Stencils with nine rays follow Goodin et al. (2018), section 3.2.1: the centre and
eight points on a ring of radius √2·tan(γ/2)/4 for a circular spot. That is 0.35 of the spot's radius tan(γ/2);
`full` puts the ring on the edge of the spot instead.

What a pulse reports of an edge hangs on the share of the spot that lies behind it. So sub-rays that stand for the whole
spot shall have the right share behind every straight line: `even` places as many as are asked for in a lattice over a
rectangle, each the middle of a column and of a row of its own, and on a spiral of the golden angle over a disc (Vogel 1979).
The first points of a sequence, which serve for any number, leave up to twice that error.

The light is not the same all over the spot: flat it is what a bar of a laser diode images, Gaussian what a fibre or a
single mode does. A Gaussian spot is given to where its light has fallen to 1/e² (ISO 11146), and sub-ray k carries
exp(−2ρ²) of it, ρ its distance from the axis as a share of that radius. All weights of a pulse make 1.

A halo is what optics and window scatter around the beam, a small share of the light over a wide angle. A bright
reflector beside the beam answers to it: that is blooming.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tussock.arrays import sealed
from tussock.settings import Settings

__all__ = ["Beam"]

_PROBES = 8
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
Divergence = Annotated[float, Field(ge=0.0, lt=1500.0)]


class Beam(Settings):
    """The spot of one pulse and how it is sampled.

    >>> tussock.Beam(divergence_horizontal_mrad=3.0, divergence_vertical_mrad=1.5, rays=9).rays
    9
    """

    shape: Literal["circle", "rectangle", "ellipse"] = "circle"
    divergence_horizontal_mrad: Divergence = 0.0
    """full angle, edge to edge [mrad]"""
    divergence_vertical_mrad: Divergence = 0.0
    """full angle, edge to edge [mrad]"""
    exit_mm: Annotated[float, Field(gt=0.0, le=1000.0)] = 11.0
    """width of the beam where it leaves the sensor: what single drops near by are measured against. 11 mm is the side of
    a square as large as a VLP-16's 12.7 by 9.5 mm"""
    rays: Annotated[int, Field(ge=1, le=1024)] = 1
    """sub-rays a pulse; 1 is the beam's axis alone"""
    sampling: Literal["stencil", "full", "even", "sequence", "random"] = "stencil"
    """stencil: the nine points of MAVS; full: the same nine points out to the spot's edge; even: as many points as there
    are rays, spread evenly; sequence: the first points of a sequence that fills the spot, so that more of them only
    add to those that were there; random: the same, sampled anew for every pulse"""

    adaptive: bool = False
    """trace eight sub-rays, and the others only where those do not meet one surface; no effect on fewer than sixteen"""

    profile: Literal["flat", "gaussian"] = "flat"
    """how the light is spread over the spot; gaussian: the divergence is that at 1/e² of the axis"""
    halo_share: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """share of the light that is scattered around the beam; 0: none"""
    halo_mrad: Annotated[float, Field(gt=0.0, lt=1500.0)] = 20.0
    """full angle of the halo, edge to edge [mrad]"""
    halo_rays: Annotated[int, Field(ge=1, le=256)] = 16
    """sub-rays that sample the halo, besides the beam's own"""

    @model_validator(mode="after")
    def _halo_of_a_fixed_stencil(self) -> Beam:
        if self.halo_share > 0 and self.sampling == "random":
            raise ValueError("halo_share goes with a sampling that is the same for every pulse, not with 'random'")
        return self

    @model_validator(mode="after")
    def _adapting(self) -> Beam:
        if self.adaptive and self.sampling != "sequence":
            raise ValueError(f"adaptive goes with sampling = 'sequence', not with {self.sampling!r}")
        if self.adaptive and self.halo_share > 0:
            raise ValueError("adaptive goes with halo_share = 0: what is beside a beam is not seen by it")
        return self

    @property
    def probes(self) -> int:
        """Sub-rays that every pulse has; the others only where a spot is torn (`tussock.pulse.adaptive`)."""
        return _PROBES if self.adaptive and self.rays >= 2 * _PROBES else self.all_rays

    @property
    def half_sizes(self) -> tuple[float, float]:
        """Half the width and half the height of the spot one metre ahead [m]: tan(γ/2)."""
        across, up = self.divergence_horizontal_mrad, self.divergence_vertical_mrad
        return float(np.tan(across * 5e-4)), float(np.tan(up * 5e-4))

    @property
    def all_rays(self) -> int:
        """Sub-rays of a pulse, those of the halo included."""
        return self.rays + (self.halo_rays if self.halo_share > 0 else 0)

    def stencil(self) -> NDArray[np.float32]:
        """Offsets (horizontal, vertical) of the sub-rays one metre ahead [m], shape (all_rays, 2)."""
        offsets = self._spot() * np.array(self.half_sizes)
        if self.halo_share > 0:
            halo = spread_over_spot("circle", _additive_sequence(self.halo_rays)) * np.tan(self.halo_mrad * 5e-4)
            offsets = np.concatenate([offsets, halo])
        return offsets.astype(np.float32)

    def weights(self) -> NDArray[np.float32]:
        """The share of the pulse that each sub-ray carries, shape (all_rays,); they make 1."""
        weights = np.ones(self.rays)
        if self.profile == "gaussian" and self.sampling != "random":
            weights = np.exp(-2.0 * (self._spot() ** 2).sum(1))
        weights *= (1.0 - self.halo_share) / (weights.sum() if self.sampling != "random" else self._drawn_sum())
        if self.halo_share > 0:
            weights = np.concatenate([weights, np.full(self.halo_rays, self.halo_share / self.halo_rays)])
        return weights.astype(np.float32)

    def _drawn_sum(self) -> float:
        """What places drawn evenly over the spot weigh together on average, where each weighs exp(−2ρ²)."""
        if self.profile == "flat":
            return float(self.rays)
        along = math.sqrt(math.pi / 8) * math.erf(math.sqrt(2))  # the mean of exp(−2x²) over 0 to 1
        return self.rays * (along**2 if self.shape == "rectangle" else (1 - math.exp(-2)) / 2)

    def _spot(self) -> NDArray[np.float64]:
        """The sub-rays on the unit spot, shape (rays, 2)."""
        if self.rays == 1:
            return np.zeros((1, 2))
        if self.rays == 9 and self.sampling in ("stencil", "full"):
            return _nine_points(self.shape) * (np.sqrt(2) / 4 if self.sampling == "stencil" else 1.0)
        if self.sampling == "even":
            return _even_places(self.shape, self.rays)
        return spread_over_spot(self.shape, _additive_sequence(self.rays))


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


@cache
def _even_places(shape: str, count: int) -> NDArray[np.float64]:
    """Points of the unit spot that stand for as much of its area each, shape (count, 2)."""
    if shape == "rectangle":
        return sealed(spread_over_spot(shape, _lattice(count)))
    number = np.arange(count)
    spiral = spread_over_spot(shape, np.stack([(number + 0.5) / count, number * _GOLDEN % 1.0], 1))
    spiral -= spiral.mean(0)  # on the axis on average: slanting ground is met at the axis' range
    # Sixteen that follow each other are traced together: a sector of the spot is narrower than a ring.
    return sealed(spiral[np.argsort(np.arctan2(spiral[:, 1], spiral[:, 0]), kind="stable")])


def _lattice(count: int) -> NDArray[np.float64]:
    """The lattice of ``count`` points in the unit square whose nearest neighbours are farthest apart, shape (count, 2).

    Point i lies in column i and in row i·g mod count.
    """
    number = np.arange(count)
    step = 1
    if count > 2:
        steps = np.arange(1, count // 2 + 1)
        column = np.minimum(number, count - number)[1:, None]
        row = number[1:, None] * steps % count
        nearest = (column**2 + np.minimum(row, count - row) ** 2).min(0)
        step = int(steps[np.where(np.gcd(steps, count) == 1, nearest, 0).argmax()])
    return (np.stack([number, number * step % count], 1) + 0.5) / count


def spread_over_spot(shape: str, unit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Map points of the unit square evenly onto the unit spot, shape (n, 2)."""
    if shape == "rectangle":
        return 2.0 * unit - 1.0
    radius, angle = np.sqrt(unit[:, 0]), 2 * np.pi * unit[:, 1]
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
