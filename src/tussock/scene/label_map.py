"""Tussock's labels in the class numbers of other people's data sets: one file each in ``label_maps/``.

A file holds the data set's classes with their numbers, their source, and for each label of ours the class that is
nearest to it. Labels of a scene's own are class 0 there: nothing of theirs is known to be meant.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.scene.labels import LABELS

__all__ = ["LabelMap", "label_map_names", "load_label_map"]


@dataclass(frozen=True)
class LabelMap:
    """The classes of one data set, and what our labels are among them."""

    name: str
    source: str
    classes: dict[str, int]
    """number by the data set's own name"""
    labels: dict[str, str]
    """the data set's name by ours"""

    def numbers(self, labels: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """The data set's numbers of our numbers, of any shape; 0 for labels that are not ours."""
        table = np.zeros(65536, np.uint16)
        for name, number in LABELS.items():
            table[number] = self.classes[self.labels[name]] if name in self.labels else 0
        return np.asarray(table[labels])

    def ours(self, numbers: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Our numbers of the data set's, of any shape: of the label of the same name, else of the first that belongs there."""
        table = np.zeros(65536, np.uint16)
        for name, theirs in reversed(self.labels.items()):
            table[self.classes[theirs]] = LABELS[name]
        for name in self.classes.keys() & LABELS.keys():
            table[self.classes[name]] = LABELS[name]
        return np.asarray(table[numbers])


@cache
def label_map_names() -> tuple[str, ...]:
    """The data sets whose class numbers are known, in alphabetical order."""
    folder = files("tussock.scene") / "label_maps"
    return tuple(sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml")))


@cache
def load_label_map(name: str) -> LabelMap:
    """The map of a data set, as ``semantic-kitti``, ``rellis-3d`` or ``goose``."""
    if name not in label_map_names():
        raise InputError(f"no such map; {nearest(name, label_map_names())}", field=f"label map {name!r}")
    text = (files("tussock.scene") / "label_maps" / f"{name}.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return LabelMap(name, table["source"], table["classes"], table["labels"])
