"""A part of many pulses that is as dense as the whole: all pulses of some directions or of some places, not some pulses of all.

A size that is chosen from every tenth pulse is one for a tenth of the pulses: too coarse. Where the sensor stood still, whole
windows of azimuth are taken, spread evenly around. From several places windows look at different things each, so a
strip of the place is taken, with all pulses that came as far: what is near the way and far from it is in a strip across the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from tussock.learn.box import box_corners
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.through_box import meets_box
from tussock.threads import in_blocks, resolve_threads

__all__ = ["in_strip", "in_windows"]

_WINDOWS = 24


def in_windows(pulses: MeasuredPulses, most: int) -> MeasuredPulses:
    """About ``most`` of the pulses, all of them in even windows of azimuth; the pulses themselves where they are fewer."""
    if len(pulses) <= most:
        return pulses
    place = np.mod(pulses.azimuths / (2 * np.pi) * _WINDOWS, 1.0)
    kept = place < np.quantile(place, most / len(pulses))
    return pulses.select(kept) if pulses.hit[kept].any() else pulses


def in_strip(
    pulses: MeasuredPulses | Sequence[MeasuredPulses], most: int, box: Sequence[float] | None = None, *,
    threads: int | None = None,
) -> tuple[MeasuredPulses, list[float] | None]:  # fmt: skip
    """A box across the way with about ``most`` returns, and the pulses that reached it; or all of them, in ``box``, where they are fewer.

    The box is a strip of the given ``box``, in the middle of the returns in it. Pulses may come in parts, which are not joined
    before it is known which of them are wanted.
    """
    given, workers = None if box is None else list(box), resolve_threads(threads)
    parts = [pulses] if isinstance(pulses, MeasuredPulses) else list(pulses)
    if box is not None and len(parts) > 1:
        parts = [join_pulses(parts, threads=workers)]
    inside = [part.hit if box is None else part.inside(box) for part in parts]
    returns = sum(int(some.sum()) for some in inside)
    if returns <= most:
        return parts[0] if len(parts) == 1 else join_pulses(parts, threads=workers), given
    starts = [[part.origins[:, a] for part in parts] for a in (0, 1)]
    axis = int(np.argmax([max(map(np.max, along)) - min(map(np.min, along)) for along in starts]))
    found = [_ends(part, some, axis, workers) for part, some in zip(parts, inside, strict=True)]
    lowest, highest = (reduce(pick, (f[k] for f in found)) for k, pick in ((0, np.minimum), (1, np.maximum)))
    along = np.concatenate([f[2] for f in found])
    corners = np.stack([lowest - 1.0, highest + 1.0] if box is None else box_corners(box))
    middle = np.median(along)
    half = np.quantile(np.abs(along - middle), most / len(along))
    corners[0, axis] = max(corners[0, axis], middle - half)
    corners[1, axis] = min(corners[1, axis], middle + half)
    strip: list[float] = corners.ravel().tolist()
    return join_pulses(parts, rows=[_reached(part, corners, axis, workers) for part in parts], threads=workers), strip


def _ends(
    pulses: MeasuredPulses, inside: NDArray[np.bool_], axis: int, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest corner of the returns that are ``inside`` (n,), and where along an axis each is [m]."""

    def ended(rows: slice) -> tuple[NDArray[np.float64], ...]:
        some = inside[rows]
        points = (pulses.origins[rows] + pulses.directions[rows] * pulses.ranges[rows, None])[some]
        return (
            points.min(0, initial=np.inf)[None],
            points.max(0, initial=-np.inf)[None],
            np.ascontiguousarray(points[:, axis]),
        )

    low, high, along = in_blocks(ended, len(pulses), threads)
    return low.min(0), high.max(0), along


def _reached(pulses: MeasuredPulses, corners: NDArray[np.float64], axis: int, threads: int) -> NDArray[np.bool_]:
    """Which pulses came as far as the box, shape (n,)."""

    def reached(rows: slice) -> tuple[NDArray[np.bool_]]:
        start, (low, high) = pulses.origins[rows, axis], corners[:, axis]
        end = start + pulses.directions[rows, axis] * pulses.ranges[rows]
        with np.errstate(invalid="ignore"):
            short = (np.maximum(start, end) < low) | (np.minimum(start, end) > high)
        return (meets_box(pulses.origins[rows], pulses.directions[rows], *corners) & ~short,)

    return in_blocks(reached, len(pulses), threads)[0]
