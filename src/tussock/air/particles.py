"""Rain and snow: particles with a law of sizes, from which everything else follows.

Both laws are N(D) = N₀·exp(−ΛD) [1/(m³·mm)], R the rate as water [mm/h]:

    rain   N₀ = 8000,           Λ = 4.1·R^−0.21 /mm     Marshall and Palmer (1948), J. Meteor. 5, 165-166
    snow   N₀ = 3800·R^−0.87,   Λ = 2.55·R^−0.48 /mm    Gunn and Marshall (1958), J. Meteor. 15, 452-461

Gunn and Marshall's D is that of the drop a flake melts to. A flake of density ρ_s is (1/ρ_s)^⅓ times as wide; 0.1 g/cm³
is that of fresh aggregates, 2.15 times. Both are far larger than the wavelength, so each takes Q = 2 times its shadow out
of the beam (van de Hulst 1957, ch. 8), and

    α = Q·(π/4)·∫D²·N(D) dD = Q·(π/2)·N₀/Λ³,

for rain 3.65·10⁻⁴·R^0.63 /m; Carbonneau's fit to measurements, 1.076·R^0.67 dB/km, is 2.5·10⁻⁴·R^0.67 /m.

What a particle sends back, as a share of what a white wall of its size would: of a drop (|S₁|² + |S₂|²)/2x² of Mie's
theory, averaged over the sizes and over 4 mrad about straight back, what a lens of 4 cm spans at 5 m (`DROP_REFLECTIVITY`;
made with miepython 3.3 and the index of water of Hale and Querry 1973, Appl. Opt. 12, 555-563; a test makes it again);
at 1550 nm water is so dark that little but the front of a drop shines. The figures are those of 40 mm/h, whose sizes are about
those that are noticed in weaker rain: over all sizes of 10 mm/h they are 0.45 at 850, 0.62 at 905 and 0.053 at 1550 nm, and of
drops above 1 mm 0.35, 0.57 and 0.026. Of a flake it is a quarter where ice is clear, and
less at 1550 nm (`tussock.air.ice`).

Fall speeds [m/s]: drops 9.65 − 10.3·exp(−0.6·D) (Atlas, Srivastava and Sekhon 1973, Rev. Geophys. 11, 1-35), flakes 1
to 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.air.ice import flake_reflectivity
from tussock.air.kinds import Kind

__all__ = [
    "DROP_REFLECTIVITY", "Q_EXTINCTION", "SizeLaw", "carbonneau_extinction", "fall_speed", "rain_law", "snow_law",
]  # fmt: skip

Q_EXTINCTION = 2.0
DROP_REFLECTIVITY: dict[float, float] = {
    532.0: 0.14,
    850.0: 0.38,
    905.0: 0.59,
    940.0: 0.61,
    1064.0: 0.83,
    1550.0: 0.038,
}
"""what a drop sends back of a white wall of its size, by the wavelength [nm]"""


class SizeLaw(NamedTuple):
    """N(D) = intercept·exp(−slope·D) of particles of one kind."""

    kind: Kind
    intercept: float
    """N₀ [1/(m³·mm)]"""
    slope: float
    """Λ [1/mm]"""
    density_g_cm3: float = 1.0
    """of a particle"""

    @property
    def number(self) -> float:
        """particles in a cubic metre"""
        return self.intercept / self.slope

    @property
    def extinction(self) -> float:
        """α [1/m]"""
        return Q_EXTINCTION * math.pi / 2 * self.intercept / self.slope**3 * 1e-6

    def shadow_above(self, diameter_mm: ArrayLike) -> NDArray[np.float64]:
        """(π/4)·∫D²·N(D) dD over the diameters from some on [1/m]."""
        d = np.asarray(diameter_mm, float)
        x = self.slope * d
        return np.asarray(math.pi / 4 * self.intercept / self.slope**3 * np.exp(-x) * (x * x + 2 * x + 2) * 1e-6)

    def shadow_squared_below(self, diameter_mm: ArrayLike) -> NDArray[np.float64]:
        """(π/4)²·∫D⁴·N(D) dD over the diameters up to some [m⁴/m³]."""
        x = self.slope * np.asarray(diameter_mm, float)
        above = np.exp(-x) * (((x + 4) * x + 12) * x * x + 24 * x + 24)
        return np.asarray((math.pi / 4) ** 2 * self.intercept / self.slope**5 * (24 - above) * 1e-12)

    def reflectivity(self, wavelength_nm: float) -> float:
        """What a particle sends back of a white wall of its size."""
        if self.kind == Kind.SNOW:
            return flake_reflectivity(wavelength_nm, self.slope, self.density_g_cm3)
        known = sorted(DROP_REFLECTIVITY)
        return float(np.interp(wavelength_nm, known, [DROP_REFLECTIVITY[nm] for nm in known]))


def rain_law(rate_mm_h: float) -> SizeLaw:
    """Marshall and Palmer's law."""
    return SizeLaw(Kind.RAIN, 8000.0, 4.1 * rate_mm_h**-0.21)


def snow_law(rate_mm_h: float, flake_density_g_cm3: float = 0.1) -> SizeLaw:
    """Gunn and Marshall's law, of the flakes' own diameters."""
    wider = flake_density_g_cm3 ** (-1.0 / 3.0)
    intercept, slope = 3800.0 * rate_mm_h**-0.87 / wider, 2.55 * rate_mm_h**-0.48 / wider
    return SizeLaw(Kind.SNOW, intercept, slope, flake_density_g_cm3)


def carbonneau_extinction(rate_mm_h: float) -> float:
    """α of rain as measured, 1.076·R^0.67 dB/km, in 1/m."""
    return 1.076 * rate_mm_h**0.67 * math.log(10.0) / 10.0 / 1000.0


def fall_speed(kind: Kind, diameter_mm: ArrayLike) -> NDArray[np.float64]:
    """[m/s], downwards."""
    d = np.asarray(diameter_mm, float)
    if kind == Kind.SNOW:
        return np.clip(0.8 + 0.15 * d, 1.0, 2.0)
    return np.maximum(9.65 - 10.3 * np.exp(-0.6 * d), 0.1)
