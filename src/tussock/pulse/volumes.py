"""Volumes in the way of rays: they stand among surfaces, and what ends in one has not reached what is behind it.

A ray that ends in a volume is made to look like a hit on a surface that faces it, so that everything after this step
treats both alike; only its energy is the volume's own intensity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import inline_kernel, kernel
from tussock.pulse.reflect import returned_energy
from tussock.signal.detection import detected
from tussock.signal.loss import after_loss
from tussock.trace import packets as row
from tussock.trace.packets import LANES, NOTHING
from tussock.trace.placed_volumes import end_in_copies

__all__ = ["energies_of_volumes", "energy_of_hit", "volumes_in_the_way"]


@kernel
def volumes_in_the_way(
    packet: Any, bits: Any, masks: Any, lanes: int, owners: Any, first: int, volumes: Any, scratch: Any, key0: Any,
    key1: Any, frame: Any,
) -> None:  # fmt: skip
    """End the rays of a traced packet in volumes in front of what they met.

    Lane ``l`` belongs to pulse ``first + owners[l]``; lanes from ``lanes`` on and lanes masked out are left alone.
    """
    for l in range(lanes):
        if masks[l] == 0:
            continue
        near = packet[row.TNEAR, l]
        t, volume, copy = end_in_copies(
            volumes, scratch,
            packet[row.ORG_X, l] + near * packet[row.DIR_X, l], packet[row.ORG_Y, l] + near * packet[row.DIR_Y, l],
            packet[row.ORG_Z, l] + near * packet[row.DIR_Z, l],
            packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l], packet[row.TFAR, l] - near,
            bits[row.GEOM, l] == NOTHING, key0, key1, first + owners[l], frame,
        )  # fmt: skip
        if volume < 0:
            continue
        packet[row.TFAR, l] = near + t
        packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l] = (
            -packet[row.DIR_X, l], -packet[row.DIR_Y, l], -packet[row.DIR_Z, l],
        )  # fmt: skip
        bits[row.GEOM, l] = volumes.geometry[copy]
        bits[row.PRIM, l] = volume
        bits[row.INST, l] = NOTHING
        bits[row.INST_PRIM, l] = volumes.number[copy]


@kernel
def energies_of_volumes(tables: Any, volumes: Any, receiving: Any, hits: Any, k: int) -> None:
    """The energies of row ``k`` where lanes ended in volumes."""
    for l in range(LANES):
        if hits.materials[l] >= 0 and hits.ids[0, k, l] >= tables.first_volume:
            hits.energies[k, l] = _energy(volumes, receiving, hits.ids[1, k, l], hits.ranges[k, l])


@kernel
def energy_of_hit(
    packet: Any, bits: Any, tables: Any, volumes: Any, receiving: Any, material: Any, l: int, distance: Any
) -> Any:
    """What the receiver gets of a ray of energy 1 that met a surface or a volume after the path ``distance`` [m]."""
    if bits[row.GEOM, l] >= tables.first_volume:
        return _energy(volumes, receiving, bits[row.PRIM, l], distance)
    return returned_energy(packet, tables, receiving, material, l, distance)


@inline_kernel
def _energy(volumes: Any, receiving: Any, volume: Any, distance: Any) -> Any:
    intensity = volumes.gaussians.intensity[volume]
    seen = detected(
        intensity,
        distance,
        receiving.limit_near,
        receiving.limit_far,
        receiving.limit_at_near,
        receiving.limit_at_far,
    )
    left = after_loss(intensity, distance, receiving.spreading_reference, receiving.extinction)
    return left if seen else np.float32(0.0)
