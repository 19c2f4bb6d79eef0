"""The cost map of Goodin et al. 2018, eq (8): how high above the ground is what was seen in each cell.

    c = min(100·h/h_max, 100),   h_max = 1.5 m

(the paper prints max where min is meant). Cells of 0.5 m, 400 × 400 of them; a cell keeps the highest cost that any
point has given it; what was never seen costs nothing. From far away the ground is rarely seen, and a branch above a
hollow passes for a bush: the first look from within ``trusted_m`` replaces what was seen from beyond, and until then
it is no reason to turn around (`CostMap.trusted_costs`). Points higher than ``overhead_m`` are passed under and left out.

h is measured from the ground, which the vehicle does not know either. Three ways to have it:

    seen     the lowest point of the same frame within a metre or so, where it lies no higher than ground can rise from
             the wheels on, which on a slope is measured from the slope that the vehicle stands on; elsewhere the level
             of the wheels
    wheels   the plane of the wheels, its slope averaged over ``slope_s`` so that bumps do not count; all there is for a
             scanner of one plane
    survey   a height map of the ground that somebody has made before, here the scene's own
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.arrays import FloatArray
from tussock.drive.autonomy.estimate import Estimate
from tussock.drive.site.ground import Ground, height_near
from tussock.drive.vehicles.attitude import matrices
from tussock.kernels import kernel
from tussock.quantities import Positive
from tussock.sensors.sensor import Sensor
from tussock.settings import Settings

__all__ = ["CostMap", "GroundSource", "MapSettings", "height_cost"]

GroundSource = Literal["auto", "seen", "wheels", "survey"]
_NOTHING = np.float32(1e9)
_GROUND_CELL = 1.0
_UNSEEN, _DOUBTED, _TRUSTED = 0, 1, 2


class MapSettings(Settings):
    cells: Annotated[int, Field(ge=8, le=8000)] = 400
    """along each side"""
    cell_m: Positive = 0.5
    max_height_m: Positive = 1.5
    """h_max: the highest vegetation that the vehicle goes through"""
    overhead_m: float | None = 2.6
    """what is higher above the ground is passed under; none: everything counts, as in the paper"""
    ground: GroundSource = "auto"
    """auto: seen, or wheels where all of a sensor's beams lie within ±1°"""
    ground_rise: Annotated[float, Field(ge=0.0, le=2.0)] = 0.12
    """metres a metre by which ground may rise from the wheels on, beside the slope that the vehicle stands on"""
    trusted_m: Positive | None = 15.0
    """a cell's first look from within this distance replaces what was seen of it from beyond; none: nothing does"""
    slope_s: Annotated[float, Field(ge=0.0)] = 2.0
    """over which the slope under the wheels is averaged where it is all that is known of the ground"""
    nearest_m: Annotated[float, Field(ge=0.0)] = 1.0
    """points this near to the vehicle's middle are its own and left out"""


def height_cost(height: Any, max_height: float) -> Any:
    """Eq (8): the cost 0 to 100 of heights [m] above the ground."""
    return np.minimum(100.0 * np.maximum(height, 0.0) / max_height, 100.0)


class CostMap:
    """Costs around ``centre`` [m]; plans stay within ``fence``, the least and the greatest x and y [m], if there is one."""

    def __init__(
        self, settings: MapSettings, centre: tuple[float, float], fence: tuple[float, float, float, float] | None = None
    ) -> None:
        self.settings, self.fence = settings, fence
        n, cell = settings.cells, settings.cell_m
        # On a multiple of the cell, so that maps with the same cells can be laid over one another.
        self.low_x, self.low_y = (float(np.round(c / cell) * cell - 0.5 * n * cell) for c in centre)
        self.costs: NDArray[np.float32] = np.zeros((n, n), np.float32)
        """0 to 100, shape (along x, along y)"""
        self.seen: NDArray[np.bool_] = np.zeros((n, n), np.bool_)
        """whether any point fell into the cell"""
        self._trust: NDArray[np.uint8] = np.full((n, n), _UNSEEN, np.uint8)
        """whether the cell was seen from beyond `MapSettings.trusted_m` alone (`_DOUBTED`) or from within (`_TRUSTED`)"""
        coarse = int(np.ceil(n * cell / _GROUND_CELL))
        self._lowest = np.empty((coarse, coarse), np.float32)
        self._slope: tuple[float, FloatArray] | None = None
        """when it was last averaged [s], and the slope along x and y, metres a metre"""

    @property
    def cell(self) -> float:
        """[m]"""
        return self.settings.cell_m

    @property
    def high(self) -> tuple[float, float]:
        """greatest x and y [m]"""
        side = self.cell * len(self.costs)
        return self.low_x + side, self.low_y + side

    def index(self, x: Any, y: Any) -> tuple[Any, Any]:
        """The cell that a place [m] lies in, which may be outside."""
        i = np.floor((np.asarray(x) - self.low_x) / self.cell).astype(int)
        j = np.floor((np.asarray(y) - self.low_y) / self.cell).astype(int)
        return i, j

    def middle(self, i: Any, j: Any) -> tuple[Any, Any]:
        """Middles of cells [m]."""
        return self.low_x + (np.asarray(i) + 0.5) * self.cell, self.low_y + (np.asarray(j) + 0.5) * self.cell

    def holds(self, x: float, y: float) -> bool:
        return bool(self.low_x <= x < self.high[0] and self.low_y <= y < self.high[1])

    def fenced_off(self, margin: float) -> NDArray[np.bool_]:
        """Cells beyond the fence or nearer to it than ``margin`` [m], shape (along x, along y)."""
        if self.fence is None:
            return np.zeros(self.costs.shape, np.bool_)
        x, y = self.middle(*(np.arange(n) for n in self.costs.shape))
        low_x, low_y, high_x, high_y = self.fence
        off_x = (x < low_x + margin) | (x > high_x - margin)
        off_y = (y < low_y + margin) | (y > high_y - margin)
        return np.asarray(off_x[:, None] | off_y[None, :])

    def trusted_costs(self, lethal: float) -> NDArray[np.float32]:
        """The costs, but what was seen from beyond `MapSettings.trusted_m` alone stays below ``lethal``."""
        if self.settings.trusted_m is None:
            return self.costs
        return np.where(self._trust == _DOUBTED, np.minimum(self.costs, np.float32(0.99 * lethal)), self.costs)

    def copy(self) -> CostMap:
        """The map as it is now."""
        twin = CostMap.__new__(CostMap)
        twin.__dict__.update(self.__dict__)
        twin.costs, twin.seen, twin._trust = self.costs.copy(), self.seen.copy(), self._trust.copy()
        twin._lowest = np.empty_like(self._lowest)
        return twin

    def block(self, x: float, y: float) -> None:
        """Give the cell at a place [m] the highest cost for good, as a bumper does that has met something."""
        i, j = self.index(x, y)
        if 0 <= i < len(self.costs) and 0 <= j < len(self.costs):
            self.costs[i, j], self.seen[i, j], self._trust[i, j] = 100.0, True, _TRUSTED

    def add(
        self, points: FloatArray, estimate: Estimate, *, ground: GroundSource = "seen",
        survey: Ground | None = None,
    ) -> NDArray[np.float32]:  # fmt: skip
        """Add registered points (n, 3) [m], seen from where the vehicle is; their heights above ground [m] (n,)."""
        s = self.settings
        heights = np.empty(len(points), np.float32)
        overhead = np.inf if s.overhead_m is None else s.overhead_m
        here = (estimate.x, estimate.y)
        if ground == "survey" and survey is not None:
            _above_survey(points, here, survey, heights)
        elif ground == "seen":
            self._lowest.fill(_NOTHING)
            _above_seen(points, _wheels_of(estimate), s.ground_rise, (self.low_x, self.low_y), self._lowest, heights)
        else:
            slope = self._averaged_slope(estimate)
            heights[:] = points[:, 2] - (points[:, :2] - np.array(here)) @ slope
        grid = _Grid(self.low_x, self.low_y, self.cell, self.costs, self.seen, self._trust)
        _add(points, heights, here, _Limits(s.max_height_m, overhead, s.nearest_m, s.trusted_m or 0.0), grid)
        return heights

    def _averaged_slope(self, estimate: Estimate) -> FloatArray:
        """The slope under the wheels along x and y (2,), as an exponential mean over `MapSettings.slope_s`."""
        wheels = _wheels_of(estimate)
        now = np.array([wheels.slope_x, wheels.slope_y])
        if self._slope is not None:
            time, before = self._slope
            kept = np.exp(-max(estimate.time - time, 0.0) / self.settings.slope_s) if self.settings.slope_s > 0 else 0.0
            now = kept * before + (1 - kept) * now
        self._slope = (estimate.time, now)
        return now


def ground_source(chosen: GroundSource, sensor: Sensor) -> GroundSource:
    """What ``auto`` means for a sensor."""
    if chosen != "auto":
        return chosen
    z = sensor.pulses(0).directions[:, 2]
    return "wheels" if float(np.abs(z).max()) < np.sin(np.deg2rad(1.0)) else "seen"


class _Wheels(NamedTuple):
    """The plane that the vehicle stands on."""

    x: float
    y: float
    slope_x: float
    slope_y: float
    """metres a metre"""


def _wheels_of(estimate: Estimate) -> _Wheels:
    up_x, up_y, up_z = matrices(estimate.yaw, estimate.pitch, estimate.roll)[:, 2]
    return _Wheels(estimate.x, estimate.y, float(-up_x / up_z), float(-up_y / up_z))


@kernel
def _above_seen(points: Any, wheels: _Wheels, rise: float, low: Any, lowest: Any, heights: Any) -> None:
    n = len(lowest)
    low_x, low_y = low
    for k in range(len(points)):
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        i, j = int(np.floor((x - low_x) / _GROUND_CELL)), int(np.floor((y - low_y) / _GROUND_CELL))
        if 0 <= i < n and 0 <= j < n and z < lowest[i, j]:
            ahead, aside = x - wheels.x, y - wheels.y
            # Downhill the ground may also go on level, so there the slope lowers nothing.
            slope = max(wheels.slope_x * ahead + wheels.slope_y * aside, 0.0)
            if z <= 0.3 + slope + rise * np.sqrt(ahead * ahead + aside * aside):
                lowest[i, j] = z
    for k in range(len(points)):
        i = int(np.floor((points[k, 0] - low_x) / _GROUND_CELL))
        j = int(np.floor((points[k, 1] - low_y) / _GROUND_CELL))
        ground = _NOTHING
        for p in range(max(i - 1, 0), min(i + 2, n)):
            for q in range(max(j - 1, 0), min(j + 2, n)):
                ground = min(ground, lowest[p, q])
        heights[k] = points[k, 2] - (ground if ground < _NOTHING else np.float32(0.0))


@kernel
def _above_survey(points: Any, here: Any, survey: Any, heights: Any) -> None:
    below = height_near(survey, here[0], here[1])
    for k in range(len(points)):
        heights[k] = points[k, 2] + below - height_near(survey, points[k, 0], points[k, 1])


class _Grid(NamedTuple):
    low_x: float
    low_y: float
    cell: float
    costs: Any
    seen: Any
    trust: Any


class _Limits(NamedTuple):
    top: float
    """[m] height of the highest cost"""
    overhead: float
    """[m] what is higher is driven under"""
    nearest: float
    """[m] what is nearer is the vehicle itself"""
    trusted: float
    """[m] within which a look replaces what was seen from beyond"""


@kernel
def _add(points: Any, heights: Any, here: Any, limits: _Limits, grid: _Grid) -> None:
    top, overhead, nearest, near = limits
    low_x, low_y, cell, costs, seen, trust = grid
    n = len(costs)
    for k in range(len(points)):
        x, y = points[k, 0], points[k, 1]
        i, j = int(np.floor((x - low_x) / cell)), int(np.floor((y - low_y) / cell))
        away = np.float32(np.sqrt((x - here[0]) ** 2 + (y - here[1]) ** 2))
        if not (0 <= i < n and 0 <= j < n) or away < nearest:
            continue
        seen[i, j] = True
        h = heights[k]
        if h <= overhead:
            cost = np.float32(min(100.0 * max(h, 0.0) / top, 100.0))
            if cost > costs[i, j] or (away < near and trust[i, j] == _DOUBTED):
                costs[i, j] = cost
            if trust[i, j] != _TRUSTED:
                trust[i, j] = _TRUSTED if away < near else _DOUBTED
