"""The labels that learned volumes bring into a scene.

Volumes hold numbers, and the names that those had where they were learned. A number that the scene knows is the scene's
label; one that it does not know becomes a label of the scene's own. A number of its own that the scene calls something else
is refused: two meanings of one number could not be told apart afterwards.
"""

from __future__ import annotations

import numpy as np

from tussock.errors import InputError
from tussock.scene.labels import LABELS
from tussock.scene.volumes import Volumes

__all__ = ["labels_beside"]


def labels_beside(known: dict[str, int], volumes: Volumes) -> dict[str, int]:
    """The labels of ``volumes`` that are not among those ``known``, as numbers by name."""
    names, theirs = _by_number(known), _by_number(volumes.label_names)
    more: dict[str, int] = {}
    for number in np.unique(volumes.labels[volumes.labels > 0]).tolist():
        name = theirs.get(number, f"label-{number}")
        if number not in names:
            more[name if name not in known else f"{name}-{number}"] = number
        elif number not in LABELS.values() and number in theirs and names[number] != name:
            raise InputError.of(
                f"volumes label {number}", f"must be {names[number]!r} as in the scene", name,
                "give the scene's own label another number",
            )  # fmt: skip
    return more


def _by_number(labels: dict[str, int]) -> dict[int, str]:
    return {number: name for name, number in labels.items()}
