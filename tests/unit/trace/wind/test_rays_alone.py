"""Plants in wind where Embree takes packets apart, as it does on processors without AVX-512: rays come one by one.

Such a processor was once handed sixteen rays' worth of memory where there was one, and plants were missed or the process ended.
"""

from __future__ import annotations

import numpy as np
import pytest

import tussock
from tussock.plants.grass import grass_tile
from tussock.scene.placements import Placements
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene
from tussock.scene.wind import Wind
from tussock.trace.world import World


def meadow() -> Scene:
    rng, scene = np.random.default_rng(4), Scene("tiles")
    scene.add(plane((40, 40)), name="ground")
    x, y = np.meshgrid(np.arange(-8, 9), np.arange(-8, 9))
    where = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], 1).astype(float)
    tile = grass_tile(blades=60, height=0.5, width=0.02, seed=1)
    yaw = rng.uniform(0, 6, len(where))
    scene.add(tile, name="grass", label="grass", placements=Placements.of(where, yaw=yaw))
    scene.wind = Wind(speed_m_s=8.0, from_deg=200.0, gusts=0.6)
    return scene


@pytest.mark.parametrize("isa", ["avx2", "sse4.2"])
def test_it_meets_the_plants_that_packets_meet(isa: str) -> None:
    """At the same place, though plants are asked in another order: what a ray met so far does not say where it runs in the next one.
    All ranges are the same here, as in still air; a few may be rounded to the other side of an edge."""
    scene, sensor = meadow(), tussock.load_sensor("os1-64").with_(**{"beam.rays": 1})
    try:
        alone = World(scene, device=tussock.Device(isa=isa))
    except tussock.TussockError:
        pytest.skip(f"this processor has no {isa}: run it on one that has")
    frames = [
        tussock.scan(world, sensor, tussock.Pose.at(0.3, 0.2, 1.0), frame=2, keep_misses=True, sun=(200.0, 15.0))
        for world in (World(scene), alone)
    ]
    grass = 2
    packets, single = (frame.object_id == grass for frame in frames)
    assert packets.mean() > 0.2
    assert (packets == single).mean() > 0.9999
    ranges, light = ([getattr(frame, name).astype(float) for frame in frames] for name in ("range", "near_infrared"))
    assert np.isclose(*ranges, rtol=0, atol=1e-4, equal_nan=True).mean() > 0.9999
    # Rays to the sun are only asked whether anything is in their way.
    ground = (frames[0].object_id == 1) & (frames[1].object_id == 1)
    seen, again = (shade[ground] for shade in light)
    assert np.isclose(seen, again, rtol=1e-3).mean() > 0.9999
    assert 0.1 < (seen < 0.5 * seen.max()).mean() < 0.9
