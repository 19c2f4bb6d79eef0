"""Surfaces by name, as a LIDAR of 905 nm sees them.

Leaves are bright in the near infrared: water and cell walls scatter what chlorophyll no longer absorbs, and a
green leaf reflects about 0.45 of it (the near-infrared plateau of PROSPECT, Jacquemoud and Baret 1990). Litter
and bark are nearly as bright, soil is darker (ranges in Asner 1998, "Biophysical and biochemical sources of
variability in canopy reflectance"). These are middle values for dry surfaces met head-on; a wet or an old one
may differ by a third. A scene file overrides any of them under ``[materials.NAME]``.
"""

from __future__ import annotations

from tussock.scene.material import Material

__all__ = ["SURFACES"]

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
        Material(name="branch", reflectance=0.35, color=(0.15, 0.10, 0.06), label="branch"),
        Material(name="soil", reflectance=0.25, color=(0.18, 0.12, 0.07), label="terrain", variation=0.4),
        Material(name="concrete", reflectance=0.35, color=(0.45, 0.44, 0.42), variation=0.15),
        Material(name="asphalt", reflectance=0.15, color=(0.06, 0.06, 0.06), label="road", variation=0.15),
    )
}
