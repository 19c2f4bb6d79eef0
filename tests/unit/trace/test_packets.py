"""Lanes of a packet: each has numbers of its own."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.trace.packets import LANES, NOTHING, empty_lane, hit_at, is_hit, load_ray, new_packet, ray_at, was_stopped
from tussock.trace.ray import Hit, Ray


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
