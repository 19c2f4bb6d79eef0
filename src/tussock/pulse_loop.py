"""The hot loop: pulses meet the world, and what is left are returns.

Pulses go through in groups of sixteen, one a lane of Embree's packets, in firing order. For each group:

    aim       the pulse's origin and axes in the world, at its own time
    load      one sub-ray of every lane into the packet
    intersect the nearest surface, among what stands and what moves
    scatter   what comes back from it
    receive   which hits become returns, and what is measured of them

Each step is a function of its own; the physics is in `tussock.signal`. A group always holds the same pulses,
however the work is cut into blocks and threads, so the results have the same bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import inline_kernel, kernel
from tussock.randomness import Purpose, normal_pair, philox
from tussock.signal.noise import noisy_range, quantised
from tussock.signal.reflectance import cos_incidence, lambert
from tussock.signal.returns import strongest
from tussock.trace import packets as row
from tussock.trace.normals import world_normal
from tussock.trace.packets import LANES, NOTHING, intersect, lane_masks, new_packet

__all__ = ["Firing", "PoseTable", "Receiving", "Slots", "pulse_loop"]

_RAY_NOISE = int(Purpose.RAY_NOISE)
_STRONGEST = 1  # frames.columns.KINDS
_SKIN = np.float32(1e-4)  # [m] a ray starts this far out, so that a sensor may touch a surface


class Firing(NamedTuple):
    """What leaves the sensor."""

    directions: NDArray[np.float32]
    """unit vectors, sensor frame, shape (n, 3)"""
    origins: NDArray[np.float32]
    """[m], sensor frame, shape (n, 3), or (1, 3) for all"""
    offsets: NDArray[np.float64]
    """[s] since the start of the frame, shape (n,)"""
    lasers: NDArray[np.uint16]
    stencil: NDArray[np.float32]
    """share of the axis, of left and of up in every sub-ray's unit direction, shape (sub-rays, 3)"""
    period: float
    """[s] length of the frame: ray time 1"""


class PoseTable(NamedTuple):
    """Poses of the sensor, so dense that straight lines between them are exact enough."""

    times: NDArray[np.float64]
    """[s] since the start of the frame, shape (k,); one row: the sensor stands"""
    positions: NDArray[np.float64]
    """[m], tracer's coordinates, shape (k, 3)"""
    quaternions: NDArray[np.float64]
    """(x, y, z, w), neighbours in the same hemisphere, shape (k, 4)"""


class Receiving(NamedTuple):
    """What the receiver does."""

    min_range: np.float32
    max_range: np.float32
    range_step: np.float32
    ray_sigma: np.float32
    biases: NDArray[np.float32]
    """[m], one a laser"""
    key0: np.uint32
    key1: np.uint32
    frame: np.uint32


class Slots(NamedTuple):
    """Room for the returns of every pulse, shape (n, returns a pulse); `counts` says how many are there."""

    counts: NDArray[np.uint8]
    """shape (n,)"""
    true_range: NDArray[np.float32]
    range: NDArray[np.float32]
    intensity: NDArray[np.float32]
    geometry: NDArray[np.uint32]
    primitive: NDArray[np.uint32]
    copy: NDArray[np.uint32]
    kind: NDArray[np.uint8]


@kernel
def pulse_loop(
    worker: int, workers: int, block: int, standing: Any, moving: Any, tables: Any, firing: Any, poses: Any,
    receiving: Any, slots: Any, block_counts: Any,
) -> None:  # fmt: skip
    """Fire the pulses of this worker's blocks; ``block`` is a multiple of 16."""
    packet, bits = new_packet()
    masks = lane_masks()
    turn = _standing_pose(poses)
    aim = np.zeros((13, LANES), np.float32)  # left and up stay 0 for a beam without spread
    rays = len(firing.stencil)
    hit_range = np.empty((rays, LANES), np.float32)
    hit_energy = np.empty((rays, LANES), np.float32)
    hit_ids = np.empty((3, rays, LANES), np.uint32)
    normals = np.zeros(LANES, np.float32)
    pulses = len(firing.lasers)
    for b in range(worker, (pulses + block - 1) // block, workers):
        found = 0
        for first in range(b * block, min(pulses, (b + 1) * block), LANES):
            _aim(firing, poses, first, turn, aim)
            for k in range(rays):
                _load(packet, bits, aim, firing.stencil, k, receiving.max_range)
                intersect(standing, packet, masks)
                if moving != 0:
                    intersect(moving, packet, masks)
                _scatter(packet, bits, tables, k, hit_range, hit_energy, hit_ids)
            found += _receive(receiving, firing.lasers, first, hit_range, hit_energy, hit_ids, normals, slots)
        block_counts[b] = found


ORIGIN, AXIS, LEFT, UP, RAY_TIME = 0, 3, 6, 9, 12  # first rows of `aim`


@kernel
def _aim(firing: Any, poses: Any, first: int, turn: Any, aim: Any) -> None:
    """Put the axes of sixteen pulses into the world; lanes past the last pulse repeat it.

    ``turn`` holds the pose of every lane: nine rows of rotation, three of position, shape (12, lanes).
    """
    if len(poses.times) > 1:
        _interpolate(poses, firing.offsets, first, turn)
    last = len(firing.lasers) - 1
    every = 0 if len(firing.origins) == 1 else 1
    spread = len(firing.stencil) > 1
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


@inline_kernel
def _turned(turn: Any, l: int, x: Any, y: Any, z: Any, aim: Any, at: int) -> None:
    """A vector of the sensor in the world, into three rows of ``aim``."""
    aim[at, l] = turn[0, l] * x + turn[1, l] * y + turn[2, l] * z
    aim[at + 1, l] = turn[3, l] * x + turn[4, l] * y + turn[5, l] * z
    aim[at + 2, l] = turn[6, l] * x + turn[7, l] * y + turn[8, l] * z


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
def _standing_pose(poses: Any) -> Any:
    """The pose of every lane of a sensor that stands, shape (12, lanes)."""
    turn = np.empty((12, LANES), np.float64)
    for l in range(LANES):
        q = poses.quaternions[0]
        _set_pose(turn, l, q[0], q[1], q[2], q[3])
        for i in range(3):
            turn[9 + i, l] = poses.positions[0, i]
    return turn


@kernel
def _load(packet: Any, bits: Any, aim: Any, stencil: Any, k: int, reach: Any) -> None:
    """Fill the packet with sub-ray ``k`` of every lane."""
    c0, c1, c2 = stencil[k, 0], stencil[k, 1], stencil[k, 2]
    for l in range(LANES):
        packet[row.ORG_X, l] = aim[ORIGIN, l]
        packet[row.ORG_Y, l] = aim[ORIGIN + 1, l]
        packet[row.ORG_Z, l] = aim[ORIGIN + 2, l]
        packet[row.TNEAR, l] = _SKIN
        packet[row.DIR_X, l] = c0 * aim[AXIS, l] + c1 * aim[LEFT, l] + c2 * aim[UP, l]
        packet[row.DIR_Y, l] = c0 * aim[AXIS + 1, l] + c1 * aim[LEFT + 1, l] + c2 * aim[UP + 1, l]
        packet[row.DIR_Z, l] = c0 * aim[AXIS + 2, l] + c1 * aim[LEFT + 2, l] + c2 * aim[UP + 2, l]
        packet[row.TIME, l] = aim[RAY_TIME, l]
        packet[row.TFAR, l] = reach
        bits[row.MASK, l] = NOTHING
        bits[row.FLAGS, l] = 0
        bits[row.GEOM, l] = NOTHING
        bits[row.INST, l] = NOTHING
        bits[row.INST_PRIM, l] = 0


@kernel
def _scatter(packet: Any, bits: Any, tables: Any, k: int, ranges: Any, energies: Any, ids: Any) -> None:
    """Range and energy of the hit of every lane, and what was hit."""
    for l in range(LANES):
        if bits[row.GEOM, l] == NOTHING:
            energies[k, l] = 0.0
            packet[row.NG_X, l] = packet[row.NG_Y, l] = packet[row.NG_Z, l] = 0.0
            continue
        geometry = bits[row.GEOM, l]
        if bits[row.INST, l] != NOTHING:
            geometry = bits[row.INST, l]
            packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l] = world_normal(
                tables, geometry, bits[row.INST_PRIM, l], packet[row.TIME, l],
                packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l],
            )  # fmt: skip
        ids[0, k, l] = geometry
        energies[k, l] = tables.material_reflectance[material_of(tables, geometry, bits[row.PRIM, l])]
    for l in range(LANES):
        cosine = cos_incidence(
            packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l],
            packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l],
        )  # fmt: skip
        energies[k, l] = lambert(energies[k, l], cosine)
        ranges[k, l] = packet[row.TFAR, l]
        ids[1, k, l] = bits[row.PRIM, l]
        ids[2, k, l] = bits[row.INST_PRIM, l]


@inline_kernel
def material_of(tables: Any, geometry: Any, primitive: Any) -> Any:
    """Number of the material of a triangle."""
    material = tables.geometry_material[geometry]
    if material >= 0:
        return material
    return np.int32(tables.primitives[-1 - np.int64(material) + np.int64(primitive)])


@kernel
def _receive(
    receiving: Any, lasers: Any, first: int, ranges: Any, energies: Any, ids: Any, normals: Any, slots: Any
) -> int:
    """Turn the hits of sixteen pulses into their returns; how many there are."""
    if receiving.ray_sigma > np.float32(0.0):
        _draw_normals(receiving.key0, receiving.key1, first, receiving.frame, normals)
    found = 0
    for l in range(min(LANES, len(lasers) - first)):
        pulse = first + l
        k = strongest(ranges, energies, l, receiving.min_range, receiving.max_range)
        if k < 0:
            slots.counts[pulse] = 0
            continue
        measured = noisy_range(ranges[k, l], receiving.biases[lasers[pulse]], receiving.ray_sigma, normals[l])
        slots.counts[pulse] = 1
        slots.true_range[pulse, 0] = ranges[k, l]
        slots.range[pulse, 0] = quantised(measured, receiving.range_step)
        slots.intensity[pulse, 0] = energies[k, l]
        slots.geometry[pulse, 0] = ids[0, k, l]
        slots.primitive[pulse, 0] = ids[1, k, l]
        slots.copy[pulse, 0] = ids[2, k, l]
        slots.kind[pulse, 0] = _STRONGEST
        found += 1
    return found


@kernel
def _draw_normals(key0: Any, key1: Any, first: int, frame: Any, normals: Any) -> None:
    """One standard normal a lane."""
    for l in range(LANES):
        words = philox(key0, key1, first + l, frame, 0, _RAY_NOISE)
        normals[l] = normal_pair(words[0], words[1])[0]
