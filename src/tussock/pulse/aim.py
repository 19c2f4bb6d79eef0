"""Where pulses leave from and where they go, in the world, each at its own time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.kernels import inline_kernel, kernel
from tussock.randomness import Purpose, normal_pair, philox, uniform
from tussock.trace import packets as row
from tussock.trace.packets import LANES, NOTHING

__all__ = ["AIM_ROWS", "aim_lanes", "load_lanes", "standing_pose"]

_POINTING = int(Purpose.POINTING)
_BEAM_SAMPLE = int(Purpose.BEAM_SAMPLE)
_SKIN = np.float32(1e-4)  # [m] a ray starts this far out, so that a sensor may touch a surface
AIM_ROWS = 13
ORIGIN, AXIS, LEFT, UP, RAY_TIME = 0, 3, 6, 9, 12  # first rows of `aim`


@inline_kernel
def aim_lanes(firing: Any, poses: Any, first: int, key0: Any, key1: Any, frame: Any, turn: Any, aim: Any) -> None:
    """Put the axes of sixteen pulses into the world; lanes past the last pulse repeat it.

    ``turn`` holds the pose of every lane: nine rows of rotation, three of position, shape (12, lanes).
    """
    if len(poses.times) > 1:
        _interpolate(poses, firing.offsets, first, turn)
    last = len(firing.lasers) - 1
    every = 0 if len(firing.origins) == 1 else 1
    wander = firing.pointing_sigma > np.float32(0.0)
    spread = len(firing.stencil) > 1 or wander or firing.spot != 0
    for l in range(LANES):
        p = min(first + l, last)
        x, y, z = firing.origins[p * every, 0], firing.origins[p * every, 1], firing.origins[p * every, 2]
        aim[ORIGIN, l] = turn[9, l] + turn[0, l] * x + turn[1, l] * y + turn[2, l] * z
        aim[ORIGIN + 1, l] = turn[10, l] + turn[3, l] * x + turn[4, l] * y + turn[5, l] * z
        aim[ORIGIN + 2, l] = turn[11, l] + turn[6, l] * x + turn[7, l] * y + turn[8, l] * z
        aim[RAY_TIME, l] = min(firing.offsets[p] / firing.period, 1.0)
        x, y, z = firing.directions[p, 0], firing.directions[p, 1], firing.directions[p, 2]
        _turned(turn, l, x, y, z, aim, AXIS)
        if spread:
            # left = z × d, up = d × left; a pulse straight up or down takes y for left.
            flat = np.float32(math.sqrt(x * x + y * y))
            upright = flat < np.float32(1e-6)
            lx = np.float32(0.0) if upright else -y / flat
            ly = np.float32(1.0) if upright else x / flat
            _turned(turn, l, lx, ly, np.float32(0.0), aim, LEFT)
            _turned(turn, l, -z * ly, z * lx, x * ly - y * lx, aim, UP)
        if wander:
            words = philox(key0, key1, p, frame, 0, _POINTING)
            across, up = normal_pair(words[0], words[1])
            _wander(aim, l, firing.pointing_sigma * across, firing.pointing_sigma * up)


@inline_kernel
def _turned(turn: Any, l: int, x: Any, y: Any, z: Any, aim: Any, at: int) -> None:
    """A vector of the sensor in the world, into three rows of ``aim``."""
    aim[at, l] = turn[0, l] * x + turn[1, l] * y + turn[2, l] * z
    aim[at + 1, l] = turn[3, l] * x + turn[4, l] * y + turn[5, l] * z
    aim[at + 2, l] = turn[6, l] * x + turn[7, l] * y + turn[8, l] * z


@inline_kernel
def _wander(aim: Any, l: int, across: Any, up: Any) -> None:
    """Turn the axis by two small angles [rad]; left and up are near enough where they were."""
    x = aim[AXIS, l] + across * aim[LEFT, l] + up * aim[UP, l]
    y = aim[AXIS + 1, l] + across * aim[LEFT + 1, l] + up * aim[UP + 1, l]
    z = aim[AXIS + 2, l] + across * aim[LEFT + 2, l] + up * aim[UP + 2, l]
    unit = np.float32(1.0) / np.float32(math.sqrt(x * x + y * y + z * z))
    aim[AXIS, l], aim[AXIS + 1, l], aim[AXIS + 2, l] = x * unit, y * unit, z * unit


@kernel
def _interpolate(poses: Any, offsets: Any, first: int, turn: Any) -> None:
    """The pose of every lane at its own time, between two rows of the table."""
    last = len(offsets) - 1
    rows = len(poses.times)
    segment = max(0, min(np.searchsorted(poses.times, offsets[first], side="right") - 1, rows - 2))
    for l in range(LANES):
        t = offsets[min(first + l, last)]
        while segment < rows - 2 and t >= poses.times[segment + 1]:
            segment += 1
        s = (t - poses.times[segment]) / (poses.times[segment + 1] - poses.times[segment])
        s = min(max(s, 0.0), 1.0)
        a, b = poses.quaternions[segment], poses.quaternions[segment + 1]
        _set_pose(
            turn, l, a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]),
            a[3] + s * (b[3] - a[3]),
        )  # fmt: skip
        u, v = poses.positions[segment], poses.positions[segment + 1]
        for i in range(3):
            turn[9 + i, l] = u[i] + s * (v[i] - u[i])


@kernel
def _set_pose(turn: Any, l: int, qx: float, qy: float, qz: float, qw: float) -> None:
    """The rotation matrix of a quaternion of any length, into nine rows of ``turn``."""
    w = 2.0 / (qx * qx + qy * qy + qz * qz + qw * qw)
    turn[0, l], turn[1, l], turn[2, l] = (
        1 - w * (qy * qy + qz * qz),
        w * (qx * qy - qz * qw),
        w * (qx * qz + qy * qw),
    )
    turn[3, l], turn[4, l], turn[5, l] = (
        w * (qx * qy + qz * qw),
        1 - w * (qx * qx + qz * qz),
        w * (qy * qz - qx * qw),
    )
    turn[6, l], turn[7, l], turn[8, l] = (
        w * (qx * qz - qy * qw),
        w * (qy * qz + qx * qw),
        1 - w * (qx * qx + qy * qy),
    )


@kernel
def standing_pose(poses: Any) -> Any:
    """The pose of every lane of a sensor that stands, shape (12, lanes)."""
    turn = np.empty((12, LANES), np.float64)
    for l in range(LANES):
        q = poses.quaternions[0]
        _set_pose(turn, l, q[0], q[1], q[2], q[3])
        for i in range(3):
            turn[9 + i, l] = poses.positions[0, i]
    return turn


@inline_kernel
def load_lanes(
    packet: Any, bits: Any, aim: Any, firing: Any, k: int, first: int, key0: Any, key1: Any, frame: Any, reach: Any
) -> None:
    """Fill the packet with sub-ray ``k`` of every lane."""
    if firing.spot != 0:
        _draw_directions(packet, aim, firing, k, first, key0, key1, frame)
    else:
        c0, c1, c2 = firing.stencil[k, 0], firing.stencil[k, 1], firing.stencil[k, 2]
        for l in range(LANES):
            packet[row.DIR_X, l] = c0 * aim[AXIS, l] + c1 * aim[LEFT, l] + c2 * aim[UP, l]
            packet[row.DIR_Y, l] = c0 * aim[AXIS + 1, l] + c1 * aim[LEFT + 1, l] + c2 * aim[UP + 1, l]
            packet[row.DIR_Z, l] = c0 * aim[AXIS + 2, l] + c1 * aim[LEFT + 2, l] + c2 * aim[UP + 2, l]
    for l in range(LANES):
        packet[row.ORG_X, l] = aim[ORIGIN, l]
        packet[row.ORG_Y, l] = aim[ORIGIN + 1, l]
        packet[row.ORG_Z, l] = aim[ORIGIN + 2, l]
        packet[row.TNEAR, l] = _SKIN
        packet[row.TIME, l] = aim[RAY_TIME, l]
        packet[row.TFAR, l] = reach
        bits[row.MASK, l] = NOTHING
        bits[row.FLAGS, l] = 0
        bits[row.GEOM, l] = NOTHING
        bits[row.INST, l] = NOTHING
        bits[row.INST_PRIM, l] = 0


@kernel
def _draw_directions(packet: Any, aim: Any, firing: Any, k: int, first: int, key0: Any, key1: Any, frame: Any) -> None:
    """Directions drawn evenly over the spot, anew for every pulse."""
    for l in range(LANES):
        words = philox(key0, key1, first + l, frame, k, _BEAM_SAMPLE)
        u, v = uniform(words[0]), uniform(words[1])
        if firing.spot == 1:
            radius, angle = np.float32(math.sqrt(u)), np.float32(2.0 * math.pi) * v
            h, w = radius * np.float32(math.cos(angle)), radius * np.float32(math.sin(angle))
        else:
            h, w = np.float32(2.0) * u - np.float32(1.0), np.float32(2.0) * v - np.float32(1.0)
        h, w = h * firing.half_width, w * firing.half_height
        unit = np.float32(1.0) / np.float32(math.sqrt(np.float32(1.0) + h * h + w * w))
        for i in range(3):
            packet[row.DIR_X + i, l] = unit * (aim[AXIS + i, l] + h * aim[LEFT + i, l] + w * aim[UP + i, l])
