"""Where pulses leave from and where they go, in the world, each at its own time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tussock.elementary import cosine_of_turns, exponential, sine_of_turns
from tussock.kernels import Array, Real, Whole, fetch, inline_kernel, kernel, loop_kernel
from tussock.pulse.sub_rays import number_of, pulse_number, pulse_of
from tussock.pulse.tables import Firing, Lot, Part, PoseTable, Spot
from tussock.randomness import Chance, Purpose, normal_pair, random_words, uniform
from tussock.trace.packets import LANES, NOTHING, Packet, load_ray, say_close
from tussock.trace.ray import SKIN, Ray

__all__ = [
    "AIM_ROWS", "POSE_ROWS", "Axes", "aim_lanes", "aim_origins", "axes_at", "drawn_place", "fetch_pulses", "fill_true_directions", "load_lanes",
    "ray_through", "stand", "stencil_ray", "true_direction_of", "wandered",
]  # fmt: skip

_POINTING = int(Purpose.POINTING)
_BEAM_SAMPLE = int(Purpose.BEAM_SAMPLE)
_STENCIL, _ROUND = int(Spot.STENCIL), int(Spot.ROUND)
AIM_ROWS, POSE_ROWS = 13, 13
_AHEAD = 6  # groups


class Axes(NamedTuple):
    """A pulse in the tracer's coordinates: where it starts [m], its axis, left and up as unit vectors, and when."""

    x: Real
    y: Real
    z: Real
    axis_x: Real
    axis_y: Real
    axis_z: Real
    left_x: Real
    left_y: Real
    left_z: Real
    up_x: Real
    up_y: Real
    up_z: Real
    time: Real
    """ray time, 0 to 1"""


@inline_kernel
def fetch_pulses(firing: Firing, lot: Lot) -> None:
    """Ask for the directions and times of pulses that groups to come are going to read.

    Those of one group lie far apart where lasers take turns, and what is traced in between drives them out of the nearest cache.
    """
    directions, offsets = np.uint64(firing.directions.ctypes.data), np.uint64(firing.offsets.ctypes.data)
    if lot.apart > 1:
        for l in range(LANES):
            p = np.uint64(pulse_number(lot, l) + _AHEAD)
            fetch(directions + np.uint64(12) * p)
            fetch(offsets + np.uint64(8) * p)


@inline_kernel
def aim_lanes(firing: Firing, poses: PoseTable, lot: Lot, turn: Array, aim: Array) -> None:
    """Put the axes of a group of pulses into the world; lanes past the last pulse repeat it.

    ``turn`` holds the pose of every lane: nine rows of rotation, three of position, and when it fires, shape (13 × lanes,).
    ``aim`` gets the thirteen numbers of `Axes`, row by row.
    """
    if len(poses.times) > 1:
        _interpolate(poses, firing.offsets, lot, turn)
    last = len(firing.lasers) - 1
    if len(poses.times) > 1 or len(firing.origins) > 1:
        aim_origins(firing, lot, turn, aim)
    wander = firing.pointing_sigma > np.float32(0.0)
    spread = len(firing.stencil) > 1 or wander or firing.spot != _STENCIL
    # What is looked up in one loop, what is computed in others: these become vector code.
    for l in range(LANES):
        p = np.uint64(min(pulse_number(lot, l), last))  # unsigned: no index counts from the end
        turn[12 * LANES + l] = firing.offsets[p]
        aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l] = (
            firing.directions[p, 0], firing.directions[p, 1], firing.directions[p, 2],
        )  # fmt: skip
    for l in range(LANES):
        aim[12 * LANES + l] = min(turn[12 * LANES + l] / firing.period, 1.0)
        x, y, z = aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l]
        aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l] = _turned(turn, l, x, y, z)
        if spread:
            lx, ly = _left_of(x, y)
            aim[6 * LANES + l], aim[7 * LANES + l], aim[8 * LANES + l] = _turned(turn, l, lx, ly, np.float32(0.0))
            aim[9 * LANES + l], aim[10 * LANES + l], aim[11 * LANES + l] = _turned(
                turn, l, -z * ly, z * lx, x * ly - y * lx
            )
    if wander:
        for l in range(LANES):
            words = random_words(lot.chance, min(pulse_number(lot, l), last), 0, _POINTING)
            across, up = normal_pair(words[0], words[1])
            aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l] = wandered(
                axes_at(aim, l), firing.pointing_sigma * across, firing.pointing_sigma * up
            )


@inline_kernel
def _left_of(x: Real, y: Real) -> tuple[Real, Real]:
    """x and y of left = z × d at unit length, for the direction d; up is d × left.

    A pulse straight up or down takes y for left.
    """
    flat = np.float32(math.sqrt(x * x + y * y))
    upright = flat < np.float32(1e-6)
    return np.float32(0.0) if upright else -y / flat, np.float32(1.0) if upright else x / flat


@kernel
def fill_true_directions(firing: Firing, chance: Chance, out: Array) -> None:
    """Where the axes of pulses with pointing noise really went, in the sensor's frame, shape (n, 3)."""
    for p in range(len(out)):
        out[p, 0], out[p, 1], out[p, 2] = true_direction_of(firing.directions, firing.pointing_sigma, chance, p)


@inline_kernel
def true_direction_of(directions: Array, sigma: Real, chance: Chance, p: Whole) -> tuple[Real, Real, Real]:
    """Where the axis of pulse ``p`` went that was to go along its row of ``directions``; ``sigma`` [rad] of the noise."""
    zero = np.float32(0.0)
    x, y, z = directions[p, 0], directions[p, 1], directions[p, 2]
    lx, ly = _left_of(x, y)
    axes = Axes(zero, zero, zero, x, y, z, lx, ly, zero, -z * ly, z * lx, x * ly - y * lx, zero)
    words = random_words(chance, p, 0, _POINTING)
    across, up = normal_pair(words[0], words[1])
    return wandered(axes, sigma * across, sigma * up)


@inline_kernel
def aim_origins(firing: Firing, lot: Lot, turn: Array, aim: Array) -> None:
    """Where the pulses of every lane start; once for all, where the sensor stands and has one origin."""
    last = len(firing.origins) - 1
    for l in range(LANES):
        p = min(pulse_number(lot, l), last)
        x, y, z = firing.origins[p, 0], firing.origins[p, 1], firing.origins[p, 2]
        for i in range(3):
            aim[i * LANES + l] = (
                turn[(9 + i) * LANES + l] + turn[3 * i * LANES + l] * x + turn[(3 * i + 1) * LANES + l] * y
                + turn[(3 * i + 2) * LANES + l] * z
            )  # fmt: skip


@inline_kernel
def _turned(turn: Array, l: int, x: Real, y: Real, z: Real) -> tuple[Real, Real, Real]:
    """A vector of the sensor in the world."""
    return (
        turn[l] * x + turn[LANES + l] * y + turn[2 * LANES + l] * z,
        turn[3 * LANES + l] * x + turn[4 * LANES + l] * y + turn[5 * LANES + l] * z,
        turn[6 * LANES + l] * x + turn[7 * LANES + l] * y + turn[8 * LANES + l] * z,
    )


@inline_kernel
def wandered(axes: Axes, across: Real, up: Real) -> tuple[Real, Real, Real]:
    """The axis turned by two small angles [rad]; left and up are near enough where they were."""
    x = axes.axis_x + across * axes.left_x + up * axes.up_x
    y = axes.axis_y + across * axes.left_y + up * axes.up_y
    z = axes.axis_z + across * axes.left_z + up * axes.up_z
    unit = np.float32(1.0) / np.float32(math.sqrt(x * x + y * y + z * z))
    return x * unit, y * unit, z * unit


@loop_kernel
def _interpolate(poses: PoseTable, offsets: Array, lot: Lot, turn: Array) -> None:
    """The pose of every lane at its own time, between two rows of the table."""
    last = len(offsets) - 1
    rows = len(poses.times)
    segment = _segment(poses.times, offsets[lot.first])
    for l in range(LANES):
        t = offsets[min(pulse_number(lot, l), last)]
        while segment < rows - 2 and t >= poses.times[segment + 1]:
            segment += 1
        s = (t - poses.times[segment]) / (poses.times[segment + 1] - poses.times[segment])
        s = min(max(s, 0.0), 1.0)
        a, b = poses.quaternions[segment], poses.quaternions[segment + 1]
        _set_turn(
            turn, l, a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]),
            a[3] + s * (b[3] - a[3]),
        )  # fmt: skip
        u, v = poses.positions[segment], poses.positions[segment + 1]
        for i in range(3):
            turn[(9 + i) * LANES + l] = u[i] + s * (v[i] - u[i])


@inline_kernel
def _segment(times: Array, t: Real) -> int:
    """The row of a rising table after which ``t`` lies; neither before the first nor after the last segment."""
    low, high = 0, len(times) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if times[middle] <= t:
            low = middle
        else:
            high = middle
    return low


@inline_kernel
def _set_turn(turn: Array, l: int, qx: float, qy: float, qz: float, qw: float) -> None:
    """The rotation matrix of a quaternion of any length, into nine rows of ``turn``."""
    w = 2.0 / (qx * qx + qy * qy + qz * qz + qw * qw)
    turn[l] = 1 - w * (qy * qy + qz * qz)
    turn[LANES + l] = w * (qx * qy - qz * qw)
    turn[2 * LANES + l] = w * (qx * qz + qy * qw)
    turn[3 * LANES + l] = w * (qx * qy + qz * qw)
    turn[4 * LANES + l] = 1 - w * (qx * qx + qz * qz)
    turn[5 * LANES + l] = w * (qy * qz - qx * qw)
    turn[6 * LANES + l] = w * (qx * qz - qy * qw)
    turn[7 * LANES + l] = w * (qy * qz + qx * qw)
    turn[8 * LANES + l] = 1 - w * (qx * qx + qy * qy)


@inline_kernel
def stand(poses: PoseTable, turn: Array) -> None:
    """The pose of every lane of a sensor that stands, twelve rows of ``turn``."""
    q = poses.quaternions[0]
    for l in range(LANES):
        _set_turn(turn, l, q[0], q[1], q[2], q[3])
        for i in range(3):
            turn[(9 + i) * LANES + l] = poses.positions[0, i]


@inline_kernel
def load_lanes(packet: Packet, aim: Array, firing: Firing, part: Part, lot: Lot, reach: Real, weights: Array) -> None:
    """Fill the packet with a part of the group's sub-rays, up to ``reach`` [m]; ``weights`` get what each carries."""
    say_close(packet, part.along or lot.apart > 1)
    for l in range(LANES):
        packet.masks[l] = NOTHING if l < part.used else np.uint32(0)
    if firing.spot != _STENCIL:
        _load_drawn(packet, aim, firing, part, lot, reach, weights)
    elif part.along:
        # Idle lanes get rays as well, which nobody traces: a loop of sixteen that never counts from the end is vector code.
        axes, columns, first = axes_at(aim, part.pulse), firing.columns, max(part.ray, 0)
        for l in range(LANES):
            k = first + l
            load_ray(packet, l, stencil_ray(axes, columns[0, k], columns[1, k], columns[2, k], reach), NOTHING)
        for l in range(LANES):
            weights[l] = columns[3, first + l]
    else:
        k = part.ray
        c0, c1, c2 = firing.stencil[k, 0], firing.stencil[k, 1], firing.stencil[k, 2]
        for l in range(LANES):
            load_ray(packet, l, stencil_ray(axes_at(aim, l), c0, c1, c2, reach), NOTHING)
        for l in range(LANES):
            weights[l] = firing.weights[k]


@loop_kernel
def _load_drawn(packet: Packet, aim: Array, firing: Firing, part: Part, lot: Lot, reach: Real, weights: Array) -> None:
    for l in range(part.used):
        pulse, k = pulse_of(part, l), number_of(part, l)
        words = random_words(lot.chance, pulse_number(lot, pulse), k, _BEAM_SAMPLE)
        h, w = drawn_place(firing, words[0], words[1])
        weights[l] = firing.weights[k] * exponential(-firing.fall * (h * h + w * w))
        load_ray(packet, l, ray_through(axes_at(aim, pulse), firing, h, w, reach), NOTHING)


@inline_kernel
def axes_at(aim: Array, l: int) -> Axes:
    """The axes of lane ``l`` as `aim_lanes` left them."""
    return Axes(
        aim[l], aim[LANES + l], aim[2 * LANES + l],
        aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l],
        aim[6 * LANES + l], aim[7 * LANES + l], aim[8 * LANES + l],
        aim[9 * LANES + l], aim[10 * LANES + l], aim[11 * LANES + l], aim[12 * LANES + l],
    )  # fmt: skip


@inline_kernel
def stencil_ray(axes: Axes, c0: Real, c1: Real, c2: Real, reach: Real) -> Ray:
    """The sub-ray with these shares of the axis, of left and of up, which make a unit vector."""
    return Ray(
        axes.x, axes.y, axes.z,
        c0 * axes.axis_x + c1 * axes.left_x + c2 * axes.up_x,
        c0 * axes.axis_y + c1 * axes.left_y + c2 * axes.up_y,
        c0 * axes.axis_z + c1 * axes.left_z + c2 * axes.up_z,
        SKIN, reach, axes.time,
    )  # fmt: skip


@inline_kernel
def drawn_place(firing: Firing, word0: Whole, word1: Whole) -> tuple[Real, Real]:
    """A place on the unit spot, drawn evenly from two random words."""
    u, v = uniform(word0), uniform(word1)
    if firing.spot == _ROUND:
        radius = np.float32(math.sqrt(u))  # the inverse CDF of the distance from the middle, r²
        return radius * cosine_of_turns(v), radius * sine_of_turns(v)
    return np.float32(2.0) * u - np.float32(1.0), np.float32(2.0) * v - np.float32(1.0)


@inline_kernel
def ray_through(axes: Axes, firing: Firing, h: Real, w: Real, reach: Real) -> Ray:
    """The sub-ray through a place on the unit spot."""
    h, w = h * firing.half_width, w * firing.half_height
    unit = np.float32(1.0) / np.float32(math.sqrt(np.float32(1.0) + h * h + w * w))
    return Ray(
        axes.x, axes.y, axes.z,
        unit * (axes.axis_x + h * axes.left_x + w * axes.up_x),
        unit * (axes.axis_y + h * axes.left_y + w * axes.up_y),
        unit * (axes.axis_z + h * axes.left_z + w * axes.up_z),
        SKIN, reach, axes.time,
    )  # fmt: skip
