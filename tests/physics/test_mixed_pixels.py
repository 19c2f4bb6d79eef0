"""Rods before a wall, seen by an LMS-291: Goodin et al. (2018), section 4.2.

A beam that falls half on a rod and half on the wall reports a range where nothing stands, if the two lie within the
signal cutoff of 1.6 m; nine rods 12.7 cm apart, one of 75 mm and eight of 25 mm, stand 80 cm before the sensor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.primitives import cylinder
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.paper_receiver import PAPER_RECEIVER

NINE = {"beam.rays": 9}
ROD = Material(name="rod", reflectance=0.5)
CLEAR = 0.1  # [m] from rod and wall: ten σ of the sensor's noise


def rods_before_a_wall(add_wall: Callable, behind: float) -> World:
    scene = Scene()
    for k in range(9):
        radius = 0.0375 if k == 4 else 0.0125
        rod = cylinder(radius, 1.0, sides=64, material=ROD)
        scene.add(rod, position=(0.8, 0.127 * (k - 4), 0), name=f"rod {k}")
    add_wall(scene, [0.8 + behind, 0, 0], (-1, 0, 0), material=Material(reflectance=0.5), size=20.0, name="wall")
    return World(scene)


def between(world: World, behind: float, **settings: object) -> tuple[int, int]:
    """Points between the rods and the wall, and points on rods, in ten scans from places 1 mm apart."""
    sensor = load_sensor("lms-291-s05").with_(
        **PAPER_RECEIVER | NINE | {"receiver.mode": "first", "receiver.signal_cutoff_m": 1.6, **settings}
    )
    mixed = on_rods = 0
    for k in range(10):
        frame = scan(world, sensor, Pose.at(0, 1e-3 * (k - 4.5), 0), seed=1, frame=k)
        assert len(frame) == len(sensor.pulses(k))
        x = frame.xyz[:, 0]
        mixed += np.count_nonzero((x > 0.8375 + CLEAR) & (x < 0.8 + behind - CLEAR))
        on_rods += np.count_nonzero(x < 0.8375 + CLEAR)
    return mixed, on_rods


def test_a_wall_0_6_m_behind_gives_mixed_pixels(add_wall: Callable) -> None:
    world = rods_before_a_wall(add_wall, 0.6)
    mixed, on_rods = between(world, 0.6)
    assert mixed >= 20
    assert on_rods > 200
    assert between(world, 0.6, **{"receiver.signal_cutoff_m": 0.3})[0] == 0, "a finer cutoff tells them apart"
    assert between(world, 0.6, **{"beam.rays": 1})[0] == 0, "a single ray mixes nothing"


def test_a_wall_2_m_behind_gives_none(add_wall: Callable) -> None:
    mixed, on_rods = between(rods_before_a_wall(add_wall, 2.0), 2.0)
    assert mixed == 0
    assert on_rods > 200


@pytest.mark.parametrize("mode", ["strongest", "last", "strongest+last"])
def test_other_modes_never_mix(mode: str, add_wall: Callable) -> None:
    world = rods_before_a_wall(add_wall, 0.6)
    sensor = load_sensor("lms-291-s05").with_(**PAPER_RECEIVER | NINE | {"receiver.mode": mode})
    x = scan(world, sensor).xyz[:, 0]
    assert not ((x > 0.8375 + CLEAR) & (x < 1.4 - CLEAR)).any()
