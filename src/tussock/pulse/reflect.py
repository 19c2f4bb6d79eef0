"""What comes back from the surface or the volume that a ray met."""

from __future__ import annotations

import numpy as np

from tussock.kernels import Real, inline_kernel
from tussock.pulse.tables import Hits, Part, Receiving, Scanning, Scratch
from tussock.signal.detection import detected
from tussock.signal.film import film_passes
from tussock.signal.loss import after_loss
from tussock.signal.reflectance import cos_incidence, glint, lambert
from tussock.trace.hit_tables import DIFFUSE, FILM, RETRO, SHININESS, SPECULAR
from tussock.trace.packets import LANES, hit_at, ray_at
from tussock.trace.ray import Hit, Ray
from tussock.trace.surroundings import Surroundings

__all__ = ["add_hit", "clear_added", "returned_energy", "rows_in_use", "scatter_lanes"]


@inline_kernel
def returned_energy(around: Surroundings, receiving: Receiving, ray: Ray, hit: Hit, path: Real) -> Real:
    """What the receiver gets of a ray of energy 1 that met something after the whole ``path`` [m]."""
    if hit.material < 0:
        return np.float32(0.0)
    if hit.geometry >= around.tables.first_volume:
        reflectivity = energy = around.volumes.gaussians.intensity[hit.primitive]
    else:
        optics = around.tables.optics[hit.material]
        cosine = cos_incidence(ray.dx, ray.dy, ray.dz, hit.nx, hit.ny, hit.nz)
        reflectivity = optics[DIFFUSE] + optics[SPECULAR] + optics[RETRO]
        energy = lambert(optics[DIFFUSE], cosine) + glint(optics[SPECULAR], optics[SHININESS], optics[RETRO], cosine)
        if optics[FILM] > np.float32(0.0):
            energy *= film_passes(optics[FILM], cosine)
    if not detected(reflectivity, path, receiving.limit):
        return np.float32(0.0)
    return after_loss(energy, path, receiving.loss_reference, receiving.extinction)


@inline_kernel
def scatter_lanes(scanning: Scanning, scratch: Scratch, part: Part) -> None:
    """Path and energy of the hit of every ray of a packet, and what was hit, into the table of hits."""
    _find_energies(scanning, scratch, part.used)
    hits, packet, inner = scratch.hits, scratch.packet, scanning.receiving.media.inner
    # Short loops over few arrays each: these become vector code.
    if part.along:
        # Neither is below 0: now the compiler knows that no index counts from the end.
        lane, first = max(part.pulse, 0), max(part.ray, 0)
        for l in range(part.used):
            hits.ranges[first + l, lane] = hit_at(packet, l).distance * inner
            hits.energies[first + l, lane] = scratch.energies[l]
        for l in range(part.used):
            hit = hit_at(packet, l)
            hits.ids[0, first + l, lane] = hit.geometry
            hits.ids[1, first + l, lane] = hit.primitive
            hits.ids[2, first + l, lane] = hit.copy
        return
    k = part.ray
    for l in range(LANES):
        hits.ranges[k, l] = hit_at(packet, l).distance * inner
    for l in range(LANES):
        hits.energies[k, l] = scratch.energies[l]
    for l in range(LANES):
        hits.ids[0, k, l] = hit_at(packet, l).geometry
    for l in range(LANES):
        hits.ids[1, k, l] = hit_at(packet, l).primitive
    for l in range(LANES):
        hits.ids[2, k, l] = hit_at(packet, l).copy


@inline_kernel
def _find_energies(scanning: Scanning, scratch: Scratch, used: int) -> None:
    """What comes back of each ray of a traced packet."""
    around, receiving, packet = scanning.around, scanning.receiving, scratch.packet
    tables, weights, energies, inner = around.tables, scratch.weights, scratch.energies, receiving.media.inner
    if len(around.volumes.model) > 0 or receiving.limit.far > np.float32(0.0):
        for l in range(used):
            ray, hit = ray_at(packet, l), hit_at(packet, l)
            energies[l] = weights[l] * returned_energy(around, receiving, ray, hit, hit.distance * inner)
        return
    # The usual case by itself, for idle lanes as well: their number is then known to the compiler.
    for l in range(LANES):
        material = packet.materials[l]
        energies[l] = np.float32(0.0) if material < 0 else tables.optics[material, DIFFUSE]
    if tables.shines:
        _let_shine(scanning, scratch, used)
        return
    for l in range(LANES):
        ray, hit = ray_at(packet, l), hit_at(packet, l)
        cosine = cos_incidence(ray.dx, ray.dy, ray.dz, hit.nx, hit.ny, hit.nz)
        energies[l] = weights[l] * lambert(energies[l], cosine)
    if receiving.loss_reference > np.float32(0.0) or receiving.extinction > np.float32(0.0):
        for l in range(LANES):
            path = hit_at(packet, l).distance * inner
            energies[l] = after_loss(energies[l], path, receiving.loss_reference, receiving.extinction)


@inline_kernel
def _let_shine(scanning: Scanning, scratch: Scratch, used: int) -> None:
    """What comes back where surfaces shine or are wet, from how bright each is by itself.

    Films are taken off all rays at once, as all of the ground has one in rain; rays that meet a lobe or a reflector, by far
    the fewest, are done again by themselves.
    """
    around, receiving, packet = scanning.around, scanning.receiving, scratch.packet
    optics, weights, energies, films = around.tables.optics, scratch.weights, scratch.energies, scratch.films
    inner, others = receiving.media.inner, 0
    for l in range(LANES):
        material = packet.materials[l]
        films[l] = np.float32(0.0) if material < 0 else optics[material, FILM]
    for l in range(LANES):
        material = packet.materials[l]
        shine = np.float32(0.0) if material < 0 else optics[material, SPECULAR] + optics[material, RETRO]
        others += 1 if shine > np.float32(0.0) else 0
    for l in range(LANES):
        ray, hit = ray_at(packet, l), hit_at(packet, l)
        cosine = cos_incidence(ray.dx, ray.dy, ray.dz, hit.nx, hit.ny, hit.nz)
        energies[l] = lambert(energies[l], cosine) * film_passes(films[l], cosine)
    if receiving.loss_reference > np.float32(0.0) or receiving.extinction > np.float32(0.0):
        for l in range(LANES):
            path = hit_at(packet, l).distance * inner
            energies[l] = after_loss(energies[l], path, receiving.loss_reference, receiving.extinction)
    for l in range(LANES):
        energies[l] *= weights[l]
    if others == 0:
        return
    for l in range(used):
        material = packet.materials[l]
        if material >= 0 and optics[material, SPECULAR] + optics[material, RETRO] > np.float32(0.0):
            ray, hit = ray_at(packet, l), hit_at(packet, l)
            energies[l] = weights[l] * returned_energy(around, receiving, ray, hit, hit.distance * inner)


@inline_kernel
def add_hit(hits: Hits, lane: int, path: Real, energy: Real, hit: Hit) -> None:
    """One more hit of a lane's pulse; where there is no room it is dropped."""
    at = hits.used[lane]
    if at < hits.ranges.shape[0]:
        hits.ranges[at, lane], hits.energies[at, lane] = path, energy
        hits.ids[0, at, lane], hits.ids[1, at, lane], hits.ids[2, at, lane] = hit.geometry, hit.primitive, hit.copy
        hits.used[lane] = at + 1


@inline_kernel
def rows_in_use(hits: Hits, rays: int) -> int:
    """How many rows of hits any lane uses."""
    used = rays
    if len(hits.ranges) > rays:
        for l in range(LANES):
            used = max(used, hits.used[l])
    return used


@inline_kernel
def clear_added(hits: Hits, rays: int, used: int) -> None:
    """Leave no hits behind but those of the sub-rays, which the next group overwrites."""
    for k in range(rays, used):
        for l in range(LANES):
            hits.energies[k, l] = np.float32(0.0)
    if used > rays:
        for l in range(LANES):
            hits.used[l] = rays
