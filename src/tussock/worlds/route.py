"""The way through a world: a winding line through its middle, which a trail follows and a vehicle drives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.ground.populate import Ground
from tussock.ground.zones import Strip
from tussock.poses import Trajectory
from tussock.worlds.sampling import Samples

__all__ = ["Route"]

_POINTS = 81


@dataclass(frozen=True, eq=False)
class Route:
    """A line (n, 2) [m] from one side of the world to the other, through the origin's surroundings."""

    line: NDArray[np.float64]

    @classmethod
    def sampled(cls, samples: Samples, side: float) -> Route:
        """Two waves about a straight line of any heading; it begins and ends 3 m within the square."""
        t = np.linspace(-1.0, 1.0, _POINTS)
        sway = samples.between("route sway", (0.0, 0.09)) * side
        long, short = samples.between("route long", (0.0, 2 * np.pi)), samples.between("route short", (0.0, 2 * np.pi))
        aside = sway * (np.sin(2.2 * t + long) - np.sin(long)) + 0.3 * sway * (np.sin(7.0 * t + short) - np.sin(short))
        heading = samples.between("route heading", (0.0, 2 * np.pi))
        # As far as the square goes in this direction, and a little less for the bends.
        reach = (side / 2 - 3.0) / max(abs(np.cos(heading)), abs(np.sin(heading)))
        along = np.array([np.cos(heading), np.sin(heading)])
        line = reach * t[:, None] * along + aside[:, None] * np.array([-along[1], along[0]])
        return cls(np.clip(line, -(side / 2 - 3.0), side / 2 - 3.0))

    def strip(self, width: float) -> Strip:
        """The ground within half of ``width`` [m] of the line."""
        return Strip(line_m=[(float(x), float(y)) for x, y in self.line], width_m=width)

    @property
    def length(self) -> float:
        """[m]"""
        return float(np.hypot(*np.diff(self.line, axis=0).T).sum())

    def beside(self, aside: float) -> Route:
        """The line ``aside`` [m] to the left of this one."""
        ahead = np.gradient(self.line, self._way, axis=0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        return Route(self.line + aside * np.stack([-ahead[:, 1], ahead[:, 0]], 1))

    @property
    def _way(self) -> NDArray[np.float64]:
        """[m] from its beginning to each point"""
        return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.line, axis=0).T))])

    def drive(
        self, ground: Ground, *, speed: float, height: float, aside: float = 0.0, seconds: float, after: float = 0.0
    ) -> Trajectory:
        """A drive from its beginning at ``speed`` [m/s], ``height`` [m] above the ground, ``aside`` [m] to the left.

        It looks ahead; at the end of the route it turns round and comes back, for ``seconds`` [s]. It is taken up
        ``after`` [s] of the way.
        """
        if not speed > 0 or not seconds > 0:
            raise InputError.of("drive", "must have a speed and a time above 0", (speed, seconds))
        way = self._way
        ahead = np.gradient(self.line, way, axis=0)
        line = self.beside(aside).line
        yaw = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
        turn = np.pi * speed / 2.0  # [m] of way in which it turns on the spot: half a turn in π/2 s
        legs = int(np.ceil(((seconds + after) * speed) / (way[-1] + turn))) + 1
        at, points, headings = [], [], []
        for leg in range(legs):
            order = slice(None) if leg % 2 == 0 else slice(None, None, -1)
            start = leg * (way[-1] + turn)
            at.append(start + (way if leg % 2 == 0 else way[-1] - way[::-1]))
            points.append(line[order])
            headings.append(yaw[order] + leg * np.pi)
        times = np.concatenate(at) / speed
        x, y = np.concatenate(points).T
        places = np.stack([x, y, ground(x, y) + height], 1)
        whole = Trajectory.level(times, places, np.concatenate(headings))
        inside = times[(times > after) & (times < after + seconds)]
        kept = np.concatenate([[after], inside, [after + seconds]])
        return Trajectory(kept - after, *whole.at(kept))
