"""What a frame says about itself is its own, though it is worked out once for all frames."""

from __future__ import annotations

import json

import tussock


def wall() -> tussock.World:
    scene = tussock.Scene("wall")
    scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    return tussock.World(scene)


def test_who_changes_it_changes_no_other_frame() -> None:
    world, sensor = wall(), tussock.load_sensor("vlp-16")
    first, second = (tussock.scan(world, sensor, frame=frame).meta for frame in (0, 1))
    before = json.dumps(second)
    first["sensor"]["receiver"].clear()
    first["objects"].clear()
    first["materials"].append("none")
    first["first_instance"].clear()
    assert json.dumps(second) == before
    again = tussock.scan(world, sensor, frame=1).meta
    assert json.dumps(again) == before


def test_it_is_of_this_sensor_and_this_world() -> None:
    """Those that are equal but for one number, and one that comes after another one has gone."""
    world, sensor = wall(), tussock.load_sensor("vlp-16")
    for reach in (20.0, 30.0, 40.0):
        other = sensor.with_(**{"receiver.max_range_m": reach})
        assert tussock.scan(world, other).meta["sensor"] == other.told()
        assert other.told()["receiver"]["max_range_m"] == reach
    scene = tussock.Scene("crate")
    crate = scene.add(tussock.box((1, 1, 1)), name="crate", position=(5, 0, 0))
    assert tussock.scan(scene, sensor).meta["objects"] == {str(crate.id): "crate"}
    assert list(tussock.scan(world, sensor).meta["objects"].values()) == ["wall"]
