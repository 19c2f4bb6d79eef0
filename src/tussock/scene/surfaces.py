"""Surfaces by name, as a LIDAR of 905 nm sees them, and how they change towards 1064 and 1550 nm.

Leaves are bright in the near infrared: water and cell walls scatter what chlorophyll no longer absorbs, and a
green leaf reflects about 0.45 of it (the near-infrared plateau of PROSPECT, Jacquemoud and Baret 1990). At 1550 nm
the water in it absorbs, and little more than half of that is left; what it lets through is as much again. Litter
and bark are nearly as bright, soil is darker (ranges in Asner 1998, "Biophysical and biochemical sources of
variability in canopy reflectance"). These are middle values for dry surfaces met head-on; a wet or an old one
may differ by a third. A scene file overrides any of them under ``[materials.NAME]``.

The factors of leaves are those of PROSPECT-D (Feret et al. 2017) with structure N, water Cw and dry matter Cm
[g/cm²] as named in `SPECTRA_SOURCES`, and 40 µg/cm² of chlorophyll.
"""

from __future__ import annotations

from tussock.scene.material import Band, Material

__all__ = ["SOURCES", "SPECTRA_SOURCES", "SURFACES"]


def _towards(at_1064: float, at_1550: float, through_1064: float = 1.0, through_1550: float = 1.0) -> tuple[Band, ...]:
    """Factors of the reflectance, and of what a leaf lets through, at 1064 and 1550 nm."""
    return (
        Band(wavelength_nm=1064.0, reflectance=at_1064, leaf_transmission=through_1064),
        Band(wavelength_nm=1550.0, reflectance=at_1550, leaf_transmission=through_1550),
    )


SURFACES: dict[str, Material] = {
    surface.name: surface
    for surface in (
        Material(
            name="grass",
            reflectance=0.45,
            leaf_transmission=0.48,
            spectrum=_towards(0.99, 0.53, 1.0, 0.64),
            color=(0.10, 0.24, 0.04),
            label="grass",
            translucency=0.6,
            variation=0.5,
        ),
        Material(
            name="dry-grass",
            reflectance=0.40,
            leaf_transmission=0.31,
            spectrum=_towards(1.02, 0.87, 1.04, 0.97),
            color=(0.42, 0.34, 0.15),
            label="grass",
            translucency=0.4,
            variation=0.4,
        ),
        Material(
            name="leaf",
            reflectance=0.45,
            leaf_transmission=0.47,
            spectrum=_towards(0.99, 0.57, 1.0, 0.68),
            color=(0.07, 0.19, 0.03),
            label="leaf",
            translucency=0.6,
            variation=0.4,
        ),
        Material(
            name="bark",
            reflectance=0.35,
            spectrum=_towards(1.1, 1.25),
            color=(0.13, 0.09, 0.06),
            label="trunk",
            variation=0.3,
        ),
        Material(
            name="branch",
            reflectance=0.35,
            spectrum=_towards(1.1, 1.25),
            color=(0.15, 0.10, 0.06),
            label="branch",
            variation=0.2,
        ),
        Material(
            name="soil",
            reflectance=0.25,
            spectrum=_towards(1.1, 1.4),
            color=(0.18, 0.12, 0.07),
            label="terrain",
            variation=0.4,
        ),
        Material(
            name="concrete", reflectance=0.35, spectrum=_towards(1.02, 1.05), color=(0.45, 0.44, 0.42), variation=0.15
        ),
        Material(
            name="asphalt",
            reflectance=0.15,
            spectrum=_towards(1.05, 1.2),
            color=(0.06, 0.06, 0.06),
            label="road",
            variation=0.15,
        ),
        Material(
            name="needle",
            reflectance=0.40,
            leaf_transmission=0.25,
            spectrum=_towards(0.99, 0.45, 1.0, 0.41),
            color=(0.03, 0.11, 0.03),
            label="leaf",
            translucency=0.3,
            variation=0.4,
        ),
        Material(
            name="reed",
            reflectance=0.42,
            leaf_transmission=0.20,
            spectrum=_towards(1.0, 0.7, 1.0, 0.8),
            color=(0.30, 0.30, 0.10),
            label="stem",
            translucency=0.4,
            variation=0.3,
        ),
        Material(name="root", reflectance=0.30, color=(0.16, 0.11, 0.07), label="root", variation=0.3),
        Material(
            name="litter",
            reflectance=0.38,
            spectrum=_towards(1.1, 1.15),
            color=(0.20, 0.13, 0.06),
            label="terrain",
            variation=0.5,
        ),
        Material(
            name="rock",
            reflectance=0.30,
            spectrum=_towards(1.05, 1.15),
            color=(0.25, 0.24, 0.23),
            label="rock",
            variation=0.3,
        ),
        Material(
            name="gravel",
            reflectance=0.28,
            spectrum=_towards(1.05, 1.15),
            color=(0.27, 0.21, 0.14),
            label="terrain",
            variation=0.3,
        ),
        Material(
            name="snow",
            reflectance=0.87,
            spectrum=(
                Band(wavelength_nm=850.0, reflectance=1.04),
                Band(wavelength_nm=1064.0, reflectance=0.88),
                Band(wavelength_nm=1300.0, reflectance=0.61),
                Band(wavelength_nm=1550.0, reflectance=0.06),
            ),
            color=(0.88, 0.90, 0.93),
            label="terrain",
            variation=0.05,
        ),
        Material(name="marking", reflectance=0.75, color=(0.85, 0.85, 0.82), label="lane-marking"),
        Material(name="paving", reflectance=0.30, color=(0.33, 0.32, 0.31), label="sidewalk", variation=0.15),
        Material(
            name="brick",
            reflectance=0.40,
            spectrum=_towards(1.05, 1.15),
            color=(0.38, 0.13, 0.08),
            label="wall",
            variation=0.3,
        ),
        Material(name="rubber", reflectance=0.06, color=(0.02, 0.02, 0.02)),
        Material(name="chrome", reflectance=0.20, specular=0.5, shininess=60.0, color=(0.55, 0.55, 0.56)),
        Material(name="windscreen", reflectance=0.03, specular=0.05, transmission=0.80, color=(0.05, 0.07, 0.08)),
        Material(name="tail-light", reflectance=0.15, retro=30.0, color=(0.50, 0.02, 0.02)),
        Material(name="car-paint", reflectance=0.25, specular=0.45, shininess=60.0, color=(0.30, 0.02, 0.02)),
        Material(name="retro-sheet", reflectance=0.3, retro=220.0, color=(0.8, 0.8, 0.8), label="traffic-sign"),
        Material(name="glass", reflectance=0.01, mirror=0.08, transmission=0.83, color=(0.6,) * 3, label="glass"),
        Material(name="mirror", reflectance=0.0, mirror=0.9, color=(0.7, 0.7, 0.75), label="mirror"),
    )
}

SOURCES: dict[str, str] = {
    "grass": "Near-infrared plateau of a green leaf, PROSPECT (Jacquemoud and Baret 1990).",
    "dry-grass": "Dry litter in Asner 1998, Biophysical and biochemical sources of variability (unverified).",
    "leaf": "Near-infrared plateau of a green leaf, PROSPECT (Jacquemoud and Baret 1990).",
    "bark": "Woody stems in Asner 1998 (unverified).",
    "branch": "As bark.",
    "soil": "Dry mineral soils in Asner 1998, middle of a wide range (unverified).",
    "concrete": "Paving concrete of the ECOSTRESS library (Meerdink et al. 2019), middle value (unverified).",
    "asphalt": "Construction asphalt of the ECOSTRESS library (Meerdink et al. 2019), middle value (unverified).",
    "car-paint": "Chosen by us: a red body colour under a clear coat, as a lobe of Phong about 10 degrees wide.",
    "retro-sheet": "ASTM D4956 type I, white: 70 cd/lx/m2 (unverified); a white wall has 1/pi, so 220 times as much.",
    "glass": "Fresnel, two faces of index 1.52 met head-on: 0.043 each; 0.08 absorbed, the rest passes. One sheet.",
    "mirror": "Chosen by us: a silvered mirror behind glass turns back about nine tenths and scatters nothing.",
    "needle": "Chosen by us, beside its neighbours in this table.",
    "reed": "Chosen by us, beside its neighbours in this table.",
    "root": "Chosen by us, beside its neighbours in this table.",
    "litter": "Chosen by us, beside its neighbours in this table.",
    "rock": "Chosen by us, beside its neighbours in this table.",
    "gravel": "Chosen by us, beside its neighbours in this table.",
    "snow": "Wiscombe and Warren 1980 with Warren and Brandt's ice of 2008: new snow, grains of 0.05 mm, head-on, clean.",
    "marking": "Chosen by us, beside its neighbours in this table.",
    "paving": "Chosen by us, beside its neighbours in this table.",
    "brick": "Chosen by us, beside its neighbours in this table.",
    "rubber": "Chosen by us, beside its neighbours in this table.",
    "chrome": "Chosen by us, beside its neighbours in this table.",
    "windscreen": "Chosen by us, beside its neighbours in this table.",
    "tail-light": "Chosen by us, beside its neighbours in this table.",
}
"""where each surface's numbers come from"""

SPECTRA_SOURCES: dict[str, str] = {
    "grass": "PROSPECT-D, N 1.5, Cw 0.015, Cm 0.006: 0.453, 0.448, 0.242; through 0.487, 0.489, 0.310.",
    "leaf": "PROSPECT-D, N 1.5, Cw 0.012, Cm 0.009: 0.441, 0.436, 0.252; through 0.474, 0.477, 0.321.",
    "needle": "PROSPECT-D, N 2.4, Cw 0.025, Cm 0.020: 0.511, 0.506, 0.232; through 0.317, 0.319, 0.131; all times 0.8.",
    "dry-grass": "PROSPECT-D, N 2.0, Cw 0.0005, Cm 0.009, brown 0.6: 0.501, 0.511, 0.436; through 0.390, 0.406, 0.380; all times 0.8.",
    "reed": "Chosen by us, between grass and dry grass.",
    "bark": "Bark grows brighter towards 1550 nm (Asner 1998, woody stems; middle value, unverified).",
    "branch": "As bark.",
    "soil": "Dry mineral soils grow brighter towards 1550 nm (Asner 1998; middle value, unverified).",
    "litter": "Dry litter in Asner 1998 (middle value, unverified).",
    "concrete": "Paving concrete of the ECOSTRESS library (Meerdink et al. 2019), middle value (unverified).",
    "asphalt": "Construction asphalt of the ECOSTRESS library (Meerdink et al. 2019), middle value (unverified).",
    "gravel": "As soil and rock, chosen by us.",
    "rock": "Chosen by us: most rocks grow a little brighter.",
    "snow": "As its reflectance: 0.907, 0.870, 0.767, 0.533 and 0.052 at 850, 905, 1064, 1300 and 1550 nm.",
    "brick": "Red brick of the ECOSTRESS library (Meerdink et al. 2019), middle value (unverified).",
}
"""where the factors at 1064 and 1550 nm come from; surfaces without an entry are taken as grey"""
