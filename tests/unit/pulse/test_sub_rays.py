"""Which sub-rays go into one packet: each of them once, and to the same hits as one by one."""

from __future__ import annotations

from ctypes import c_void_p
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.bench import _in_groups
from tussock.poses import Pose, Trajectory
from tussock.pulse.sub_rays import (
    FEW,
    apart_in_groups,
    lanes_of,
    lot_of,
    number_of,
    packets_of,
    part_of,
    pulse_number,
    pulse_of,
    some_of,
)  # fmt: skip
from tussock.rebound import in_python
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, plane, sphere
from tussock.scene.scene import Scene
from tussock.sensors.beam import Beam
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.embree import library
from tussock.trace.packets import LANES, NOTHING, is_hit, load_ray, new_packet, ray_at, say_close
from tussock.trace.ray import SKIN, Ray
from tussock.trace.world import World

RAYS = (*range(1, 70), 127, 128, 129, 256, 1000)


@pytest.mark.parametrize("pulses", [1, 7, LANES])
def test_every_sub_ray_of_every_pulse_is_in_one_packet(pulses: int) -> None:
    part, packets, lanes, pulse, number = (
        in_python(kernel) for kernel in (part_of, packets_of, lanes_of, pulse_of, number_of)
    )
    for rays in RAYS:
        parts = [part(n, rays) for n in range(packets(rays))]
        held = [(pulse(p, l), number(p, l)) for p in parts for l in range(lanes(p, pulses))]
        assert sorted(held) == [(p, k) for p in range(pulses) for k in range(rays)]
        assert all(0 < p.used <= LANES for p in parts)
        # Hits of one pulse are added in the order of its sub-rays.
        assert [k for p, k in held if p == 0] == list(range(rays))


def test_packets_of_one_pulse_are_filled_evenly() -> None:
    part, packets = in_python(part_of), in_python(packets_of)
    for rays in RAYS:
        parts = [part(n, rays) for n in range(packets(rays))]
        assert all(p.along for p in parts) == (rays >= FEW)
        if rays >= FEW:
            mine = [p.used for p in parts if p.pulse == 3]
            assert len(mine) == -(-rays // LANES)
            assert max(mine) - min(mine) < len(mine) + 1


def test_some_of_the_sub_rays_of_a_pulse() -> None:
    some = in_python(some_of)
    for begin, end in ((8, 48), (8, 9), (3, 19), (0, 16), (5, 40)):
        parts = [some(6, n, begin, end) for n in range(-(-(end - begin) // LANES))]
        assert [k for p in parts for k in range(p.ray, p.ray + p.used)] == list(range(begin, end))
        assert {p.pulse for p in parts} == {6}


def thicket() -> Scene:
    """Many small copies, large triangles among them, and something that moves."""
    rng, scene = np.random.default_rng(1), Scene("thicket")
    scene.add(ground((40, 40), cells=(9, 9), heights=lambda x, y: 0.3 * np.sin(x) * np.cos(y)), position=(0, 0, -1))
    places = rng.uniform(-8, 8, (300, 3)) * [1, 1, 0.2]
    scene.add(
        sphere(0.2, subdivisions=1), name="balls",
        placements=Placements.of(places, scale=np.exp(rng.normal(0, 0.5, (300, 3)))),
    )  # fmt: skip
    scene.add(box((0.1, 6, 3)), position=(5, 0, 0), name="board")
    return scene


def test_rays_that_are_said_to_be_close_meet_what_they_met_before() -> None:
    """Spread over ten times as much, and over all eight octants, as well: it is a hint, not a promise."""
    world, rng, call = World(thicket()), np.random.default_rng(2), library().rtcIntersect16
    load, say, at, hits = (in_python(kernel) for kernel in (load_ray, say_close, ray_at, is_hit))
    met = 0
    for turn in range(120):
        spread, used = (0.002, 0.02, 3.0)[turn % 3], 1 + turn % LANES
        axis, start = rng.normal(size=3), rng.uniform(-6, 6, 3) * [1, 1, 0.1]
        ways = axis / np.linalg.norm(axis) + spread * rng.normal(size=(LANES, 3))
        ways = (ways / np.linalg.norm(ways, axis=1)[:, None]).astype(np.float32)
        found = []
        for close in (False, True):
            packet = new_packet()
            for l in range(LANES):
                load(
                    packet,
                    l,
                    Ray(*start.astype(np.float32), *ways[l], SKIN, np.float32(50.0), np.float32(0.0)),
                    NOTHING,
                )
                packet.masks[l] = NOTHING if l < used else 0
            say(packet, close)
            assert (packet.query[0] == 1 << 16) == close
            given = (packet.masks, packet.numbers, packet.query)
            masks, numbers, query = (c_void_p(array.ctypes.data) for array in given)
            call(masks, c_void_p(int(world.handle)), numbers, query)
            lanes = packet.bits.reshape(-1, LANES)
            ids = lanes[[17, 18, 19, 20], :used]  # primitive, geometry, instance and copy
            found.append((ids, np.array([at(packet, l).far for l in range(LANES)])))
            met += sum(hits(packet, l) for l in range(used))
            assert not any(hits(packet, l) for l in range(used, LANES))
        np.testing.assert_array_equal(found[0][0], found[1][0])
        np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-6)
    assert met > 900


@pytest.mark.parametrize("model", ["echoes", "hits"])
def test_a_hit_is_that_of_its_own_pulse_and_sub_ray(model: str) -> None:
    """Whole spheres around the sensor: each pulse of seven sub-rays meets the one of its own direction, and no other."""
    scene = Scene("rings")
    for number in range(24):
        way = np.deg2rad(15 * number)
        scene.add(
            sphere(0.4, subdivisions=2), name=f"ball {number}", position=(6 * np.cos(way), 6 * np.sin(way), 0.0)
        )  # fmt: skip
    pattern = {"kind": "spinning", "elevation_deg": [0.0], "steps": 24, "rotation_hz": 10.0}
    beam = Beam(rays=7, divergence_horizontal_mrad=10.0, divergence_vertical_mrad=10.0)
    device = Sensor(name="ring", pattern=pattern, beam=beam, receiver=Receiver(max_range_m=20.0, model=model))
    frame = scan(World(scene), device, Pose.at(0, 0, 0), threads=1)
    assert len(frame) == 24
    assert len(set(frame.object_id.tolist())) == 24
    towards = np.arctan2(frame.true_xyz[:, 1], frame.true_xyz[:, 0])
    assert np.abs((towards - frame.azimuth + np.pi) % (2 * np.pi) - np.pi).max() < 0.01
    np.testing.assert_allclose(frame.true_range, 5.6, atol=0.05)


@pytest.mark.parametrize("apart", [1, 2, 6, 16, 33, 64])
def test_every_pulse_is_in_one_group(apart: int) -> None:
    lot, number = in_python(lot_of), in_python(pulse_number)
    for pulses in (1, 15, 16, 17, 100, 1024, 2083, 5000):
        firing: Any = SimpleNamespace(lasers=np.zeros(pulses), apart=apart)
        lots = [lot(firing, at, None) for at in range(0, pulses, LANES)]
        assert sorted(number(group, l) for group in lots for l in range(group.lanes)) == list(range(pulses))
        together = LANES * apart
        for at, group in zip(range(0, pulses, LANES), lots, strict=True):  # groups stay within their rounds
            assert {number(group, l) // together for l in range(group.lanes)} == {at // together}
        np.testing.assert_array_equal(
            [number(group, l) for group in lots for l in range(group.lanes)], _in_groups(pulses, apart)
        )


def test_lasers_that_take_turns_are_so_many_apart() -> None:
    turns = np.tile(np.array([3, 0, 2, 1], np.uint16), 40)
    assert apart_in_groups(turns, 1) == apart_in_groups(turns, FEW - 1) == 4
    assert apart_in_groups(turns[:-3], 1) == 4
    assert apart_in_groups(turns, FEW) == 1
    assert apart_in_groups(np.zeros(100, np.uint16), 1) == 1
    assert apart_in_groups(np.zeros(1, np.uint16), 1) == 1
    out_of_turn = turns.copy()
    out_of_turn[-2] = 3
    assert apart_in_groups(out_of_turn, 1) == 1
    assert apart_in_groups(np.arange(600, dtype=np.uint16), 1) == 1


@pytest.mark.parametrize("moving", [False, True])
def test_rows_are_those_of_each_pulse_whatever_the_blocks(moving: bool) -> None:
    """Six lasers that take turns, one ray each: groups of one laser, which blocks of any size cut through."""
    pattern = {
        "kind": "spinning", "elevation_deg": [-30.0, -20.0, -12.0, -8.0, -5.0, -3.0], "steps": 61, "rotation_hz": 10.0,
    }  # fmt: skip
    receiver = Receiver(max_range_m=60.0, detects="10 % at 20 m with probability 0.9")
    device = Sensor(name="six", pattern=pattern, receiver=receiver).with_(**{"noise.ray_sigma_m": 0.02})
    path = (
        Trajectory.through([0.0, 0.1], [Pose.at(0, 0, 1), Pose.at(2, 1, 1.5, yaw=1.0)]) if moving else Pose.at(0, 0, 1)
    )
    world = World(thicket())
    frames = [scan(world, device, path, threads=1, block=block, keep_misses=True) for block in (16, 48, 96, 4096)]
    frames.append(scan(world, device, path, threads=2, keep_misses=True))
    assert frames[0].pulse.tolist() == list(range(6 * 61))
    assert (frames[0].laser == device.pulses(0).lasers).all()
    for other in frames[1:]:
        for name in ("range", "true_range", "intensity", "xyz", "pulse", "time", "object_id"):
            np.testing.assert_array_equal(getattr(frames[0], name), getattr(other, name))
    assert np.isfinite(frames[0].true_range).sum() > 200


def test_a_pulse_of_a_group_starts_at_its_own_place_and_time() -> None:
    """A moving sensor over a plane: every hit, taken along its pulse from where the sensor was then, lies on the plane."""
    scene = Scene("plane")
    scene.add(plane((400, 400)), name="plane")
    pattern = {
        "kind": "spinning",
        "elevation_deg": [-40.0, -30.0, -25.0, -20.0, -15.0],
        "steps": 70,
        "rotation_hz": 10.0,
    }
    device = Sensor(name="five", pattern=pattern, receiver=Receiver(max_range_m=100.0))
    path = Trajectory.through([0.0, 0.1], [Pose.at(0, 0, 2), Pose.at(3, 1, 3, yaw=2.0, pitch=0.05)])
    frame, pulses = scan(World(scene), device, path, threads=1), device.pulses(0)
    assert len(frame) == len(pulses) == 350
    assert apart_in_groups(pulses.lasers, 1) == 5
    ways = pulses.directions[frame.pulse] * frame.true_range[:, None]
    met = [path.pose(float(t)).apply(way)[2] for t, way in zip(pulses.offsets[frame.pulse], ways, strict=True)]
    np.testing.assert_allclose(met, 0.0, atol=2e-4)
    np.testing.assert_allclose(frame.time, pulses.offsets[frame.pulse], atol=1e-9)
