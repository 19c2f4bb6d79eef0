"""Firings of a recorded sensor as frames, one a revolution: returns, and pulses without one.

What a recording cannot know, what was hit and the true range, is 0 and NaN.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.return_modes import KINDS, ReturnKind
from tussock.wire.firings import Firings

__all__ = ["frames_of"]


def frames_of(firings: Firings) -> list[Frame]:
    """One frame for every revolution of which something was recorded; times are Unix times [s]."""
    edges = np.flatnonzero(np.diff(firings.turns, prepend=-1, append=-1))
    return [_frame(firings.select(slice(*part)), number) for number, part in enumerate(pairwise(edges))]


def _frame(firings: Firings, number: int) -> Frame:
    count = len(firings)
    hit = np.isfinite(firings.ranges)
    # A pulse with one return reports it in every place.
    for k in range(1, hit.shape[1]):
        for before in range(k):
            same = firings.ranges[:, k] == firings.ranges[:, before]
            hit[:, k] &= ~(same & (firings.intensity[:, k] == firings.intensity[:, before]))
    returns = hit.sum(axis=1)
    kept = hit.copy()
    kept[returns == 0, 0] = True  # a row for a pulse without return
    pulse, which = np.nonzero(kept)
    found = hit[pulse, which]
    ranges, ways = firings.ranges[pulse, which], firings.directions[pulse]
    order = np.cumsum(hit, axis=1)[pulse, which]
    kinds = np.array([KINDS.index(kind) if kind in KINDS else ReturnKind.ECHO for kind in firings.kinds])
    columns: dict[str, Any] = {
        c.name: np.zeros((len(pulse), c.width) if c.width > 1 else len(pulse), c.dtype) for c in COLUMNS
    }
    columns |= {
        "time": firings.times[pulse],
        "pulse": pulse,
        "laser": firings.lasers[pulse],
        "azimuth": firings.azimuths[pulse],
        "elevation": np.arcsin(np.clip(ways[:, 2], -1, 1)),
        "true_range": np.full(len(pulse), np.nan),
        "range": ranges,
        "true_xyz": np.full((len(pulse), 3), np.nan),
        "xyz": firings.origins[pulse] + ranges[:, None] * ways,
        "intensity": firings.intensity[pulse, which],
        "return_number": np.where(found, order, 0),
        "return_count": returns[pulse],
        "return_kind": np.where(found, kinds[which], ReturnKind.NONE),
    }
    meta = {"pulses": count, "frame": number, "start_s": float(firings.times.min()), "sensor": {"name": firings.sensor}}
    return Frame(**columns, meta=meta)
