"""A part of many pulses that is as dense as the whole: all pulses of some directions or of some places, not some pulses of all.

A size that is chosen from every tenth pulse is one for a tenth of the pulses: too coarse. Where the sensor stood still, whole
windows of azimuth are taken, spread evenly around. From several places windows look at different things each, so a
strip of the place is taken, with all pulses that came as far: what is near the way and far from it is in a strip across the way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tussock.learn.box import box_corners
from tussock.learn.measured_pulses import MeasuredPulses
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
    pulses: MeasuredPulses, most: int, box: Sequence[float] | None = None, *, threads: int | None = None
) -> tuple[MeasuredPulses, list[float] | None]:
    """A box across the way with about ``most`` returns, and the pulses that reached it; or all of them, in ``box``, where they are fewer.

    The box is a strip of the given ``box``, in the middle of the returns in it.
    """
    given = None if box is None else list(box)
    inside = pulses.hit if box is None else pulses.inside(box)
    if inside.sum() <= most:
        return pulses, given
    origins, directions, ranges, workers = pulses.origins, pulses.directions, pulses.ranges, resolve_threads(threads)

    def ended(rows: slice) -> tuple[NDArray[np.float64], ...]:
        return tuple((origins[rows] + directions[rows] * ranges[rows, None])[inside[rows]].T)

    points = in_blocks(ended, len(pulses), workers)
    lowest, highest = ([float(found(along)) for along in points] for found in (np.min, np.max))
    corners = np.stack([np.array(lowest) - 1.0, np.array(highest) + 1.0] if box is None else box_corners(box))
    axis = int(np.argmax([np.ptp(along) for along in origins[:, :2].T]))
    middle = np.median(points[axis])
    half = np.quantile(np.abs(points[axis] - middle), most / len(points[axis]))
    corners[0, axis] = max(corners[0, axis], middle - half)
    corners[1, axis] = min(corners[1, axis], middle + half)
    strip: list[float] = corners.ravel().tolist()

    def reached(rows: slice) -> tuple[NDArray[np.bool_]]:
        start, (low, high) = origins[rows, axis], corners[:, axis]
        end = start + directions[rows, axis] * ranges[rows]
        with np.errstate(invalid="ignore"):
            short = (np.maximum(start, end) < low) | (np.minimum(start, end) > high)
        return (meets_box(origins[rows], directions[rows], *corners) & ~short,)

    return pulses.select(in_blocks(reached, len(pulses), workers)[0]), strip
