"""How fast the range of a return grows because a plant sways: the velocity of the point met, along the pulse.

The point is taken back into the coordinates of its plant, where `tussock.trace.wind.sway` knows its velocity at the pulse's
own time. Leaves are taken without their flutter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.frames.collect import Fired
from tussock.poses import Trajectory
from tussock.trace.hit_tables import HitTables
from tussock.trace.wind.sway import sway_rates

__all__ = ["add_sway_rates"]


def add_sway_rates(
    columns: Mapping[str, NDArray[Any]], fired: Fired, path: Trajectory, tables: HitTables, origin: NDArray[np.float64]
) -> None:
    """Add the speeds of what sways to ``true_speed`` [m/s] of the rows of a frame; ``origin`` is the tracer's zero."""
    geometry_of = np.full(int(tables.geometry_object.max()) + 1, -1, np.int64)
    geometry_of[tables.geometry_object] = np.arange(len(tables.geometry_object))
    geometry = geometry_of[columns["object_id"]]
    geometry[columns["object_id"] == 0] = -1
    rows = np.flatnonzero((geometry >= 0) & (tables.sway.first[geometry] >= 0))
    if not len(rows):
        return
    towards = fired.directions[columns["pulse"][rows]].astype(np.float64)
    points = columns["true_xyz"][rows].astype(np.float64)
    positions, quaternions = path.at(columns["time"][rows] if path.moving else np.zeros(1))
    turns = Rotation.from_quat(quaternions).as_matrix()  # of one pose, or of each row
    # No product of matrices: threads of BLAS wait for more work, all of them busy, longer than this takes.
    points, towards = (
        np.einsum("nij,nj->ni", turns, points) + positions - origin,
        np.einsum("nij,nj->ni", turns, towards),
    )
    which = np.stack([geometry[rows], columns["placement"][rows], columns["time"][rows]], 1)
    rates = np.empty(len(rows))
    sway_rates(tables.sway, tables.placed, which, points, towards, rates)
    columns["true_speed"][rows] += rates.astype(np.float32)
