"""Lanes of a packet: each has numbers of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.rebound import in_python
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.beam import Beam
from tussock.trace.embree import Device, host_isas
from tussock.trace.packets import (
    LANES,
    NOTHING,
    empty_lane,
    hit_at,
    is_hit,
    load_ray,
    new_packet,
    ray_at,
    say_close,
    was_stopped,
)
from tussock.trace.ray import Hit, Ray
from tussock.trace.surroundings import find_surfaces
from tussock.trace.world import World


@pytest.mark.parametrize("lane", [0, 1, 7, 15])
def test_a_lane_has_the_ray_that_was_loaded(lane: int) -> None:
    packet = new_packet()
    rays = [Ray(*(np.float32(100 * l + i) for i in range(9))) for l in range(LANES)]
    for l in range(LANES):
        load_ray(packet, l, rays[l], NOTHING)
    assert tuple(ray_at(packet, lane)) == tuple(rays[lane])
    assert not is_hit(packet, lane)
    empty_lane(packet, lane)
    assert was_stopped(packet, lane)
    assert sum(was_stopped(packet, l) for l in range(LANES)) == 1


@pytest.mark.parametrize("lane", [0, 3, 15])
def test_a_lane_has_the_hit_that_is_its_own(lane: int) -> None:
    """Embree's RTCRayHit16: 21 rows of sixteen; far end 8, normal 12 to 14, u and v, primitive, geometry, copy 20."""
    packet = new_packet()
    packet.numbers[:] = np.arange(21 * LANES)
    for row in (17, 18, 20):
        packet.bits[row * LANES : (row + 1) * LANES] = np.arange(row * LANES, (row + 1) * LANES)
    packet.materials[:] = np.arange(LANES)
    rows = (8, 12, 13, 14, 15, 16, 18, 17, 20)
    assert tuple(hit_at(packet, lane)) == tuple(Hit(*(16 * row + lane for row in rows), lane))


@pytest.mark.parametrize("component", [0.0, -0.0, 2e-20, -6e-20, 9.9e-19, -9.9e-19])
def test_a_direction_that_is_next_to_nothing_is_level(component: float) -> None:
    """Embree has the inverse of a positive number for it and goes by its sign: below 1e-18 there is none."""
    packet = new_packet()
    in_python(load_ray)(packet, 4, Ray(*map(np.float32, (1, 2, 3, component, component, component, 0, 9, 0))), NOTHING)
    assert tuple(in_python(ray_at)(packet, 4))[3:6] == (0, 0, 0)
    more = np.float32(1.1e-18 * (-1 if component < 0 else 1))
    in_python(load_ray)(packet, 4, Ray(*map(np.float32, (1, 2, 3)), more, more, more, 0, 9, 0), NOTHING)
    assert tuple(in_python(ray_at)(packet, 4))[3:6] == (more,) * 3


@pytest.mark.parametrize("isa", host_isas())
def test_sub_rays_close_to_an_axis_meet_the_wall(isa: str) -> None:
    """Those of a round spot straight ahead: cos 270° is none, but a number below it. A second wall makes Embree choose."""
    scene = Scene()
    scene.add(box((0.1, 40, 40)), position=(3.05, 0.3, 0))
    scene.add(box((0.1, 40, 40)), position=(-5.05, 0.3, 0))
    places = Beam(rays=9, divergence_horizontal_mrad=2.0, divergence_vertical_mrad=2.0).stencil()
    world, packet = World(scene, device=Device(isa, "embree")), new_packet()
    for l in range(LANES):
        ray = Ray(*map(np.float32, (0, 0, 0, 1, *places[min(l, 8)], 1e-4, 60, 0)))
        in_python(load_ray)(packet, l, ray, NOTHING)
        packet.masks[l] = NOTHING if l < 9 else 0
    in_python(say_close)(packet, True)
    find_surfaces.py_func(world.still.surroundings, packet)
    assert [bool(in_python(is_hit)(packet, l)) for l in range(9)] == [True] * 9
