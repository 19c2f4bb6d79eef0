"""Class labels: a name for people, a number for files.

Numbers below 100 and from 250 on follow SemanticKITTI, so that label files need no translation; the finer
names that vegetation needs have numbers of their own from 100.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest

__all__ = ["GROUND", "LABELS", "PLANTS", "STUFF", "UNLABELLED", "label_id", "labels_beside"]

UNLABELLED = "unlabelled"

LABELS: dict[str, int] = {
    UNLABELLED: 0,
    "outlier": 1,
    "car": 10,
    "bicycle": 11,
    "bus": 13,
    "motorcycle": 15,
    "truck": 18,
    "other-vehicle": 20,
    "person": 30,
    "bicyclist": 31,
    "motorcyclist": 32,
    "road": 40,
    "parking": 44,
    "sidewalk": 48,
    "other-ground": 49,
    "building": 50,
    "fence": 51,
    "other-structure": 52,
    "lane-marking": 60,
    "vegetation": 70,
    "trunk": 71,
    "terrain": 72,
    "pole": 80,
    "traffic-sign": 81,
    "other-object": 99,
    "grass": 100,
    "leaf": 101,
    "branch": 102,
    "stem": 103,
    "shrub": 104,
    "root": 105,
    "rock": 110,
    "wall": 111,
    "water": 112,
    "mirror": 113,
    "glass": 114,
    "trail": 115,
    "deadwood": 116,
    "animal": 117,
    "tree": 118,
    "rain": 120,
    "snow": 121,
    "fog": 122,
    "dust": 123,
}

STUFF: frozenset[str] = frozenset((
    UNLABELLED, "outlier", "road", "parking", "sidewalk", "other-ground", "building", "fence", "other-structure",
    "lane-marking", "vegetation", "trunk", "terrain", "grass", "leaf", "branch", "stem", "root", "wall", "water",
    "mirror", "glass", "trail", "rain", "snow", "fog", "dust",
))  # fmt: skip
"""labels of what is not counted one by one; everything else is a thing: it gets boxes and instance numbers"""

GROUND: frozenset[str] = frozenset(("road", "parking", "sidewalk", "other-ground", "lane-marking", "terrain", "trail"))
"""labels of what carries a vehicle"""

PLANTS: frozenset[str] = frozenset(("vegetation", "grass", "leaf", "branch", "stem", "shrub", "tree"))
"""labels of what sways in the wind and gives way to a vehicle"""


def label_id(name: str, known: dict[str, int] | None = None) -> int:
    """The number of a label; an unknown one is an `InputError` that names the nearest known one."""
    table = LABELS if known is None else known
    if name not in table:
        raise InputError(f"label {name!r}: unknown label; {nearest(name, table)}")
    return table[name]


def labels_beside(known: dict[str, int], numbers: NDArray[np.uint16], names: dict[str, int]) -> dict[str, int]:
    """The labels that learned volumes bring into a scene beside those ``known``, as numbers by name.

    Volumes hold ``numbers``, and the ``names`` that those had where they were learned. A number that the scene knows is the
    scene's label; one that it does not know becomes a label of its own. A number of its own that the scene calls something
    else is refused: two meanings of one number could not be told apart afterwards.
    """
    ours, theirs = _by_number(known), _by_number(names)
    more: dict[str, int] = {}
    for number in np.unique(numbers[numbers > 0]).tolist():
        name = theirs.get(number, f"label-{number}")
        if number not in ours:
            more[name if name not in known else f"{name}-{number}"] = number
        elif number not in LABELS.values() and number in theirs and ours[number] != name:
            raise InputError.of(
                f"volumes label {number}", f"must be {ours[number]!r} as in the scene", name,
                "give the scene's own label another number",
            )  # fmt: skip
    return more


def _by_number(labels: dict[str, int]) -> dict[int, str]:
    return {number: name for name, number in labels.items()}
