"""Wet ground: darker, and under a film of water.

Light that a wet surface scatters is thrown back into the film wherever it meets its top too flat to leave; only 1/n² of
it gets out at a time, the rest is scattered again. Summed up, a dry reflectance A becomes

    A_wet = A / (n²·(1 − A) + A),    n = 1.33

(Ångström 1925, Geografiska Annaler 7, 323-342; Lekner and Dorf 1988, Appl. Opt. 27, 1278-1280, refine it): 0.30 becomes
0.19, white stays white. What the film itself does is in `tussock.signal.film`. Roads and pavings lie smooth under it, soil does
not. Only what is labelled as ground gets wet here; textures keep their brightness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tussock.scene.forms import Forms
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.scene import SceneObject

__all__ = ["wet_material", "wet_reflectance", "wetted"]

_WATER2 = 1.33**2
_SMOOTH = frozenset(("road", "parking", "sidewalk", "lane-marking"))
_ROUGH = frozenset(("other-ground", "terrain", "trail", "rock"))


def wet_reflectance(dry: float) -> float:
    """A_wet of a dry reflectance."""
    return dry / (_WATER2 * (1.0 - dry) + dry)


def wet_material(material: Material, share: float, *, smooth: bool) -> Material:
    """The material with a ``share`` of it wet."""

    def darker(value: float) -> float:
        return (1.0 - share) * value + share * wet_reflectance(value)

    color = material.color and tuple(darker(part) for part in material.color)
    return material.changed(
        reflectance=darker(material.reflectance),
        color=color,
        film=max(material.film, share),
        film_gloss=max(material.film_gloss, share if smooth else 0.0),
    )


def wetted(objects: Sequence[SceneObject], share: float) -> list[SceneObject]:
    """The objects with a ``share`` of what is ground wet; meshes that were shared still are."""
    if share <= 0.0:
        return list(objects)
    made: dict[tuple[int, str], Mesh] = {}

    def wet(mesh: Mesh, label: str) -> Mesh:
        key = (id(mesh), label)
        if key not in made:
            kinds = [material.label or label for material in mesh.materials]
            materials = tuple(
                wet_material(material, share, smooth=kind in _SMOOTH) if kind in _SMOOTH | _ROUGH else material
                for material, kind in zip(mesh.materials, kinds, strict=True)
            )
            made[key] = mesh if materials == mesh.materials else replace(mesh, materials=materials)
        return made[key]

    found = []
    for thing in objects:
        mesh = wet(thing.mesh, thing.label)
        if thing.forms is None:
            found.append(thing if mesh is thing.mesh else replace(thing, mesh=mesh))
            continue
        forms = Forms(thing.forms.times, tuple(wet(one, thing.label) for one in thing.forms.meshes))
        found.append(replace(thing, mesh=mesh, forms=forms))
    return found
