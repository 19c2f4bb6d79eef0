"""Surfaces by name, as a LIDAR of 905 nm sees them.

Leaves are bright in the near infrared: water and cell walls scatter what chlorophyll no longer absorbs. These are
middle values for dry surfaces met head-on; a wet or an old one may differ by a third. `SOURCES` says where each
comes from; "(unverified)" marks figures that are commonly quoted but were not checked in the named work. A scene
file overrides any of them under ``[materials.NAME]``.
"""

from __future__ import annotations

from tussock.scene.material import Material

__all__ = ["SOURCES", "SURFACES"]

SURFACES: dict[str, Material] = {
    surface.name: surface
    for surface in (
        Material(name="grass", reflectance=0.45, color=(0.10, 0.24, 0.04), label="grass"),
        Material(name="dry-grass", reflectance=0.40, color=(0.42, 0.34, 0.15), label="grass"),
        Material(name="leaf", reflectance=0.45, color=(0.07, 0.19, 0.03), label="leaf"),
        Material(name="bark", reflectance=0.35, color=(0.13, 0.09, 0.06), label="trunk"),
        Material(name="branch", reflectance=0.35, color=(0.15, 0.10, 0.06), label="branch"),
        Material(name="soil", reflectance=0.25, color=(0.18, 0.12, 0.07), label="terrain"),
        Material(name="concrete", reflectance=0.35, color=(0.45, 0.44, 0.42)),
        Material(name="asphalt", reflectance=0.15, color=(0.06, 0.06, 0.06), label="road"),
        Material(name="car-paint", reflectance=0.25, specular=0.45, shininess=60.0, color=(0.30, 0.02, 0.02)),
        Material(name="retro-sheet", reflectance=0.3, retro=220.0, color=(0.8, 0.8, 0.8), label="traffic-sign"),
        Material(
            name="glass", reflectance=0.01, mirror=0.08, transmission=0.83, color=(0.5, 0.6, 0.6), label="glass"
        ),
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
}
"""where each surface's numbers come from"""
