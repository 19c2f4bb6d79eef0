"""Two frames side by side: counts of each, and how far the second differs from the first.

Where both fired the same pulses, ranges are compared pulse by pulse (first returns): what is farther and what is nearer in
the second. Otherwise, as for another sensor, each point of the second has the distance to the nearest point of the first.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame

__all__ = ["Difference", "difference", "shown_points"]


class Difference(NamedTuple):
    """How a second frame differs from a first."""

    by: Literal["pulse", "place"]
    rows: NDArray[np.int64]
    """rows of the second frame that have a value, shape (n,)"""
    values: NDArray[np.float64]
    """[m] second minus first range of a pulse, or distance to the nearest point; shape (n,)"""
    first: int
    """returns of the first"""
    second: int
    only_first: int
    """pulses that came back in the first alone; 0 where places are compared"""
    only_second: int

    @property
    def facts(self) -> list[tuple[str, str]]:
        """In words, for a table."""
        facts = [("returns", f"{self.first:,} → {self.second:,} ({self.second - self.first:+,})")]
        if self.by == "pulse":
            facts.append(("pulses with a return in one alone", f"{self.only_first:,} / {self.only_second:,}"))
        if len(self.values):
            name = "range difference" if self.by == "pulse" else "distance to the nearest"
            low, middle, high = np.percentile(self.values, (5, 50, 95))
            facts.append((f"{name} [m], 5 % / median / 95 %", f"{low:.3f} / {middle:.3f} / {high:.3f}"))
            facts.append((f"{name} [m], root mean square", f"{np.sqrt((self.values**2).mean()):.3f}"))
        return facts


def shown_points(frame: Frame) -> NDArray[np.float64]:
    """Points of all rows [m], (n, 3): in the world where the sensor's path is known."""
    return frame.world_xyz() if frame.trajectory is not None else frame.xyz.astype(np.float64)


def difference(first: Frame, second: Frame) -> Difference:
    """Of rows that are returns."""
    a, b = (np.flatnonzero(frame.hit & np.isfinite(frame.xyz).all(1)) for frame in (first, second))
    if _same_pulses(first, second):
        a, b = a[first.return_number[a] == 1], b[second.return_number[b] == 1]
        _, in_a, in_b = np.intersect1d(first.pulse[a], second.pulse[b], return_indices=True)
        values = second.range[b[in_b]].astype(np.float64) - first.range[a[in_a]]
        return Difference(
            "pulse",
            b[in_b],
            values,
            int(first.hit.sum()),
            int(second.hit.sum()),
            len(a) - len(in_a),
            len(b) - len(in_b),
        )
    if not len(a) or not len(b):
        return Difference("place", b[:0], np.zeros(0), len(a), len(b), 0, 0)
    from scipy.spatial import cKDTree

    nearest, _ = cKDTree(shown_points(first)[a]).query(shown_points(second)[b])
    return Difference("place", b, nearest, len(a), len(b), 0, 0)


def _same_pulses(first: Frame, second: Frame) -> bool:
    """Whether both fired in the same directions: one pattern, one frame number."""
    one, two = (frame.meta.get("sensor") for frame in (first, second))
    if not isinstance(one, dict) or not isinstance(two, dict):
        return False
    same = one.get("pattern") == two.get("pattern") and first.meta.get("frame") == second.meta.get("frame")
    return bool(same and first.pulses == second.pulses)
