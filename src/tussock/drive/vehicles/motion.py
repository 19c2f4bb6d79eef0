"""How a vehicle moves: commands of speed and turn rate, with limits and lag, against what holds it back.

The drive governs the speed of the wheels: it follows the command with a time constant, within the limits of
acceleration and braking, as long as power and traction have the force for it,

    m·dv/dt = F − soil − slope − plants,    |F| ≤ min(traction·m·g·cos α, power/v).

Wheels that pull slip: they run ahead of the ground by i = slip·F/F_max, v = v_wheels·(1 − i), so a vehicle is slower
uphill than its wheels say. On a side slope it creeps down as it moves. Standing, it is held by its brakes and stays.
Skid steering turns the body at the commanded rate, with a lag, also on the spot; its sides share the greatest speed, so
a sharp turn slows it down. Front-wheel steering turns it by v·tan δ/L, with the steering angle δ followed at a finite
rate. What a turn on the spot costs in force is left out.

A step that would bring the body over something solid, or a wheel off the ground, is not taken: the vehicle stands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.drive.vehicles.collision import touches
from tussock.drive.vehicles.contact import lean, rest_on
from tussock.drive.vehicles.resistance import plant_force, press
from tussock.drive.vehicles.vehicle import GRAVITY
from tussock.kernels import inline_kernel, kernel

__all__ = ["COLUMNS", "CONTACT_EDGE", "CONTACT_SOLID", "Around", "Motion", "advance"]

COLUMNS = (
    "x", "y", "z", "yaw", "pitch", "roll", "speed", "turn_rate", "wheel_speed", "drive_force", "soil_force",
    "slope_force", "plant_force", "contact", "pressed_cells", "steer",
)  # fmt: skip
"""of a row of truth: metres, radians (yaw counter-clockwise, pitch nose down, roll left side up), m/s, rad/s, N;
contact is 0, 1 for something solid or 2 for the edge of the ground"""
CONTACT_SOLID, CONTACT_EDGE = 1, 2
_SLOW = 1e-4  # [m/s] below which a vehicle that is told to stand stands


class Motion(NamedTuple):
    """Where a vehicle is and how it moves."""

    x: float
    y: float
    yaw: float
    speed: float
    """[m/s] over the ground, forward"""
    turn_rate: float
    steer: float
    """[rad] angle of the front wheels"""
    force: float
    """[N] of the drive in the step before"""


@inline_kernel
def _towards(value: float, target: float, lag: float, most: float, dt: float) -> float:
    """A value after ``dt``, drawn to ``target`` with a time constant and at most ``most`` a second."""
    step = (target - value) * (1.0 - np.exp(-dt / lag))
    return value + min(max(step, -most * dt), most * dt)


class Around(NamedTuple):
    """What a vehicle moves over, into and through."""

    ground: Any
    obstacles: Any
    plants: Any


@kernel
def advance(motion: Any, numbers: Any, around: Around, command: Any, dt: float, rows: Any) -> Any:
    """Obey one command for as many steps of ``dt`` [s] as ``rows`` (n, columns) has room for; the motion after it.

    A command is a speed [m/s] and a turn rate [rad/s].
    """
    n = numbers
    ground, obstacles, plants = around
    speed, turn_rate = command
    x, y, yaw, v, w, steer, force = motion
    most_turn = min(max(turn_rate, -n.max_turn_rate), n.max_turn_rate)
    # The outer wheels of a skid-steered vehicle run faster by half the track times the rate of turn.
    share = 0.0 if n.steered else 0.5 * n.track * abs(most_turn)
    target = min(max(speed, -max(n.max_reverse - share, 0.0)), max(n.max_speed - share, 0.0))
    for k in range(len(rows)):
        rest = rest_on(ground, x, y, yaw, n.wheelbase, n.track)
        pitch, roll = lean(rest.along, rest.across)
        climb = -np.sin(pitch)
        load = n.mass * GRAVITY * np.cos(pitch) * np.cos(roll)
        grip = n.traction * load
        most = min(grip, n.power / max(abs(v), 1e-3))

        slipping = n.slip * max(force * np.sign(v), 0.0) / grip
        wheels = v / (1.0 - slipping)
        heading = np.sign(v) if abs(v) > _SLOW else np.sign(target)
        slowing = v * (target - wheels) < 0.0
        wanted = (_towards(wheels, target, n.speed_lag, n.braking if slowing else n.acceleration, dt) - wheels) / dt
        soil = n.rolling * load * heading
        slope = n.mass * GRAVITY * climb
        leaves = plant_force(plants, n, x, y, yaw, heading) * heading if heading != 0.0 else 0.0
        force = min(max(n.mass * wanted + soil + slope + leaves, -grip), most)
        faster = v + dt * (force - soil - slope - leaves) / n.mass
        if (v != 0.0 and faster * v < 0.0) or (v == 0.0 and faster * target <= 0.0):
            # It stops before it turns round, and a slope does not set it in motion against its brakes.
            faster, force = 0.0, (0.0 if target == 0.0 else force)
        if target == 0.0 and abs(faster) < _SLOW:
            faster = 0.0
        middle = 0.5 * (v + faster)

        if n.steered:
            wanted_steer = np.arctan2(most_turn * n.wheelbase, max(abs(middle), 0.1)) * (1.0 if middle >= 0 else -1.0)
            wanted_steer = min(max(wanted_steer, -n.max_steer), n.max_steer)
            steer += min(max(wanted_steer - steer, -n.steer_rate * dt), n.steer_rate * dt)
            turned = middle * np.tan(steer) / n.wheelbase
            half = turned
        else:
            turned = _towards(w, most_turn, n.turn_lag, n.turn_acceleration, dt)
            if most_turn == 0.0 and abs(turned) < _SLOW:
                turned = 0.0
            half = 0.5 * (w + turned)

        creep = -n.side_slip * abs(middle) * np.sin(roll) * n.mass * GRAVITY / grip
        forward, left = middle * np.cos(pitch), creep * np.cos(roll)
        mid_yaw = yaw + 0.5 * half * dt
        c, s = np.cos(mid_yaw), np.sin(mid_yaw)
        new_x, new_y = x + dt * (forward * c - left * s), y + dt * (forward * s + left * c)
        new_yaw = yaw + half * dt
        moved = new_x != x or new_y != y or new_yaw != yaw
        contact = 0
        if moved:
            if touches(obstacles, new_x, new_y, new_yaw, n.length, n.width):
                contact = 1
            elif np.isnan(rest_on(ground, new_x, new_y, new_yaw, n.wheelbase, n.track).z):
                contact = 2
        fresh = 0
        if contact:
            faster, turned = 0.0, 0.0
        else:
            x, y, yaw = new_x, new_y, new_yaw
            fresh = press(plants, n, x, y, yaw) if moved else 0
        row = rows[k]
        v, w = faster, turned
        row[0], row[1], row[3] = x, y, yaw
        after = rest_on(ground, x, y, yaw, n.wheelbase, n.track)
        row[2] = after.z
        row[4], row[5] = lean(after.along, after.across)
        row[6], row[7] = v, w
        row[8] = v / (1.0 - n.slip * max(force * np.sign(v), 0.0) / grip)
        row[9], row[10], row[11], row[12] = force, soil, slope, leaves
        row[13], row[14], row[15] = contact, fresh, steer
    return Motion(x, y, yaw, v, w, steer, force)
