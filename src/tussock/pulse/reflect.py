"""What comes back from the surface that a ray met."""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import inline_kernel
from tussock.signal.detection import detected
from tussock.signal.loss import after_loss
from tussock.signal.reflectance import cos_incidence, glint, lambert
from tussock.trace import packets as row
from tussock.trace.hit_tables import DIFFUSE, RETRO, SHININESS, SPECULAR, material_of
from tussock.trace.normals import world_normal
from tussock.trace.packets import LANES, NOTHING

__all__ = ["resolve_hit", "returned_energy", "scatter_lanes"]


@inline_kernel
def scatter_lanes(packet: Any, bits: Any, tables: Any, receiving: Any, k: int, hits: Any) -> None:
    """Range and energy of the hit of every lane, and what was hit, into row ``k``."""
    for l in range(LANES):
        material = resolve_hit(packet, bits, tables, l)
        hits.materials[l] = material
        hits.energies[k, l] = np.float32(0.0) if material < 0 else tables.optics[material, DIFFUSE]
        hits.ids[0, k, l] = bits[row.GEOM, l]
    # Short loops over few arrays each: these become vector code.
    for l in range(LANES):
        cosine = cos_incidence(
            packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l],
            packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l],
        )  # fmt: skip
        hits.energies[k, l] = lambert(hits.energies[k, l], cosine)
    for l in range(LANES):
        hits.ranges[k, l] = packet[row.TFAR, l]
    for l in range(LANES):
        hits.ids[1, k, l] = bits[row.PRIM, l]
        hits.ids[2, k, l] = bits[row.INST_PRIM, l]
    if tables.shines or receiving.limit_far > 0 or receiving.spreading_reference > 0 or receiving.extinction > 0:
        for l in range(LANES):
            if hits.materials[l] >= 0:
                hits.energies[k, l] = returned_energy(
                    packet, tables, receiving, hits.materials[l], l, hits.ranges[k, l]
                )


@inline_kernel
def resolve_hit(packet: Any, bits: Any, tables: Any, l: int) -> Any:
    """The material that lane ``l`` met, −1 for none.

    Afterwards GEOM is the number of the geometry in the hit tables and NG the normal in the world.
    """
    if bits[row.GEOM, l] == NOTHING:
        packet[row.NG_X, l] = packet[row.NG_Y, l] = packet[row.NG_Z, l] = 0.0
        return np.int32(-1)
    if bits[row.INST, l] != NOTHING:
        bits[row.GEOM, l] = bits[row.INST, l]
        packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l] = world_normal(
            tables.transforms, tables.moving, tables.geometry_transform[bits[row.INST, l]] + bits[row.INST_PRIM, l],
            tables.geometry_steps[bits[row.INST, l]], tables.geometry_copies[bits[row.INST, l]], packet[row.TIME, l],
            packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l],
        )  # fmt: skip
    elif bits[row.GEOM, l] < tables.first_volume:
        bits[row.INST_PRIM, l] = 0  # Embree says "none" where it traced no instance; it is the only copy
    return material_of(tables, bits[row.GEOM, l], bits[row.PRIM, l])


@inline_kernel
def returned_energy(packet: Any, tables: Any, receiving: Any, material: Any, l: int, distance: Any) -> Any:
    """What the receiver gets of a ray of energy 1 that met a material after the path ``distance`` [m]."""
    cosine = cos_incidence(
        packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l],
        packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l],
    )  # fmt: skip
    optics = tables.optics[material]
    reflectivity = optics[DIFFUSE] + optics[SPECULAR] + optics[RETRO]
    if not detected(
        reflectivity, distance, receiving.limit_near, receiving.limit_far, receiving.limit_at_near,
        receiving.limit_at_far,
    ):  # fmt: skip
        return np.float32(0.0)
    energy = lambert(optics[DIFFUSE], cosine) + glint(optics[SPECULAR], optics[SHININESS], optics[RETRO], cosine)
    return after_loss(energy, distance, receiving.spreading_reference, receiving.extinction)
