"""KITTI: x, y, z and reflectance as 32-bit floats and nothing else; labels in ``name.label`` beside.

A label is a 32-bit number, as in SemanticKITTI: in the lower half the class, by SemanticKITTI's own numbers
(`tussock.scene.label_map`), in the upper half a number for each copy of each object in the file, counted from 1, 0 for
nothing. It is a number of this file: `tussock dataset` keeps them through a sequence. Pulses without return have no
place in it and are left out of both files.

World coordinates beyond a kilometre would lose their millimetres in 32 bits: such points count from an origin in
whole metres, which ``name.origin.json`` beside states; it is read back with them.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import FARTHEST, Contents
from tussock.files.file_format import Beside, Format
from tussock.limits import read_text
from tussock.scene.label_map import load_label_map

__all__ = ["KITTI"]

_NEAR = 1000.0  # [m] up to here steps of 32 bits are 0.06 mm at most


def _hits(contents: Contents) -> NDArray[np.bool_]:
    return np.isfinite(np.stack([contents.fields[axis] for axis in "xyz"])).all(axis=0)


def save(contents: Contents, path: Path) -> None:
    columns = [contents.fields[name] - by for name, by in zip("xyz", _origin(contents), strict=True)]
    columns.append(np.nan_to_num(contents.fields["intensity"]))
    with path.open("wb") as file:
        file.write(np.stack(columns, 1)[_hits(contents)].astype("<f4").data)


def save_labels(contents: Contents, path: Path) -> None:
    hits = _hits(contents)
    fields = {name: contents.fields[name][hits] for name in ("object_id", "placement", "label")}
    whose = fields["object_id"].astype(np.uint64) << np.uint64(32) | fields["placement"].astype(np.uint64)
    things, number = np.unique(whose[fields["object_id"] > 0], return_inverse=True)
    if len(things) > 0xFFFF:
        raise InputError.of("instances", "a label has room for 65535 of them", len(things))
    instance = np.zeros(len(whose), np.uint32)
    instance[fields["object_id"] > 0] = number + 1
    classes = load_label_map("semantic-kitti").numbers(fields["label"].astype(np.uint16))
    path.write_bytes((instance << 16 | classes).astype("<u4").tobytes())


def labels_beside(path: Path) -> Path:
    """Where the labels of a file are."""
    return path.with_suffix(".label")


def _origin(contents: Contents) -> NDArray[np.float64]:
    """What is taken off the points of a file [m], shape (3,): whole metres, 0 where 32 bits are enough."""
    points = np.stack([contents.fields[axis] for axis in "xyz"])[:, _hits(contents)]
    if np.abs(points).max(initial=0.0) <= _NEAR:
        return np.zeros(3)
    return np.round(np.median(points, axis=1))


def origin_beside(path: Path) -> Path:
    """Where the origin of a file is stated, if it has one."""
    return path.with_suffix(".origin.json")


def save_origin(contents: Contents, path: Path) -> None:
    x, y, z = _origin(contents).tolist()
    path.write_text(json.dumps({"x": x, "y": y, "z": z}) + "\n", encoding="utf-8")


def _load_origin(path: Path) -> NDArray[np.float64] | None:
    if not path.exists():
        return None
    try:
        stated = json.loads(read_text(path))
        origin = np.array([float(stated[axis]) for axis in "xyz"])
    except (ValueError, KeyError, TypeError, RecursionError):
        origin = np.full(3, np.nan)
    if not np.isfinite(origin).all():
        raise InputError("must state x, y and z [m] of the points' origin", source=path)
    return origin


def load(path: Path) -> Contents:
    data = path.read_bytes()
    if not data or len(data) % 16:
        raise InputError("its size is no multiple of 16 bytes above 0; it is cut or not a KITTI file")
    points = np.frombuffer(data, "<f4").reshape(-1, 4)
    # A file without any mark of its own: only the values tell that it is none of these.
    origin = _load_origin(origin_beside(path))
    if not (np.abs(points[:, :3]) < FARTHEST).all() or not np.isfinite(points[:, 3]).all():
        raise InputError("holds values that are no coordinates; it is not a KITTI file")
    fields = dict(zip(("x", "y", "z", "intensity"), points.T, strict=True))
    if origin is not None:
        fields |= {axis: fields[axis] + by for axis, by in zip("xyz", origin, strict=True)}
    in_sequence = path.parent.parent / "labels" / f"{path.stem}.label"  # SemanticKITTI: velodyne/, labels/
    beside = next((file for file in (labels_beside(path), in_sequence) if file.exists()), None)
    if beside is not None:
        labels = np.frombuffer(beside.read_bytes(), "<u4")
        if len(labels) != len(points):
            raise InputError(f"{beside}: holds {len(labels)} labels for {len(points)} points")
        fields["label"] = (labels & 0xFFFF).astype(np.uint16)
    return Contents(fields, None)


def _has_origin(contents: Contents) -> bool:
    return bool(_origin(contents).any())


KITTI = Format(
    ".bin",
    "KITTI",
    save,
    load,
    beside=(Beside(labels_beside, save_labels), Beside(origin_beside, save_origin, _has_origin)),
    exact=False,
)
