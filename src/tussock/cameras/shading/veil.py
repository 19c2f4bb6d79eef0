"""Learned volumes in a picture: what a pixel's ray ends in, the light that falls there, and the shadows of volumes.

A ray of a pixel meets volumes by the law of a pulse (`tussock.trace.volume_hits`): it ends in one of them or passes them all by
chance. The mean over the samples of a pixel is what shines through: stochastic transparency (Enderton et al. 2010), which needs
no order of the volumes. Rays to the sun and the sky are stopped by the same law, from where they have left the volume they
start in.

Leaves that face all directions alike and reflect as Lambert's law says send the share Γ of the light on through the angle β
between its old and its new direction (Ross 1981, spherical distribution of leaf normals):

    Γ_reflected = (sin β − β cos β) / 3π        Γ_transmitted = (sin β + (π − β) cos β) / 3π

A thick layer of them looks as bright as a surface of the same colour at the cosine 2Γ, for it catches ½ of the light a unit of
leaf area.
"""

from __future__ import annotations

import math

import numpy as np

from tussock.cameras.shading.volume_paint import VolumePaint
from tussock.kernels import Real, inline_kernel
from tussock.randomness import Chance
from tussock.trace.packets import Packet, ray_at
from tussock.trace.placed_volumes import VolumeWalk, end_in_copies
from tussock.trace.ray import Hit, Ray
from tussock.trace.surroundings import Surroundings

__all__ = ["TO_SKY", "TO_SUN", "VIEW", "leaf_cosine", "sample_chance", "veiled", "volume_normal"]

VIEW, TO_SUN, TO_SKY = range(3)
"""what a ray is for: each has draws of its own"""
_KINDS = 4
_THROUGH = 0.5
"""light that leaves let through, over what they reflect"""


@inline_kernel
def sample_chance(chance: Chance, sample: int, bounce: int, kind: int) -> Chance:
    """The chance of one sample of all pixels, one of its bounces, and one kind of ray."""
    number = np.uint32((sample * 8 + bounce) * _KINDS + kind + 1)
    return Chance(
        np.uint32(chance.key0 ^ np.uint32(number * np.uint32(0x85EBCA6B))), chance.key1, chance.frame, chance.epoch
    )


@inline_kernel
def veiled(
    around: Surroundings, packet: Packet, l: int, own: Real, pixel: int, chance: Chance, walk: VolumeWalk
) -> bool:  # fmt: skip
    """Whether the ray of lane ``l`` ends in a volume, from ``own`` [m] behind its start on."""
    ray = ray_at(packet, l)
    if ray.far <= own:
        return False
    rest = Ray(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz, own, ray.far, ray.time)
    _, volume, _ = end_in_copies(around.volumes, walk, rest, True, pixel, chance)
    return volume >= 0


@inline_kernel
def volume_normal(around: Surroundings, paint: VolumePaint, ray: Ray, hit: Hit) -> tuple[Real, Real, Real]:
    """The unit normal of the plane of a volume's returns, in the world, on the side that the ray came from."""
    copy = paint.first_copy[np.int64(hit.geometry) - around.tables.first_volume] + np.int64(hit.copy)
    m, n = around.volumes.inverse[copy], paint.normal[hit.primitive]
    x, y, z = (
        m[0] * n[0] + m[4] * n[1] + m[8] * n[2],
        m[1] * n[0] + m[5] * n[1] + m[9] * n[2],
        m[2] * n[0] + m[6] * n[1] + m[10] * n[2],
    )
    turn = -1.0 if x * ray.dx + y * ray.dy + z * ray.dz > 0.0 else 1.0
    return np.float32(turn * x), np.float32(turn * y), np.float32(turn * z)


@inline_kernel
def leaf_cosine(along: Real) -> Real:
    """The cosine at which a surface would be as bright as leaves that face all directions alike.

    ``along`` is the cosine between the ray that looks and the direction to the light: −1 with the light behind the camera.
    """
    c = min(max(np.float64(along), -1.0), 1.0)
    sine, angle = math.sqrt(1.0 - c * c), math.acos(c)
    reflected, passed = sine - angle * c, sine + (math.pi - angle) * c
    return np.float32(2.0 / (3.0 * math.pi) * (reflected + _THROUGH * passed))
