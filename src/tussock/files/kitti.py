"""KITTI: x, y, z and reflectance as 32-bit floats and nothing else; labels in ``name.label`` beside.

A label is a 32-bit number, as in SemanticKITTI: in the lower half the class, by SemanticKITTI's own numbers
(`tussock.scene.label_map`), in the upper half a number for each copy of each object in the file, counted from 1, 0 for
nothing. It is a number of this file: `tussock dataset` keeps them through a sequence. Pulses without return have no
place in it and are left out of both files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import FARTHEST, Contents
from tussock.files.file_format import Beside, Format
from tussock.scene.label_map import load_label_map

__all__ = ["KITTI"]


def _hits(contents: Contents) -> NDArray[np.bool_]:
    return np.isfinite(np.stack([contents.fields[axis] for axis in "xyz"])).all(axis=0)


def save(contents: Contents, path: Path) -> None:
    columns = [contents.fields[name] for name in ("x", "y", "z")]
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


def load(path: Path) -> Contents:
    data = path.read_bytes()
    if not data or len(data) % 16:
        raise InputError("its size is no multiple of 16 bytes above 0; it is cut or not a KITTI file")
    points = np.frombuffer(data, "<f4").reshape(-1, 4)
    # A file without any mark of its own: only the values tell that it is none of these.
    if not (np.abs(points[:, :3]) < FARTHEST).all() or not np.isfinite(points[:, 3]).all():
        raise InputError("holds values that are no coordinates; it is not a KITTI file")
    fields = dict(zip(("x", "y", "z", "intensity"), points.T, strict=True))
    beside = labels_beside(path)
    if beside.exists():
        labels = np.frombuffer(beside.read_bytes(), "<u4")
        if len(labels) != len(points):
            raise InputError(f"{beside}: holds {len(labels)} labels for {len(points)} points")
        fields["label"] = (labels & 0xFFFF).astype(np.uint16)
    return Contents(fields, None)


KITTI = Format(".bin", "KITTI", save, load, beside=(Beside(labels_beside, save_labels),), exact=False)
