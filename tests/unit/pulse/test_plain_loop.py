"""The plain loop leaves out what a plain scan never does, and changes nothing of the rest."""

from __future__ import annotations

import numpy as np
import pytest

import tussock
from tussock.poses import Pose, Trajectory
from tussock.pulse.loop import Turns, pulse_loop
from tussock.pulse.plain import _IDLE, fire_on_a_thread, is_plain, loop_for, plain_loop, ready_to_fire
from tussock.scene.response import VegetationResponse
from tussock.simulate import prepare
from tussock.trace.world import World

PLACE = Trajectory.standing(Pose.at(0, 0, 1))


def scene_of(**more):
    scene = tussock.Scene("box and ground")
    scene.add(tussock.plane((40, 40)), name="ground")
    scene.add(tussock.box((1, 1, 2)), name="box", label="vegetation", position=(5, 0, 1), **more)
    return scene


def shot_of(scene, waveform=False, **settings):
    """A scan, ready to be fired as long as its world, which comes with it, is there."""
    world, sensor = World(scene), tussock.load_sensor("vlp-16").with_(**settings)
    return prepare(world, sensor, PLACE, 3, 0, waveform=waveform), world


@pytest.mark.parametrize("settings", [{}, {"receiver.mode": "strongest+last", "beam.rays": 5}])
def test_both_loops_give_the_same_bits(settings):
    found = []
    for loop in (plain_loop(), pulse_loop):
        shot, world = shot_of(scene_of(), **settings)
        pulses = len(shot.fired.lasers)
        turns = Turns(pulses + 16, np.zeros(1, np.int64), 1, np.zeros(1, np.int64))
        fire_on_a_thread(0, 1, ready_to_fire(turns, shot.scanning, shot.slots, loop))
        assert world.triangles == 14
        slots = shot.slots
        written = np.arange(slots.range.shape[1]) < slots.counts[:, None]
        found.append((turns.counts, slots.counts, slots.range[written], slots.intensity[written], slots.copy[written]))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found[0][0][0] > 1000


def test_a_scan_that_does_more_runs_the_whole_loop():
    rainy = scene_of()
    rainy.weather = tussock.Weather(rain_mm_h=10.0)
    whole = {
        "weather": shot_of(rainy),
        "response": shot_of(scene_of(tags=("vegetation",), response=VegetationResponse(sigma_m=1.0))),
        "hits": shot_of(scene_of(), **{"receiver.model": "hits"}),
        "waveform": shot_of(scene_of(), waveform=True),
    }
    for name, (shot, _) in whole.items():
        assert not is_plain(shot.scanning, shot.slots), name
        assert loop_for(shot.scanning, shot.slots) is pulse_loop, name
    plain, _ = shot_of(scene_of())
    assert is_plain(plain.scanning, plain.slots)
    assert loop_for(plain.scanning, plain.slots) is plain_loop()


def test_no_kernel_of_the_plain_loop_has_the_name_of_another_one():
    """Of two functions of one name in memory the linker takes one: a scan in clear air would make all later ones clear."""
    waiting, seen = [plain_loop()], {}
    while waiting:
        kernel = waiting.pop()
        seen[id(kernel)] = kernel
        names = kernel.py_func.__globals__
        called = [names[name] for name in kernel.py_func.__code__.co_names if hasattr(names.get(name), "py_func")]
        waiting += [one for one in called if id(one) not in seen]
    idle = {id(kernel) for kernel in _IDLE.values()}
    copies = [kernel.py_func.__qualname__ for key, kernel in seen.items() if key not in idle]
    assert len(copies) > 50 and all(name.startswith("plain_") for name in copies)
