"""The clouds that one axis goes through, as `tussock.pulse.clouds` finds them for sixteen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.air.clouds import cloud_balls
from tussock.pulse.clouds import _meet, _near_clouds, _parts_on, new_air_scratch
from tussock.trace.packets import LANES
from tussock.trace.ray import Ray

Run = Callable[[Any], Any]


def as_compiled(kernel: Any) -> Any:
    return kernel


def parts_on(rows: NDArray[np.float32], way: Ray, run: Run = as_compiled) -> NDArray[np.float32]:
    """As parts, in the order of the rows."""
    numbers = (way.x, way.y, way.z, way.dx, way.dy, way.dz, 0, 0, 0, 0, 0, 0, way.time)
    aim = np.repeat(np.array(numbers, np.float32), LANES)
    room, every = new_air_scratch(len(rows)), np.arange(len(rows), dtype=np.int32)
    met = run(_meet)(rows, every, len(rows), aim, LANES, room.across)
    counts = {run(_parts_on)(room.across, met, l, room.parts) for l in range(LANES)}
    (count,) = counts  # the axis is the same in all lanes
    return room.parts[:count]


def near_clouds(
    rows: NDArray[np.float32], aim: NDArray[np.float32], lanes: int = LANES, run: Run = as_compiled
) -> list[int]:
    """Those that a cone around axes may meet."""
    near = new_air_scratch(len(rows)).near
    count = run(_near_clouds)(cloud_balls(rows), len(rows), aim, lanes, near)
    return [int(c) for c in near[:count]]
