from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.noise import Noise
from tussock.sensors.receiver import Receiver
from tussock.simulate import block_for, frames_between, scan, scan_range
from tussock.trace.world import World


@pytest.fixture(scope="module")
def room() -> World:
    scene = Scene("room")
    scene.add(box((30, 20, 10)), name="walls", label="building")
    return World(scene)


def test_one_row_a_pulse_in_a_closed_room(room: World, plain_sensor: Callable) -> None:
    sensor = plain_sensor()
    frame = scan(room, sensor)
    pulses = sensor.pulses(0)
    assert len(frame) == frame.pulses == len(pulses) == 16 * 360
    assert np.array_equal(frame.pulse, np.arange(len(pulses)))
    assert np.array_equal(frame.laser, pulses.lasers)
    assert np.array_equal(frame.time, pulses.offsets)
    assert np.array_equal(frame.azimuth, pulses.azimuths)
    assert np.array_equal(frame.elevation, pulses.elevations)
    assert np.allclose(frame.true_xyz, frame.true_range[:, None] * pulses.directions, atol=1e-6)
    assert np.array_equal(frame.range, frame.true_range), "no noise was asked for"
    assert (frame.return_number == 1).all()
    assert (frame.return_count == 1).all()
    assert (frame.return_kind == 1).all()


def test_a_lasers_own_place_is_part_of_its_points(room: World, plain_sensor: Callable) -> None:
    offsets = {"vertical_offset_m": [0.1 + 0.01 * i for i in range(16)], "horizontal_offset_m": [0.05] * 16}
    sensor = plain_sensor(**offsets)
    frame = scan(room, sensor, Pose.at(1, 2, 0.5, yaw=0.4))
    points = frame.world_xyz(true=True)
    depth = np.abs(np.abs(points) / [15, 10, 5] - 1).min(1)
    assert depth.max() < 1e-5, "every point lies on a wall"
    assert not np.allclose(frame.true_xyz, frame.true_range[:, None] * sensor.pulses(0).directions, atol=0.05)


def test_meta_is_plain_data_and_says_all(room: World, plain_sensor: Callable) -> None:
    sensor = plain_sensor(noise=Noise(ray_sigma_m=0.01))
    frame = scan(room, sensor, seed=9, frame=4)
    meta = json.loads(json.dumps(frame.meta))
    assert (meta["seed"], meta["frame"], meta["pulses"], meta["scene"]) == (9, 4, 5760, "room")
    assert meta["start_s"] == pytest.approx(0.4)
    assert meta["objects"] == {"1": "walls"}
    assert type(sensor).parse(meta["sensor"], "meta") == sensor


def test_ranges_are_quantised_and_never_negative(room: World, plain_sensor: Callable) -> None:
    sensor = plain_sensor(noise=Noise(ray_sigma_m=0.05), receiver=Receiver(max_range_m=100, range_step_m=0.25))
    frame = scan(room, sensor)
    assert np.allclose(frame.range / 0.25, np.round(frame.range / 0.25), atol=1e-4)
    assert not np.allclose(frame.true_range / 0.25, np.round(frame.true_range / 0.25), atol=1e-2)
    loud = plain_sensor(noise=Noise(ray_sigma_m=50.0))
    frame = scan(room, loud)
    assert frame.range.min() == 0
    assert np.array_equal(frame.true_range, scan(room, plain_sensor()).true_range)


def test_a_scene_or_a_world_a_pose_or_a_standing_path(plain_sensor: Callable) -> None:
    scene = Scene()
    scene.add(box((30, 20, 10)))
    sensor, pose = plain_sensor(), Pose.at(1, 2, 0, yaw=0.3)
    frame = scan(scene, sensor, pose)
    assert scan(World(scene), sensor, Trajectory.standing(pose)).identical(frame)
    still = Trajectory.through([0.0, 1.0], [pose, pose])
    moving = scan(scene, sensor, still)
    assert np.allclose(moving.true_range, frame.true_range, atol=1e-5)
    assert scan(scene, sensor).identical(scan(scene, sensor, Pose()))


def test_frames_that_start_within_a_time(plain_sensor: Callable) -> None:
    sensor = plain_sensor()
    assert frames_between(sensor, 0, 1) == range(10)
    assert frames_between(sensor, 0.3, 0.6) == range(3, 6), "0.3 / 0.1 is a little less than 3"
    assert frames_between(sensor, 0.05, 0.1) == range(1, 1)
    assert frames_between(sensor, 0.05, 0.11) == range(1, 2)
    assert frames_between(sensor, 0, 0) == range(0)
    cuts = np.sort(np.random.default_rng(0).uniform(0, 100, 50))
    numbers = [n for a, b in zip([0.0, *cuts], [*cuts, 100.0], strict=True) for n in frames_between(sensor, a, b)]
    assert numbers == list(range(1000))


def test_scan_range_is_lazy_and_ordered(room: World, plain_sensor: Callable) -> None:
    frames = scan_range(room, plain_sensor(steps=36), start=0.2, end=1e6)
    first, second = next(frames), next(frames)
    assert (first.meta["frame"], second.meta["frame"]) == (2, 3)
    assert second.time[0] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"block": 17}, "block: must be a whole multiple of 16 above 0, got 17"),
        ({"block": 0}, "block: must be a whole multiple of 16 above 0, got 0"),
        ({"seed": -1}, "seed: must be a whole number"),
        ({"seed": 1.5}, "seed: must be a whole number"),
        ({"threads": 0}, "threads: must be a whole number from 1 to 4096, got 0"),
    ],
)
def test_bad_options(options: dict, rule: str, room: World, plain_sensor: Callable) -> None:
    with pytest.raises(InputError, match=rule):
        scan(room, plain_sensor(), **options)


@pytest.mark.parametrize("span", [(1.0, 0.5), (-1.0, 1.0), (0.0, np.nan), (0.0, np.inf)])
def test_bad_time_ranges(span: tuple[float, float], room: World, plain_sensor: Callable) -> None:
    with pytest.raises(InputError, match="time range: must be 0 <= start <= end"):
        list(scan_range(room, plain_sensor(), start=span[0], end=span[1]))


@pytest.mark.parametrize(
    ("pulses", "rays", "threads", "block"),
    [
        (133_000, 1, 2, 1024),  # quick pulses: more at a time
        (133_000, 1, 16, 1024),
        (30_000, 1, 16, 256),  # eight turns a thread at least
        (60_000, 1, 16, 464),
        (133_000, 2, 2, 512),
        (133_000, 48, 2, 256),
        (10, 1, 64, 256),
    ],
)
def test_blocks_are_large_where_pulses_are_quick(pulses: int, rays: int, threads: int, block: int) -> None:
    assert block_for(pulses, rays, threads) == block


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("yard", None, None), "scene: must be a Scene or a World, got 'yard'; tussock.ready_scene"),
        ((None, "vlp-16", None), "sensor: must be a Sensor, got 'vlp-16'; tussock.load_sensor"),
        ((None, None, (0.0, 0.0, 2.0)), r"pose: must be a Pose or a Trajectory, got \(0.0, 0.0, 2.0\); for example"),
        ((None, None, np.zeros(3)), "pose: must be a Pose or a Trajectory, got"),
    ],
)
def test_what_is_of_another_kind_is_one_line(given: tuple, words: str, room: World, plain_sensor: Callable) -> None:
    """A name where a scene or a sensor is wanted, a tuple where a pose is: an AttributeError of ours, before."""
    scene, sensor, pose = given
    with pytest.raises(InputError, match=words):
        scan(scene or room, sensor or plain_sensor(), pose)
