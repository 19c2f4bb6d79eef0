"""What the returns of a volume say of it besides where they are: their label and their colour.

A volume has the label of most of its returns; those without label count as one more label, 0, so that one labelled return
among many others names nothing. Of equally many the lowest number wins. Its colour is the mean of the colours, as light
adds up: the mean of sRGB values after they are made linear.

All that is added up is whole numbers, so it does not matter how the pulses are cut into parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.scene.labels import LABELS

__all__ = ["Knowledge", "known_names", "linear_of_srgb", "mean_colors", "most_labels", "nearest_seen", "srgb_of_linear"]

_STEP = 65536
_LIGHT = 2.0**20
"""what stands for white, in sums"""


class Knowledge:
    """Counts labels and adds up colours of the returns in ``volumes`` volumes, part by part."""

    def __init__(self, volumes: int) -> None:
        self._volumes = volumes
        self._keys, self._counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._light: NDArray[np.int64] | None = None

    def add(self, pulses: MeasuredPulses, volumes: NDArray[np.int64]) -> None:
        """Pulses that ended in ``volumes`` (n,), −1 for none."""
        named = (volumes >= 0) & (pulses.labels > 0)
        if named.any():
            keys, counts = np.unique(volumes[named].astype(np.int64) * _STEP + pulses.labels[named], return_counts=True)
            both, where = np.unique(np.concatenate([self._keys, keys]), return_inverse=True)
            total = np.zeros(len(both), np.int64)
            np.add.at(total, where.ravel(), np.concatenate([self._counts, counts]))
            self._keys, self._counts = both, total
        seen = (volumes >= 0) & (pulses.colors[:, 3] > 0)
        if seen.any():
            if self._light is None:
                self._light = np.zeros((self._volumes, 4), np.int64)
            light = np.round(linear_of_srgb(pulses.colors[seen, :3]) * _LIGHT).astype(np.int64)
            np.add.at(self._light, volumes[seen], np.concatenate([light, np.ones((len(light), 1), np.int64)], 1))

    def totals(self) -> dict[str, NDArray[Any]]:
        """What was found, as arrays that can be kept."""
        light = np.zeros((0, 4), np.int64) if self._light is None else self._light
        return {"label_keys": self._keys, "label_counts": self._counts, "light": light}


def most_labels(found: dict[str, NDArray[Any]], returns: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The label of most returns of each volume, which has so many ``returns`` (n,); no rows where none has a label."""
    keys, counts = found["label_keys"], found["label_counts"]
    if not len(keys):
        return np.zeros(0, np.uint16)
    volume, label = keys // _STEP, keys % _STEP
    without = returns - np.bincount(volume, counts, len(returns)).astype(np.int64)
    order = np.lexsort((label, -counts, volume))
    first = order[np.flatnonzero(np.diff(volume[order], prepend=-1))]
    labels = np.zeros(len(returns), np.uint16)
    labels[volume[first]] = np.where(counts[first] > without[volume[first]], label[first], 0)
    return labels


def mean_colors(found: dict[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """The mean colour of the returns of each volume, shape (n, 4) as `Volumes.colors`; no rows where none has any."""
    light = found["light"]
    count = light[:, 3:]
    mean = light[:, :3] / np.maximum(count, 1) / _LIGHT
    return np.concatenate([srgb_of_linear(mean) * (count > 0), np.where(count > 0, 255, 0)], 1).astype(np.uint8)


def nearest_seen(places: NDArray[np.float64], filled: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each volume the one that tells what it is: itself, or the nearest with returns for one that was filled in, (n,)."""
    like = np.arange(len(places))
    seen = np.flatnonzero(~filled)
    if len(seen) and filled.any():
        like[filled] = seen[cKDTree(places[seen]).query(places[filled])[1]]
    return like


def known_names(labels: NDArray[np.uint16], names: dict[int, str]) -> dict[str, int]:
    """Number by name of the labels that are there, where they have names."""
    named = {number: name for name, number in LABELS.items()} | names
    return {named[number]: number for number in np.unique(labels).tolist() if number and number in named}


def linear_of_srgb(bytes_: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Light, 0 to 1, of sRGB bytes (IEC 61966-2-1)."""
    s = bytes_ / 255.0
    return np.asarray(np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4))


def srgb_of_linear(light: NDArray[np.float64]) -> NDArray[np.uint8]:
    """sRGB bytes of light, 0 to 1."""
    l = np.clip(light, 0, 1)
    s = np.where(l <= 0.0031308, 12.92 * l, 1.055 * l ** (1 / 2.4) - 0.055)
    return np.round(255 * s).astype(np.uint8)
