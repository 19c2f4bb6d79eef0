"""The vehicle's side of the loop: a command goes in, and a frame, the small sensors' readings and the truth come out.

One step is one frame of the LIDAR, or the last of several where the settings' ``scan_every`` says so. The vehicle obeys
the command during it, and every pulse is fired from where the sensor is at its moment.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from tussock.drive.sensing.readings import Readings
from tussock.drive.sensing.suite import SuiteAtWork
from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.drive.vehicles.body import Driven, VehicleBody
from tussock.frames.frame import Frame
from tussock.randomness import check_seed
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan

__all__ = ["Sensed", "Simulation"]


@dataclass(frozen=True)
class Sensed:
    """One step."""

    number: int
    start: float
    end: float
    """[s]"""
    frame: Frame
    readings: Readings
    driven: Driven
    """the truth, which no autonomy is told"""


class Simulation:
    """A vehicle with its sensors on a stage, from its start on."""

    def __init__(
        self, stage: Stage, sensor: Sensor, start: tuple[float, float, float], *, settings: DriveSettings | None = None,
        seed: int = 0, threads: int | None = None,
    ) -> None:  # fmt: skip
        settings = settings or DriveSettings()
        self.stage, self.sensor, self.seed = stage, sensor, check_seed(seed)
        self.mount, self.suite, self._every = settings.mount, settings.sensors, settings.scan_every
        self.vehicle = VehicleBody(stage.vehicle, stage.site(), *start)
        self._pressing = stage.pressing()
        self._sensing = SuiteAtWork(self.suite, seed=self.seed)
        self._threads = threads
        self.steps = 0
        self.scan_s = 0.0
        """time spent on scanning"""

    @property
    def period(self) -> float:
        """[s] that a step takes"""
        return self._every * self.sensor.frame_period

    def step(self, speed: float, turn_rate: float) -> Sensed:
        """Obey a command, speed [m/s] and turn rate [rad/s], for one step."""
        number, start, end = self.steps, self.steps * self.period, (self.steps + 1) * self.period
        driven = self.vehicle.drive(speed, turn_rate, end - self.vehicle.time)
        path = driven.mounted(self.mount)
        self._pressing.show(self.vehicle.site.plants.pressed)
        begin = time.perf_counter()
        last = (number + 1) * self._every - 1
        frame = scan(self.stage.world, self.sensor, path, seed=self.seed, frame=last, threads=self._threads)
        self.scan_s += time.perf_counter() - begin
        self.steps += 1
        return Sensed(number, start, end, frame, self._sensing.read(driven), driven)
