"""What Tussock adds to the files of others, and what it cannot say in them.

USD and glTF have shapes, materials for pictures, places and instances. What a LIDAR sees of a material, labels, tags and
responses they have no words for: these travel as JSON beside what everybody reads, under the key ``tussock``. Places of
instances are single precision in both formats; the exact ones travel beside them, and count as long as they agree.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.poses import Trajectory
from tussock.scene.labels import UNLABELLED, label_id
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene, SceneObject
from tussock.scene.texture import refuse_outside_texture

__all__ = [
    "SceneWarning",
    "add_object",
    "exact_places",
    "material_text",
    "object_text",
    "read_material",
    "refuse_more",
    "warn",
]

KEY = "tussock"


class SceneWarning(UserWarning):
    """A scene was read, but not all that its file holds."""


def warn(note: str) -> None:
    """Say a note about a scene file as a `SceneWarning`."""
    warnings.warn(note, SceneWarning, stacklevel=3)


def refuse_more(scene: Scene, kind: str, *, motion: bool = False) -> None:
    """Refuse a scene that the format has no words for; ``motion`` where it has some for that."""
    if not scene.everything:
        raise InputError("scene: is empty; add an object first")
    first = next(iter(scene.volumes), None)
    what = "learned volumes" if first else ""
    for thing in scene.objects:
        moves = thing.motion is not None and not motion
        if not what and (moves or thing.forms is not None):
            first, what = thing, "motion" if thing.forms is None else "a shape that changes"  # type: ignore[assignment]
    if first is not None:
        raise InputError(f"object {first.name!r}: {what} cannot be written as {kind}; save the scene as .toml")
    if scene.wind is not None:
        raise InputError(f"wind: cannot be written as {kind}; save the scene as .toml, or without its wind")


def object_text(thing: SceneObject) -> str:
    """What is said of an object, as JSON."""
    said: dict[str, Any] = {"name": thing.name, "label": thing.label, "tags": sorted(thing.tags)}
    if thing.response is not None:
        said["response"] = thing.response.model_dump()
    return json.dumps(said)


def material_text(material: Material) -> str:
    """A material as JSON, all but its texture, for which the format has its own place."""
    return json.dumps(material.model_dump(mode="json", exclude={"texture"}, exclude_unset=True, exclude_none=True))


def read_material(text: Any, texture: Any) -> Material:
    """The material that `material_text` wrote."""
    said = _table(text)
    refuse_outside_texture(said)
    if texture is not None:
        said = {**said, "texture": texture}
    return Material.parse(said, f"material {said.get('name')!r}")


def add_object(
    scene: Scene, mesh: Any, places: NDArray[np.float64], name: str, text: Any, label: str | None,
    motion: Trajectory | None = None,
) -> None:  # fmt: skip
    """Add what a file holds under ``name``; ``text`` is what `object_text` wrote, ``label`` what others say."""
    said = _table(text) if text else {}
    wanted = str(said.get("label") or label or UNLABELLED)
    label_id(wanted, scene.labels)
    response = VegetationResponse.parse(said["response"], "response") if "response" in said else None
    free, number = str(said.get("name") or name), 1
    while free in scene:
        number += 1
        free = f"{said.get('name') or name}-{number}"
    tags = [str(tag) for tag in said.get("tags", ())]
    where = Placements(places)
    scene.add(mesh, name=free, label=wanted, tags=tags, placements=where, response=response, motion=motion)


def exact_places(standard: NDArray[np.float64], exact: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Exact transforms (n, 3, 4) where they say what the standard's do, to their precision: else somebody moved these."""
    if exact is None or exact.shape != standard.shape:
        return standard
    reach = np.abs(standard[:, :, 3]).max(initial=1.0)
    near = np.abs(standard - exact).max(initial=0.0) <= 1e-5 * max(reach, np.abs(standard).max(initial=1.0))
    return exact if near else standard


def _table(text: Any) -> dict[str, Any]:
    try:
        said = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise InputError.of(KEY, "must be a table as JSON", str(text)[:60])
    return said
