"""Blades of grass: long, narrow, tapering strips that bend over.

A blade leaves its root with some lean and bends further towards its tip; its middle line lies in one upright
plane. The angle from upright grows as ``lean + bend · s^1.5`` over the length s = 0…1, and the width falls as
``1 - s^1.8`` from root to tip. A folded blade has a keel along its middle, as most grasses have, which doubles
its triangles. Blades are surfaces without thickness, seen from both sides. Veins, and collisions between
blades, are left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.arrays import FloatArray
from tussock.scene.sizes import between, whole

__all__ = ["BladeShape", "blades", "rise"]


_KEEL = 0.35
"""depth of the fold as a share of half the width"""


class BladeShape(NamedTuple):
    """How a blade is made of triangles."""

    segments: int
    """along it"""
    folded: bool = True
    """with a keel"""
    tip: float = 0.0
    """width of the tip as a share of the width, 0 for a point"""

    @property
    def triangles(self) -> int:
        """of one blade"""
        return (2 if self.folded else 1) * (2 * self.segments - (0 if self.tip > 0 else 1))


def blades(
    roots: ArrayLike,
    shape: BladeShape,
    *,
    heights: ArrayLike,
    widths: ArrayLike,
    headings: ArrayLike,
    leans: ArrayLike,
    bends: ArrayLike,
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Vertices (k, 3) [m] and triangles (m, 3) of n blades; the triangles of a blade follow one another.

    ``roots`` (n, 3) [m]; ``heights`` (n,) [m] of the highest point above the root; ``widths`` (n,) [m] at the
    root; ``headings`` (n,) [rad], where the blade leans to, counter-clockwise from x; ``leans`` and ``bends``
    (n,) [rad].
    """
    segments, folded, tip = shape
    whole("blade segments", segments, 1)
    between("blade tip", tip, 0.0, 1.0)
    root = np.asarray(roots, float)
    n = len(root)
    height, width, heading, lean, bend = (
        np.broadcast_to(np.asarray(v, float), (n,))[:, None] for v in (heights, widths, headings, leans, bends)
    )
    s = np.linspace(0.0, 1.0, segments + 1)
    out, up = _line(segments, lean, bend)
    length = height / up.max(1, keepdims=True)
    start = np.zeros((n, 1))

    forward = np.concatenate([np.cos(heading), np.sin(heading), start], 1)[:, None, :]
    aside = np.concatenate([-np.sin(heading), np.cos(heading), start], 1)[:, None, :]
    above = np.array([0.0, 0.0, 1.0])
    line = root[:, None] + (length * out)[..., None] * forward + (length * up)[..., None] * above
    half = (width / 2 * (tip + (1 - tip) * (1 - s**1.8)))[..., None]
    rows = [line - half * aside, line + half * aside]
    if folded:
        bent = lean + bend * s**1.5
        under = np.sin(bent)[..., None] * above - np.cos(bent)[..., None] * forward
        rows.insert(1, line - _KEEL * half * under)
    across = len(rows)
    points = np.stack(rows, 2)  # (n, segments + 1, across, 3)
    if tip > 0:
        vertices = points.reshape(n, -1, 3)
    else:
        vertices = np.concatenate([points[:, :-1].reshape(n, -1, 3), line[:, -1:]], 1)

    k, j = np.meshgrid(np.arange(segments), np.arange(across - 1), indexing="ij")
    corner = (k * across + j).ravel()
    quads = np.stack([corner, corner + 1, corner + across + 1, corner + across], 1)
    one = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    if tip == 0:
        last = (segments - 1) * across + np.arange(across - 1)
        point = np.full(across - 1, segments * across)
        one = np.concatenate([one[: -2 * (across - 1)], np.stack([last, last + 1, point], 1)])
    triangles = one[None] + (np.arange(n) * vertices.shape[1])[:, None, None]
    return vertices.reshape(-1, 3), triangles.reshape(-1, 3)


def rise(segments: int, leans: ArrayLike, bends: ArrayLike) -> FloatArray:
    """Height (n,) [m] of the highest point of blades that are 1 m long; ``leans`` and ``bends`` (n,) [rad]."""
    lean, bend = np.broadcast_arrays(np.asarray(leans, float), np.asarray(bends, float))
    return np.asarray(_line(segments, lean.reshape(-1, 1), bend.reshape(-1, 1))[1].max(1))


def _line(segments: int, lean: FloatArray, bend: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far out and how high the middle lines of blades of length 1 are, (n, segments + 1); ``lean``, ``bend`` (n, 1)."""
    s = np.linspace(0.0, 1.0, segments + 1)
    middle = (s[:-1] + s[1:]) / 2
    angle = lean + bend * middle**1.5
    angle[:, 0] = np.minimum(angle[:, 0], 1.4)  # every blade rises from its root, however far it bends after
    start = np.zeros((len(angle), 1))
    out = np.concatenate([start, np.cumsum(np.sin(angle), 1)], 1) / segments
    up = np.concatenate([start, np.cumsum(np.cos(angle), 1)], 1) / segments
    return out, up
