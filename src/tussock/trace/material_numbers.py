"""The materials of a scene, numbered, and the tables of what each does to light and to ranges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.response import effective_response
from tussock.scene.scene import PlacedVolumes, SceneObject
from tussock.trace.placed_volumes import volume_models
from tussock.trace.volume_cells import grid_order

__all__ = ["MaterialNumbers"]


class MaterialNumbers:
    """A number for every material of a scene, the same for equal materials."""

    def __init__(
        self, objects: Iterable[SceneObject], volumes: Iterable[PlacedVolumes], labels: dict[str, int]
    ) -> None:
        self.materials: list[Material] = []
        self._of_mesh: dict[int, list[int]] = {}
        self._starts: dict[int, int] = {}
        self._rows: list[NDArray[np.uint16]] = []
        for thing in objects:
            for mesh in (thing.mesh,) if thing.forms is None else thing.forms.meshes:
                self._add(mesh)
        self._labelled = -1
        self._add_volumes(list(volumes), labels)
        self.primitives = np.concatenate(self._rows) if self._rows else np.zeros(0, np.uint16)
        """`HitTables.primitives`"""
        self.optics = np.array([_optics(material) for material in self.materials], np.float32)
        """`HitTables.optics`, at 905 nm"""

    def optics_at(self, wavelength_nm: float) -> NDArray[np.float32]:
        """`HitTables.optics` for light of a wavelength [nm]."""
        if not any(material.spectrum for material in self.materials):
            return self.optics
        return np.array([_optics(material.at(wavelength_nm)) for material in self.materials], np.float32)

    def of(self, thing: SceneObject | PlacedVolumes) -> int:
        """`HitTables.geometry_material` of a thing."""
        if isinstance(thing, PlacedVolumes):
            return self.materials.index(thing.volumes.material) if self._labelled < 0 else -1 - self._labelled
        key = id(thing.mesh)
        return -1 - self._starts[key] if key in self._starts else self._of_mesh[key][0]

    def of_triangles(self, thing: SceneObject) -> NDArray[np.int64]:
        """Number of the material of every triangle of an object."""
        number, count = self.of(thing), len(thing.mesh.triangles)
        return np.full(count, number) if number >= 0 else self.primitives[-1 - number :][:count].astype(np.int64)

    def responses(self, things: Sequence[SceneObject | PlacedVolumes]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """`HitTables.geometry_response` and `HitTables.responses` of things in the order of their geometries."""
        starts = np.full(len(things), -1, np.int64)
        blocks: list[NDArray[np.float32]] = []
        for row, thing in enumerate(things):
            if isinstance(thing, PlacedVolumes):
                continue
            rows = np.zeros((len(self.materials), 2), np.float32)
            for number in self._of_mesh[id(thing.mesh)]:
                material = self.materials[number]
                response = effective_response(material.response, material.label, thing.response, thing.tags)
                if response is not None:
                    rows[number] = response.mean_m, response.sigma_m
            if rows.any():
                starts[row] = len(blocks) * len(self.materials)
                blocks.append(rows)
        return starts, np.concatenate(blocks) if blocks else np.zeros((0, 2), np.float32)

    def _add(self, mesh: Mesh) -> None:
        """Number the materials of a mesh; where it has several, note that of each triangle."""
        if id(mesh) in self._of_mesh:
            return
        numbers = [self._number(material) for material in mesh.materials]
        self._of_mesh[id(mesh)] = numbers
        if mesh.triangle_materials is not None and len(numbers) > 1:
            self._starts[id(mesh)] = sum(map(len, self._rows))
            self._rows.append(np.array(numbers, np.uint16)[mesh.triangle_materials])

    def _add_volumes(self, placed: list[PlacedVolumes], labels: dict[str, int]) -> None:
        """Number the materials of volumes; where some have labels of their own, note the material of each volume.

        A volume with a label is of its model's material, called by that label.
        """
        models, names = volume_models(placed), {number: name for name, number in labels.items()}
        rows = []
        for model in models:
            numbers = np.full(len(model), self._number(model.material), np.uint16)
            for label in np.unique(model.labels[model.labels > 0]).tolist():
                called = model.material.changed(label=names[label])
                numbers[model.labels == label] = self._number(called)
            order = grid_order(model)
            rows.append(numbers if order is None else numbers[order])
        if any(len(model.labels) for model in models):
            self._labelled = sum(map(len, self._rows))
            self._rows += rows

    def _number(self, material: Material) -> int:
        if material not in self.materials:
            self.materials.append(material)
        return self.materials.index(material)


def _optics(material: Material) -> tuple[float, ...]:
    """The row of a material in the table of optics: columns DIFFUSE to LEAF."""
    return (
        material.reflectance,
        material.specular,
        material.shininess,
        material.retro,
        material.mirror,
        material.transmission,
        material.refractive_index,
        material.film,
        material.film_gloss,
        material.leaf_transmission,
    )
