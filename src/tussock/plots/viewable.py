"""Depth, labels, instances and normals as colours, for people to look at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.plots.frame import LABEL_COLORS, SPARE_COLORS

__all__ = ["depth_rgb", "instance_rgb", "label_rgb", "normal_rgb", "range_colors"]

Rgb = NDArray[np.uint8]


def depth_rgb(depth: NDArray[np.float32], *, nearest: float | None = None, farthest: float | None = None) -> Rgb:
    """Near is warm, far is cool, nothing is black; the scale is that of inverse depth, as eyes have it.

    >>> tussock.depth_rgb(np.ones((4, 6), np.float32)).shape
    (4, 6, 3)
    """
    seen = np.isfinite(depth) & (depth > 0)
    out = np.zeros((*depth.shape, 3), np.uint8)
    if seen.any():
        low = float(np.percentile(depth[seen], 0.5)) if nearest is None else nearest
        high = float(np.percentile(depth[seen], 99.5)) if farthest is None else farthest
        out[seen] = range_colors(depth[seen], low, high)
    return out


def range_colors(ranges: NDArray[np.floating], low: float, high: float) -> Rgb:
    """sRGB (n, 3) of ranges (n,) [m] between two others."""
    import matplotlib

    inverse = 1.0 / np.clip(ranges.astype(np.float64), max(low, 1e-6), max(high, low + 1e-6))
    near, far = 1.0 / max(low, 1e-6), 1.0 / max(high, low + 1e-6)
    share = (inverse - far) / max(near - far, 1e-12)
    table = (255 * matplotlib.colormaps["turbo"](np.linspace(0.08, 0.95, 256))[:, :3]).astype(np.uint8)
    return np.asarray(table[(255 * share**0.6).astype(int)])


def label_rgb(labels: NDArray[np.uint16], names: dict[str, int], seen: NDArray[np.bool_] | None = None) -> Rgb:
    """Every class in the colour that it has in all pictures; ``names`` is number by name; nothing is black.

    >>> tussock.label_rgb(np.zeros((4, 6), np.uint16), {"unlabelled": 0}).shape
    (4, 6, 3)
    """
    colors = np.zeros((65536, 3), np.uint8)
    for number in range(256):
        colors[number] = _rgb(SPARE_COLORS[number % len(SPARE_COLORS)])
    for name, number in names.items():
        colors[number] = _rgb(LABEL_COLORS.get(name, SPARE_COLORS[number % len(SPARE_COLORS)]))
    out = colors[labels]
    if seen is not None:
        out[~seen] = 0
    return np.asarray(out)


def instance_rgb(instances: NDArray[np.uint32]) -> Rgb:
    """Every instance in a colour by chance; nothing is black.

    >>> tussock.instance_rgb(np.zeros((4, 6), np.uint32)).shape
    (4, 6, 3)
    """
    from matplotlib.colors import hsv_to_rgb

    numbers, place = np.unique(instances, return_inverse=True)
    # Steps of the golden ratio around the circle of hues keep neighbours apart.
    hue = np.modf(numbers * 0.618033988749895)[0]
    value = np.where(numbers > 0, 0.65 + 0.35 * np.modf(numbers * 0.754877666)[0], 0.0)
    colors = (255 * hsv_to_rgb(np.stack([hue, np.full(len(hue), 0.65), value], 1))).astype(np.uint8)
    return np.asarray(colors[place.reshape(instances.shape)])


def normal_rgb(normals: NDArray[np.float32]) -> Rgb:
    """x, y, z from −1 to 1 as red, green, blue from 0 to 255; nothing is black.

    >>> tussock.normal_rgb(np.zeros((4, 6, 3), np.float32)).shape
    (4, 6, 3)
    """
    seen = np.any(normals != 0, axis=-1, keepdims=True)
    return np.where(seen, np.round(127.5 * (normals + 1)), 0).astype(np.uint8)


def _rgb(text: str) -> tuple[int, int, int]:
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)
