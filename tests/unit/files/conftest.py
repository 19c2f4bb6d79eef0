"""Frames that hold every awkward value a file must bring back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory

META = {
    "seed": 7,
    "third": 1 / 3,
    "sensor": {"name": "Ünïcode 64", "angles_deg": [0.1 * k for k in range(400)]},
    "text": "quotes \" ' , ; # comment\nnew line \\ and spaces  " * 20,
    "none": None,
}
PATH = Trajectory.through(
    [0.0, 0.1], [Pose.at(1000.5, -2.0, 3.0, yaw=0.3), Pose.at(1001.5, -2.5, 3.0, roll=0.1, yaw=0.5)]
)


@pytest.fixture
def make_frame() -> Callable[..., Frame]:
    def make(rows: int = 500, *, misses: bool = False, about: bool = True) -> Frame:
        rng = np.random.default_rng(rows)
        columns = {}
        for column in COLUMNS:
            shape = (rows, column.width) if column.width > 1 else rows
            if column.dtype.startswith("f"):
                columns[column.name] = (rng.normal(size=shape) * 30).astype(column.dtype)
            else:
                top = np.iinfo(column.dtype).max
                columns[column.name] = rng.integers(0, top, shape, dtype=column.dtype, endpoint=True)
        columns["time"] = np.sort(rng.uniform(0, 0.1, rows))
        if rows >= 5:
            columns["intensity"][:5] = [-0.0, np.inf, -np.inf, np.float32(1e-45), np.float32(3.4028235e38)]
            columns["object_id"][0], columns["return_kind"][0] = 2**32 - 1, 255
        if misses:
            lost = np.arange(rows) % 3 == 0
            for name in ("range", "true_range", "xyz", "true_xyz"):
                columns[name][lost] = np.nan
            columns["return_number"][lost] = 0
        return Frame(**columns, meta=dict(META) if about else {}, trajectory=PATH if about else None)

    return make
