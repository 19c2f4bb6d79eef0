"""Surfaces by name, as a LIDAR of 905 nm sees them.

Leaves are bright in the near infrared: water and cell walls scatter what chlorophyll no longer absorbs, and a
green leaf reflects about 0.45 of it (the near-infrared plateau of PROSPECT, Jacquemoud and Baret 1990). Litter
and bark are nearly as bright, soil is darker (ranges in Asner 1998, "Biophysical and biochemical sources of
variability in canopy reflectance"). These are middle values for dry surfaces met head-on; a wet or an old one
may differ by a third. A scene file overrides any of them under ``[materials.NAME]``.
"""

from __future__ import annotations

from tussock.scene.material import Material

__all__ = ["SOURCES", "SURFACES"]

SURFACES: dict[str, Material] = {
    surface.name: surface
    for surface in (
        Material(
            name="grass", reflectance=0.45, color=(0.10, 0.24, 0.04), label="grass", translucency=0.6, variation=0.5
        ),
        Material(
            name="dry-grass",
            reflectance=0.40,
            color=(0.42, 0.34, 0.15),
            label="grass",
            translucency=0.4,
            variation=0.4,
        ),
        Material(
            name="leaf", reflectance=0.45, color=(0.07, 0.19, 0.03), label="leaf", translucency=0.6, variation=0.4
        ),
        Material(name="bark", reflectance=0.35, color=(0.13, 0.09, 0.06), label="trunk", variation=0.3),
        Material(name="branch", reflectance=0.35, color=(0.15, 0.10, 0.06), label="branch", variation=0.2),
        Material(name="soil", reflectance=0.25, color=(0.18, 0.12, 0.07), label="terrain", variation=0.4),
        Material(name="concrete", reflectance=0.35, color=(0.45, 0.44, 0.42), variation=0.15),
        Material(name="asphalt", reflectance=0.15, color=(0.06, 0.06, 0.06), label="road", variation=0.15),
        Material(
            name="needle", reflectance=0.40, color=(0.03, 0.11, 0.03), label="leaf", translucency=0.3, variation=0.4
        ),
        Material(
            name="reed", reflectance=0.42, color=(0.30, 0.30, 0.10), label="stem", translucency=0.4, variation=0.3
        ),
        Material(name="root", reflectance=0.30, color=(0.16, 0.11, 0.07), label="root", variation=0.3),
        Material(name="litter", reflectance=0.38, color=(0.20, 0.13, 0.06), label="terrain", variation=0.5),
        Material(name="rock", reflectance=0.30, color=(0.25, 0.24, 0.23), label="rock", variation=0.3),
        Material(name="gravel", reflectance=0.28, color=(0.27, 0.21, 0.14), label="terrain", variation=0.3),
        Material(name="marking", reflectance=0.75, color=(0.85, 0.85, 0.82), label="lane-marking"),
        Material(name="paving", reflectance=0.30, color=(0.33, 0.32, 0.31), label="sidewalk", variation=0.15),
        Material(name="brick", reflectance=0.40, color=(0.38, 0.13, 0.08), label="wall", variation=0.3),
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
    "marking": "Chosen by us, beside its neighbours in this table.",
    "paving": "Chosen by us, beside its neighbours in this table.",
    "brick": "Chosen by us, beside its neighbours in this table.",
    "rubber": "Chosen by us, beside its neighbours in this table.",
    "chrome": "Chosen by us, beside its neighbours in this table.",
    "windscreen": "Chosen by us, beside its neighbours in this table.",
    "tail-light": "Chosen by us, beside its neighbours in this table.",
}
"""where each surface's numbers come from"""
