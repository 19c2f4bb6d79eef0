"""How dark ice is, by wavelength, and what that leaves of the light that a snowflake sends back.

Warren and Brandt (2008), J. Geophys. Res. 113, D14220 measured and compiled the index n + ik of ice. It absorbs
κ = 4πk/λ: 6 /m at 905 nm and 3,400 /m at 1550 nm, where a third of a millimetre takes two thirds of the light.

A flake is far larger than the wavelength: it takes Q = 2 times its shadow A out of the beam, one half by diffraction, which
goes on ahead, the other half by being met. If what is met goes to all sides alike, A/4π of it comes back along the beam per
steradian, ¼ of what a white wall of that area sends back, and the lidar ratio S = α/β is 2A : A/4π = 8π = 25.1 sr. That
is the 25 sr taken here, and what retrievals of ice clouds began with (Young and Vaughan 2009, J. Atmos. Oceanic Technol.
26, 1105-1119; those of 2018, Atmos. Meas. Tech. 11, 5701-5727, have it higher). No measurement of flakes near the ground
was found. It is hardly below 10 sr, a rough white ball of albedo 0.9 (⅔ of it comes back; Hahner et al. 2022 take 0.9
for a flake), and at 40 sr flakes would be 0.6 times as bright.

Light that comes back has been inside, on a way as long as the flake's mean chord, 2D/3 for a ball, of which the share
ρ_s/ρ_ice is ice. Over the sizes of a law N₀·exp(−ΛD), each counted by its shadow,

    ∫D²·exp(−ΛD − cD) dD / ∫D²·exp(−ΛD) dD = (Λ/(Λ + c))³,   c = κ·(2/3)·ρ_s/ρ_ice.

What the surface itself turns back is not darkened: F = ((n−1)/(n+1))² head-on, of a convex body F/4 of a white wall. Light
that is scattered about inside goes further than the chord, so the darkening is a lower bound.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["ICE_DENSITY", "ICE_INDEX", "ICE_LIDAR_RATIO", "flake_reflectivity", "ice_absorption"]

ICE_DENSITY = 0.917
"""[g/cm³]"""
ICE_LIDAR_RATIO = 25.0
"""[sr] of flakes where ice does not absorb"""
ICE_INDEX: dict[float, tuple[float, float]] = {
    532.0: (1.3117, 1.48e-9),
    850.0: (1.3040, 1.83e-7),
    905.0: (1.3031, 4.32e-7),
    940.0: (1.3025, 5.53e-7),
    1000.0: (1.3015, 1.62e-6),
    1064.0: (1.3004, 1.90e-6),
    1200.0: (1.2980, 6.71e-6),
    1300.0: (1.2961, 1.32e-5),
    1400.0: (1.2939, 1.98e-5),
    1450.0: (1.2927, 2.10e-4),
    1500.0: (1.2917, 5.44e-4),
    1550.0: (1.2906, 4.24e-4),
    1600.0: (1.2893, 2.87e-4),
}
"""n and k of ice by the wavelength [nm], of Warren and Brandt's table at −7 °C"""


def _index(wavelength_nm: float) -> tuple[float, float]:
    """n, and k between the table's rows by its logarithm."""
    known = sorted(ICE_INDEX)
    n = np.interp(wavelength_nm, known, [ICE_INDEX[nm][0] for nm in known])
    k = np.interp(wavelength_nm, known, [math.log(ICE_INDEX[nm][1]) for nm in known])
    return float(n), math.exp(float(k))


def ice_absorption(wavelength_nm: float) -> float:
    """κ [1/mm] of clear ice."""
    return 4 * math.pi * _index(wavelength_nm)[1] / (wavelength_nm * 1e-6)


def flake_reflectivity(wavelength_nm: float, slope: float, density_g_cm3: float) -> float:
    """What a flake sends back of a white wall of its size, over the sizes of a law of slope Λ [1/mm]."""
    n, _ = _index(wavelength_nm)
    skin = ((n - 1) / (n + 1)) ** 2 / 4
    darkening = ice_absorption(wavelength_nm) * 2 / 3 * density_g_cm3 / ICE_DENSITY
    return skin + (2 * math.pi / ICE_LIDAR_RATIO - skin) * (slope / (slope + darkening)) ** 3
