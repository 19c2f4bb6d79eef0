"""A drive: the recordings of one moving sensor, as pulses in the world, part by part and as often as asked for.

Each pulse is put into the world by the pose at its own time, which also undoes the twist of a revolution. Pulses that
end on the own vehicle are left out. Scans are numbered on from recording to recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tussock.errors import InputError
from tussock.learn.drives.legs import Leg, Reading, legs_of
from tussock.learn.drives.misses import with_misses
from tussock.learn.drives.own_vehicle import OwnVehicle, find_vehicle
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.poses import Trajectory

__all__ = ["Drive"]

_LOOKED_AT = 40
"""parts that the vehicle is looked for in"""
_SCANS_A_SECOND = 10
_SLACK = 0.2
"""[s] that poses may fall short of the drive at either end: they are held there"""


@dataclass(frozen=True, kw_only=True)
class Drive:
    """Recordings, the poses of the sensor, and what is left out; iterating gives pulses in the world."""

    files: list[Path]
    poses: Trajectory | None = None
    reading: Reading = field(default_factory=Reading)
    vehicle: OwnVehicle | None = None
    misses: bool = True
    """add the pulses without return where a recording holds points only and its rings tell them"""
    told: Callable[[int], None] = lambda pulses: None
    """is told how many pulses were read"""
    seconds: str | None = None
    """``even`` or ``odd``: the pulses of those seconds alone; where scans have no times, ten of them are a second"""

    def __post_init__(self) -> None:
        if self.seconds not in (None, "even", "odd"):
            raise InputError.of("seconds", "must be even or odd, or left out", self.seconds)

    def legs(self) -> Iterator[Leg]:
        """The parts as the sensor saw them, numbered on, of one sensor."""
        sensor, first = "", 0
        for file in self.files:
            next_first = first
            for leg in legs_of(file, self.reading):
                if leg.sensor and sensor and leg.sensor != sensor:
                    raise InputError(
                        f"{file.name}: was recorded by another sensor ({leg.sensor}) than the files before ({sensor}); "
                        "learn from one at a time"
                    )
                sensor = sensor or leg.sensor
                pulses = leg.pulses
                if leg.times is None or not leg.sensor:  # one scan a part
                    pulses = pulses.numbered(np.full(len(pulses), next_first))
                else:
                    pulses = pulses.numbered(pulses.turns + first)
                next_first = max(next_first, int(pulses.turns.max()) + 1)
                if self.misses and not pulses.complete and not leg.placed:
                    full = with_misses(pulses, reach=self.reading.reach)
                    if leg.times is not None and full is not pulses:
                        # A pulse without return was fired when the points beside it were.
                        order = np.argsort(pulses.azimuths)
                        at = np.searchsorted(pulses.azimuths[order], full.azimuths[len(pulses) :]) % len(pulses)
                        leg = replace(leg, times=np.concatenate([leg.times, leg.times[order][at]]))
                    pulses = full
                self.told(len(pulses))
                yield replace(leg, pulses=pulses)
            first = next_first

    def __iter__(self) -> Iterator[MeasuredPulses]:
        for leg in self.legs():
            pulses, times = leg.pulses, leg.times
            if self.vehicle is not None and not leg.placed:
                kept = ~self.vehicle.met_by(pulses)
                if not kept.any():
                    continue
                pulses, times = pulses.select(kept), None if times is None else times[kept]
            if self.seconds is not None:
                second = pulses.turns // _SCANS_A_SECOND if times is None else np.floor(times).astype(np.int64)
                kept = second % 2 == (self.seconds == "odd")
                if not kept.any():
                    continue
                pulses, times = pulses.select(kept), None if times is None else times[kept]
            yield self._placed(leg, pulses, times)

    def _placed(self, leg: Leg, pulses: MeasuredPulses, times: np.ndarray | None) -> MeasuredPulses:
        if leg.placed:
            return pulses
        if leg.pose is not None:
            return pulses.placed(leg.pose)
        if self.poses is None:
            return pulses
        if times is None:
            raise InputError(f"{leg.name}: has no times, so poses do not say where it was measured; leave --poses out")
        self._check(leg.name, float(times.min()), float(times.max()))
        return pulses.placed(self.poses, times)

    def _check(self, name: str, start: float, end: float) -> None:
        """Refuse poses of another time, and poses of a part of it."""
        assert self.poses is not None
        if not self.poses.moving:
            return
        low, high = float(self.poses.times[0]), float(self.poses.times[-1])
        if start > high + _SLACK or end < low - _SLACK:
            raise InputError.of(
                "poses", f"must be of the clock of {name}, which runs from {start:.3f} s to {end:.3f} s",
                f"{low:.3f} s to {high:.3f} s", "shift their times by the difference of the clocks",
            )  # fmt: skip
        self.poses.check_covers(f"the times of {name}", start, end, "give poses of the whole drive", slack=_SLACK)

    def with_vehicle_found(self) -> Drive:
        """The same drive without the vehicle that its returns show."""
        parts = [leg for leg in self._some_legs() if not leg.placed]
        return replace(self, vehicle=find_vehicle(leg.pulses for leg in parts)) if parts else self

    def _some_legs(self) -> Iterator[Leg]:
        for number, leg in enumerate(self.legs()):
            if number >= _LOOKED_AT:
                return
            yield leg
