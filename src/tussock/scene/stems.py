"""How plants give way: a stem or a blade as a cantilever beam, rooted at its base and free at its tip.

With the bending stiffness EI, the mass m a metre and the length h, a uniform beam has (Euler–Bernoulli; Blevins,
"Formulas for natural frequency and mode shape", 1979, table 8-1)

    first frequency      f = β² / 2π · √(EI / m h⁴),   β = 1.8751
    tip under the load q u = q h⁴ / 8 EI                                        q [N/m], the same all along
    line                 u(z) = u · ψ(z / h),   ψ(ζ) = ζ² (6 − 4ζ + ζ²) / 3

So what a stem does is settled by f, m and q: u = q β⁴ / (8 m (2πf)²). The load is the air's drag, q = ½ ρ U² · d with d
the breadth that the wind takes hold of, drag coefficient included.

A steady oscillation of the frequency g under a load q̂ cos 2πgt has the gain and the lag of a damped oscillator

    H = 1 / (1 − r² + 2iζr),   r = g / f

and turbulence at the stem's own frequency makes it sway there with the variance (Davenport 1961; EN 1991-1-4, B.2)

    (σ / u)² = (2 I)² · π / 4ζ · f S(f) / σ_U²        I = gusts: drag goes with the square of the speed

Defaults by height, and where they come from:

    grass            f = 1 m/s / h, between the alfalfa (0.69 m, 1.05 Hz) and the wheat (0.68 m, 2.5 Hz) of Py, de Langre and
                     Moulia (J. Fluid Mech. 568, 2006, 425-449); ζ = 0.1: their stalks, and those of Farquhar et al. (J.
                     Appl. Mech. 67, 2000, 496-502), come to rest within a few swings
    shrubs, trees    f = 0.0766 + 3.1219·D / h² with the stem's diameter D [cm] and h [m] (Moore and Maguire, Trees 18,
                     2004, 195-203, from 602 conifers of eight species), with D = 1.5·h; ζ = 0.08: unpruned Douglas firs
                     have 8 % and more, bare stems 1 to 8 % (the same, Trees 19, 2005, 363-373)

That f goes with 1/h among copies of one shape is what both come to for plants of like build; for a uniform stem of one
thickness it would be 1/h², for tapered ones see Spatz and Speck (Am. J. Bot. 89, 2002, 1-11). Masses and breadths are round
numbers of ours: a blade of grass 4 mm broad with 5 g a metre for each metre of its height. So EI is what f and m give, for
a blade of 0.5 m 2 mN m²; whoever knows a plant's own says so (`Stem`, `wind.stems`).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from tussock.settings import Settings

__all__ = ["AIR_DENSITY", "Stem", "bend_shape", "default_stem", "response", "tip_displacement"]

AIR_DENSITY = 1.225
"""[kg/m³] at 15 °C and sea level"""
_BETA = 1.8751040687
_GRASS = "grass"


class Stem(Settings):
    """How an object of a scene bends; all its copies alike but for their sizes.

    >>> import tussock
    >>> reed = tussock.Stem.beam(1.5, stiffness_n_m2=0.5, mass_kg_m=0.02, drag_width_m=0.006)
    >>> round(reed.frequency_hz, 2)
    1.24
    """

    frequency_hz: Annotated[float, Field(gt=0.0, le=1000.0)]
    """of the first mode, for a copy of the shape's own height; larger copies are slower, f ∝ 1/h"""
    mass_kg_m: Annotated[float, Field(gt=0.0, le=1e6)]
    """of a metre of height, with leaves"""
    drag_width_m: Annotated[float, Field(ge=0.0, le=1e4)]
    """breadth that the wind takes hold of, times the drag coefficient"""
    damping: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.1
    """as a share of the critical damping"""

    @classmethod
    def beam(
        cls, length_m: float, stiffness_n_m2: float, mass_kg_m: float, drag_width_m: float, damping: float = 0.1
    ) -> Stem:
        """A uniform beam of a bending stiffness EI [N m²]."""
        frequency = _BETA**2 / (2 * np.pi) * np.sqrt(stiffness_n_m2 / (mass_kg_m * length_m**4))
        return cls(frequency_hz=frequency, mass_kg_m=mass_kg_m, drag_width_m=drag_width_m, damping=damping)


def default_stem(height: float, label: str) -> Stem:
    """The stem of a plant of a ``height`` [m] that is labelled so."""
    if label == _GRASS:
        return Stem(frequency_hz=1.0 / height, mass_kg_m=0.005 * height, drag_width_m=0.004, damping=0.1)
    frequency = 0.0766 + 3.1219 * 1.5 / height
    return Stem(frequency_hz=frequency, mass_kg_m=0.28 * height**2, drag_width_m=0.08 * height, damping=0.08)


def tip_displacement(stem: Stem, frequency: ArrayLike, speed: ArrayLike) -> NDArray[np.float64]:
    """How far [m] a steady wind of a ``speed`` [m/s] at the plant bends a tip, where its ``frequency`` [Hz] is known."""
    load = 0.5 * AIR_DENSITY * np.asarray(speed, float) ** 2 * stem.drag_width_m
    return np.asarray(load * _BETA**4 / (8 * stem.mass_kg_m * (2 * np.pi * np.asarray(frequency, float)) ** 2))


def bend_shape(share: ArrayLike) -> NDArray[np.float64]:
    """ψ of the ``share`` z / h of the height: 0 at the root and below, 1 at the tip."""
    at = np.clip(np.asarray(share, float), 0.0, 1.0)
    return np.asarray(at**2 * (6.0 - 4.0 * at + at**2) / 3.0)


def response(stem: Stem, ratio: ArrayLike) -> NDArray[np.complex128]:
    """H of a load whose frequency is ``ratio`` times the stem's own."""
    r = np.asarray(ratio, float)
    return np.asarray(1.0 / (1.0 - r**2 + 2j * stem.damping * r))
