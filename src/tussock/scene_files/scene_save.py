"""Writes a scene as a file that `tussock.scene_files.scene_file.load_scene` reads back bit for bit.

Every shape becomes a mesh file, learned volumes a file of volumes, long lists of placements become NPZ files, motion
becomes TUM files, all in a folder named after the scene file; what was grown is written as it has grown. Placements are written as position,
turn and scale where these give back exactly the same numbers, as whole transforms where they would not.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from numpy.typing import NDArray

from tussock.errors import InputError, OutputError
from tussock.scene.labels import LABELS, UNLABELLED
from tussock.scene.material import Material
from tussock.scene.response import VEGETATION
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject
from tussock.scene_files.exchange.gltf_write import save_glb
from tussock.scene_files.exchange.usd_write import save_usd
from tussock.scene_files.mesh_files import save_mesh
from tussock.scene_files.places import placements_of
from tussock.scene_files.volume_file import VOLUME_SUFFIX, save_volumes
from tussock.whole_files import check_writable, whole_file, whole_folder

__all__ = ["check_scene_path", "save_scene"]

_LEFT_OUT = {"name", "texture"}
"""of a material: its key in the file, and what only the mesh file has room for"""
_OTHERS = (".usd", ".usda", ".usdc", ".glb")
_LONGEST_LIST = 16
"""placements that still stand in the scene file itself"""


def check_scene_path(path: Path | str, *, force: bool = False) -> Path:
    """Refuse early what `save_scene` would refuse late."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".toml", *_OTHERS):
        ends = f".toml, {', '.join(_OTHERS[:-1])} or {_OTHERS[-1]}"
        raise OutputError(f"{path}: a scene file ends in {ends}; name it {path.with_suffix('.toml').name}")
    check_writable(path, force=force)
    if suffix in _OTHERS:
        return path
    folder = path.with_suffix("")
    if folder.exists() and not force:
        raise OutputError(f"{folder}: exists already; choose another name or pass force=True")
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file, but the scene's meshes need a folder of this name")
    return path


def save_scene(scene: Scene, path: Path | str, *, force: bool = False) -> None:
    """Write ``scene`` to ``path`` (``.toml``) and its meshes to the folder of the same name beside it.

    Also as USD (.usd, .usda, .usdc) and glTF (.glb), which have no words for motion and volumes.

    >>> scene = tussock.Scene("yard")
    >>> crate = scene.add(tussock.box((1, 1, 1)), name="crate")
    >>> _ = tussock.save_scene(scene, "yard.toml")
    """
    if not scene.everything:
        raise InputError("scene: is empty; add an object first")
    path = check_scene_path(path, force=force)
    if path.suffix.lower() == ".glb":
        return save_glb(scene, path, force=force)
    if path.suffix.lower() in _OTHERS:
        return save_usd(scene, path, force=force)
    folder = path.with_suffix("")
    with whole_file(path, force=force) as temporary, whole_folder(folder, force=force) as growing:
        growing.mkdir()
        table = _table(scene, growing, folder.name)
        temporary.write_text(_compact(tomli_w.dumps(table)), encoding="utf-8")
    return None


def _table(scene: Scene, folder: Path, called: str) -> dict[str, Any]:
    """The scene as plain data; its files are written into ``folder``, which will be ``called`` that."""
    table: dict[str, Any] = {"name": scene.name}
    labels = {name: number for name, number in scene.labels.items() if LABELS.get(name) != number}
    if labels:
        table["labels"] = labels
    materials = _plain_materials(scene)
    if materials:
        table["materials"] = materials
    if scene.weather is not None:
        table["weather"] = scene.weather.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    if scene.wind is not None:
        table["wind"] = scene.wind.model_dump(mode="json", exclude_unset=True)
    table["objects"] = []
    first_with: dict[int, str] = {}
    # In the order of their numbers, so that they have the same ones again.
    for thing in sorted(scene.everything, key=lambda thing: thing.id):
        file = _file_name(thing)
        entry: dict[str, Any] = {"name": thing.name}
        if thing.label != (VEGETATION if isinstance(thing, PlacedVolumes) else UNLABELLED):
            entry["label"] = thing.label
        if thing.tags:
            entry["tags"] = sorted(thing.tags)
        if isinstance(thing, PlacedVolumes):
            if id(thing.volumes) not in first_with:
                first_with[id(thing.volumes)] = f"{called}/{file}{VOLUME_SUFFIX}"
                save_volumes(thing.volumes, folder / f"{file}{VOLUME_SUFFIX}")
            entry["volumes"] = first_with[id(thing.volumes)]
            table["objects"].append(entry | _standing(thing.placements.matrices, folder / f"{file}.npz", called))
            continue
        if thing.response is not None:
            entry["response"] = thing.response.model_dump()
        if id(thing.mesh) in first_with:
            entry["like"] = first_with[id(thing.mesh)]
        else:
            first_with[id(thing.mesh)] = thing.name
            save_mesh(thing.mesh, folder / f"{file}.ply")
            entry["mesh"] = f"{called}/{file}.ply"
        if thing.forms is not None:
            names = [f"{file}-{number:05d}.ply" for number in range(len(thing.forms.meshes))]
            for name, mesh in zip(names, thing.forms.meshes, strict=True):
                save_mesh(mesh, folder / name)
            meshes = [f"{called}/{name}" for name in names]
            entry["forms"] = {"times_s": thing.forms.times.tolist(), "meshes": meshes}
        entry |= _standing(thing.placements.matrices, folder / f"{file}.npz", called)
        if thing.motion is not None:
            thing.motion.save_tum(folder / f"{file}.tum")
            entry["motion"] = {"file": f"{called}/{file}.tum"}
        table["objects"].append(entry)
    return table


def _plain_materials(scene: Scene) -> dict[str, dict[str, Any]]:
    """Materials by name, for people to read and change; the mesh files hold them all the same.

    Where two shapes have different materials of one name, neither is listed: it would change the other.
    """
    versions: dict[str, set[Material]] = {}
    for thing in scene.objects:
        for material in thing.mesh.materials:
            versions.setdefault(material.name, set()).add(material)
    return {
        name: next(iter(kinds)).model_dump(
            mode="json", exclude={"name", "texture"}, exclude_unset=True, exclude_none=True
        )
        for name, kinds in versions.items()
        if len(kinds) == 1
    }


def _standing(matrices: NDArray[np.float64], file: Path, called: str) -> dict[str, Any]:
    """The keys that give back exactly these matrices (n, 3, 4); ``file`` is written where they are many."""
    keys = _plain_keys(matrices) if len(matrices) <= _LONGEST_LIST else None
    if keys is not None:
        return keys
    if len(matrices) == 1:
        return {"placements": {"matrices": matrices.tolist()}}
    np.savez_compressed(file, matrices=matrices)
    return {"placements": {"file": f"{called}/{file.name}"}}


def _plain_keys(matrices: NDArray[np.float64]) -> dict[str, Any] | None:
    """Positions, turns about z and sizes, if they give back exactly these matrices (n, 3, 4)."""
    axes = matrices[:, :, :3]
    positions = matrices[:, :, 3].tolist()
    sizes = np.linalg.norm(axes, axis=1)
    yaw = np.rad2deg(np.arctan2(axes[:, 1, 0], axes[:, 0, 0]))
    # Angles and sizes that people give have few digits: the nearest such number is tried first.
    for digits in (9, None):
        turns, scales = (yaw, sizes) if digits is None else (np.round(yaw, digits), np.round(sizes, digits))
        given: dict[str, Any] = {"positions_m": positions}
        if turns.any():
            given["yaw_deg"] = turns.tolist()
        if (scales != 1).any():
            given["scale"] = [s[0] if s[0] == s[1] == s[2] else s for s in scales.tolist()]
        if (scales > 0).all() and np.array_equal(placements_of(given).matrices, matrices):
            return _single(given) if len(matrices) == 1 else {"placements": given}
    return None


def _single(given: dict[str, Any]) -> dict[str, Any]:
    entry = {"position_m" if key == "positions_m" else key: values[0] for key, values in given.items()}
    if not any(entry["position_m"]):
        del entry["position_m"]
    return entry


def _compact(toml: str) -> str:
    """Short lists on one line each. No string is touched: TOML writes their line breaks as escapes."""
    item = r"(?:[-+.\deinfa]+|\"[^\"\\]*\")"
    short_list = rf"\[\n\s*((?:{item},\n\s*)+)\]"
    return re.sub(short_list, lambda found: "[" + re.sub(r"\n\s*", " ", found[1]).rstrip(" ,") + "]", toml)


def _file_name(thing: SceneObject | PlacedVolumes) -> str:
    """A name that is safe in any file system and unique in the scene."""
    return f"{thing.id:03d}-" + (re.sub(r"[^A-Za-z0-9_-]+", "-", thing.name).strip("-")[:60] or "object")
