"""A vehicle at work: it takes commands, keeps the truth of what became of them, and counts what it ran into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.site.ground import heights_at
from tussock.drive.site.movers import rectangle
from tussock.drive.site.places import told
from tussock.drive.site.site import Site
from tussock.drive.vehicles.attitude import matrices, quaternions, times
from tussock.drive.vehicles.collision import clearance, nearest_taken, touches
from tussock.drive.vehicles.motion import COLUMNS, CONTACT_EDGE, CONTACT_SOLID, Around, Motion, advance
from tussock.drive.vehicles.vehicle import Vehicle
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory

__all__ = ["NEAR", "Driven", "VehicleBody"]

NEAR = 5.0
"""[m] within which the nearest obstacle is looked for"""
_STEP = 0.01  # [s] at most, of the vehicle's own motion
_TOUCHED = 0.3  # [m] from the side of a body that has stopped before it touched
_EDGE = 0.4  # [m] from a wheel, within which the ground's edge is taken for met
_AGAIN = 0.5  # [s] without contact after which another one counts as new


@dataclass(frozen=True)
class Driven:
    """The truth of one command's time."""

    times: FloatArray
    """[s], the start and the end of every step, shape (n + 1,)"""
    rows: FloatArray
    """`tussock.drive.vehicles.motion.COLUMNS` at those times, shape (n + 1, columns)"""
    nearest: float
    """[m] to the nearest obstacle at the end, infinite where none is within `NEAR`"""
    bumps: tuple[tuple[float, float], ...] = ()
    """[m] where the body met something that stands or the ground's edge, ahead of and to the left of its middle"""

    def column(self, name: str) -> FloatArray:
        return self.rows[:, COLUMNS.index(name)]

    @cached_property
    def path(self) -> Trajectory:
        """``T_world_body``."""
        return Trajectory(self.times, self.rows[:, :3], quaternions(*self.rows[:, 3:6].T))

    def mounted(self, mount: Pose) -> Trajectory:
        """``T_world_sensor`` of a sensor fixed to the body at ``mount``; steps are so short that arcs are chords."""
        angles = self.rows[:, 3:6].T
        return Trajectory(
            self.times,
            self.rows[:, :3] + matrices(*angles) @ mount.position,
            times(quaternions(*angles), mount.quaternion),
        )


class VehicleBody:
    """A vehicle on a site, from its start on."""

    def __init__(self, vehicle: Vehicle, site: Site, x: float, y: float, yaw: float) -> None:
        self.vehicle, self.site = vehicle, site
        self._numbers = vehicle.numbers
        self.motion = Motion(float(x), float(y), float(yaw), 0.0, 0.0, 0.0, 0.0)
        self.time = 0.0
        self.collisions = 0
        self._last_contact = -np.inf
        self._row = self._standing_row()
        if np.isnan(self._row[2]):
            raise InputError.of("start", "must have ground under all wheels", told(x, y), "move it inwards")
        if self.touching or site.movers.distance(0.0, self.outline) == 0.0:
            raise InputError.of("start", "must be free of obstacles", told(x, y), "move it away from what is solid")

    @property
    def outline(self) -> FloatArray:
        """Corners of the body on the ground [m], shape (4, 2)."""
        m = self.motion
        return rectangle(m.x, m.y, m.yaw, self.vehicle.length_m, self.vehicle.width_m)

    @property
    def touching(self) -> bool:
        m = self.motion
        return bool(touches(self.site.obstacles, m.x, m.y, m.yaw, self.vehicle.length_m, self.vehicle.width_m))

    @property
    def tipped(self) -> bool:
        """Whether the slope is too steep for its width or its length: tan of the lean above half of it over the
        height of the centre of mass."""
        pitch, roll = abs(float(self._row[4])), abs(float(self._row[5]))
        high = self.vehicle.centre_of_mass_m
        return bool(
            np.tan(roll) > 0.5 * self.vehicle.track_m / high or np.tan(pitch) > 0.5 * self.vehicle.wheelbase_m / high
        )

    @property
    def pose(self) -> Pose:
        """``T_world_body`` now."""
        return Pose(self._row[:3].copy(), quaternions(*self._row[3:6]))

    def drive(self, speed: float, turn_rate: float, seconds: float) -> Driven:
        """Obey a command for a time [s]; speed [m/s] and turn rate [rad/s], left positive."""
        if not (np.isfinite(speed) and np.isfinite(turn_rate)):
            raise InputError.of("command", "must be finite", (float(speed), float(turn_rate)))
        steps = max(1, int(np.ceil(seconds / _STEP - 1e-9)))
        rows = np.empty((steps + 1, len(COLUMNS)))
        rows[0] = self._row
        dt = seconds / steps
        before = self.motion
        site = self.site
        around = Around(site.ground, site.obstacles, site.plants)
        self.motion = advance(before, self._numbers, around, (float(speed), float(turn_rate)), dt, rows[1:])
        moments = self.time + dt * np.arange(steps + 1, dtype=np.float64)
        self.time += seconds
        self._stop_before_movers(before, rows)
        self._count(moments[1:], rows[1:, 13])
        self._row = rows[-1].copy()
        m = self.motion
        size = (self.vehicle.length_m, self.vehicle.width_m)
        near = clearance(site.obstacles, m.x, m.y, m.yaw, *size, NEAR)
        bumps = self._bumps(rows[1:, 13])
        return Driven(moments, rows, min(float(near), site.movers.distance(self.time, self.outline)), bumps)

    def _bumps(self, contacts: FloatArray) -> tuple[tuple[float, float], ...]:
        """Where on the body contacts (n,) were, judged from where it stopped."""
        m, v = self.motion, self.vehicle
        found = []
        if (contacts == CONTACT_SOLID).any():
            one = nearest_taken(self.site.obstacles, (m.x, m.y, m.yaw), (v.length_m, v.width_m), _TOUCHED)
            found += [one] if one else []
        if (contacts == CONTACT_EDGE).any():
            # The wheels that have no ground a little further out.
            corners = [(a, b) for a in (0.5, -0.5) for b in (0.5, -0.5)]
            outer = np.array([(a * (v.wheelbase_m + 2 * _EDGE), b * (v.track_m + 2 * _EDGE)) for a, b in corners])
            c, s = np.cos(m.yaw), np.sin(m.yaw)
            off = np.isnan(heights_at(self.site.ground, *(np.array([[c, -s], [s, c]]) @ outer.T + [[m.x], [m.y]])))
            found += [(float(a), float(b)) for a, b in outer[off]]
        return tuple(found)

    def _stop_before_movers(self, before: Motion, rows: FloatArray) -> None:
        """What moves is looked at once a command: a vehicle that would touch it stays where it was."""
        if self.site.movers.boxes and self.site.movers.distance(self.time, self.outline) == 0.0:
            self.motion = before._replace(speed=0.0, turn_rate=0.0)
            rows[1:, :6] = rows[0, :6]
            rows[1:, 6:9] = 0.0
            rows[1:, 13] = CONTACT_SOLID

    def _count(self, times: FloatArray, contacts: FloatArray) -> None:
        for time in times[contacts == CONTACT_SOLID]:
            self.collisions += int(time - self._last_contact > _AGAIN)
            self._last_contact = time

    def _standing_row(self) -> FloatArray:
        rows = np.empty((1, len(COLUMNS)))
        site = self.site
        around = Around(site.ground, site.obstacles, site.plants)
        advance(self.motion, self._numbers, around, (0.0, 0.0), _STEP, rows)
        rows[0, 9:16] = 0.0
        return rows[0].copy()
