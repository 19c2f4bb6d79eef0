"""Same seed, same bytes: however the work is cut, whoever does it, whenever it is done."""

from __future__ import annotations

import multiprocessing
import threading
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.randomness import Purpose, normal_array
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, sphere
from tussock.scene.scene import Scene
from tussock.sensors.beam import Beam
from tussock.sensors.noise import Noise
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan, scan_range
from tussock.trace.world import World

PATH = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 2), Pose.at(10, 2, 2, yaw=0.5)])


def busy_scene() -> Scene:
    """Ground, shared shapes and something that moves."""
    rng = np.random.default_rng(0)
    scene = Scene()
    scene.add(ground((200, 200), cells=(40, 40), heights=lambda x, y: 0.3 * np.sin(x) * np.cos(y)), label="terrain")
    balls = Placements.of(rng.uniform(-40, 40, (200, 3)) * [1, 1, 0.1], scale=rng.uniform(0.2, 2, (200, 3)))
    leaf = Material(name="leaf", reflectance=0.5, label="leaf")
    scene.add(sphere(1.0, subdivisions=2, material=leaf), placements=balls, label="vegetation")
    drive = Trajectory([0, 1], [[8.0, 3, 1], [20.0, -3, 1]], Rotation.from_rotvec([[0, 0, 0], [0, 0, 1]]).as_quat())
    scene.add(box((4, 2, 1.5)), motion=drive, label="car")
    return scene


@pytest.fixture(scope="module")
def world() -> World:
    return World(busy_scene())


def _single(make: Callable[..., Sensor]) -> Sensor:
    return make(noise=Noise(ray_sigma_m=0.02, bias_sigma_m=0.05), receiver=Receiver(max_range_m=80, range_step_m=0.002))


def _nine(make: Callable[..., Sensor]) -> Sensor:
    beam = Beam(rays=9, divergence_horizontal_mrad=3.0, divergence_vertical_mrad=2.0)
    return make(beam=beam, noise=Noise(ray_sigma_m=0.02), cycle_us=333.3, receiver=Receiver(max_range_m=80))


def _everything_by_chance(make: Callable[..., Sensor]) -> Sensor:
    """Sub-rays, directions, range noise and losses are all drawn."""
    return make(
        beam=Beam(rays=5, sampling="random", divergence_horizontal_mrad=8.0, divergence_vertical_mrad=8.0),
        noise=Noise(ray_sigma_m=0.02, bias_sigma_m=0.05, pointing_sigma_mrad=1.0, dropout=0.1),
        receiver=Receiver(mode="all", signal_cutoff_m=0.5, max_range_m=80),
    )


SENSORS = {"one ray": _single, "nine rays": _nine, "all by chance": _everything_by_chance}


@pytest.fixture(params=SENSORS)
def sensor(request: pytest.FixtureRequest, plain_sensor: Callable[..., Sensor]) -> Sensor:
    return SENSORS[request.param](plain_sensor)


@pytest.fixture
def sample(world: World, sensor: Sensor) -> Frame:
    """The frame that all others are held against: one thread."""
    frame = scan(world, sensor, PATH, seed=7, frame=1, threads=1)
    assert len(frame) > 2000
    assert len(np.unique(frame.object_id)) == 3, "the scene's every object must be in it"
    return frame


def test_threads_and_blocks(world: World, sensor: Sensor, sample: Frame) -> None:
    for threads in (1, 2, 3):
        for block in (16, 160, 1024, 4096, 1_000_000_000_000 // 16 * 16):
            again = scan(world, sensor, PATH, seed=7, frame=1, threads=threads, block=block)
            assert again.identical(sample), f"{threads} threads, blocks of {block}"


def test_one_run_or_the_same_time_in_parts(world: World, sensor: Sensor, sample: Frame) -> None:
    whole = list(scan_range(world, sensor, PATH, start=0.0, end=0.5, seed=7))
    assert len(whole) == 5
    assert whole[1].identical(sample)
    for cuts in ([0, 0.1, 0.5], [0, 0.05, 0.2999999, 0.3, 0.41, 0.5], [0, 1 / 3, 0.5]):
        parts = [
            frame
            for start, end in pairwise(cuts)
            for frame in scan_range(world, sensor, PATH, start=start, end=end, seed=7)
        ]
        assert len(parts) == len(whole), cuts
        assert all(a.identical(b) for a, b in zip(parts, whole, strict=True)), cuts


def test_a_world_built_again(sensor: Sensor, sample: Frame) -> None:
    assert scan(busy_scene(), sensor, PATH, seed=7, frame=1).identical(sample)


def test_another_seed_or_frame_is_another_chance(world: World, sensor: Sensor, sample: Frame) -> None:
    other = scan(world, sensor, PATH, seed=8, frame=1)
    assert not other.identical(sample)
    still = Pose.at(0, 0, 2)
    noise = [scan(world, sensor, still, seed=7, frame=frame) for frame in (1, 2)]
    assert not np.array_equal(noise[0].range, noise[1].range)


def test_memory_is_not_read_before_it_is_written(world: World, sensor: Sensor, sample: Frame) -> None:
    """Kernels get memory as it comes: here it comes full of NaN."""
    for _ in range(3):
        litter = [bytearray(b"\xff" * size) for size in range(520, 9000, 8) for _ in range(8)]
        del litter
        assert scan(world, sensor, PATH, seed=7, frame=1, threads=1).identical(sample)


def test_scans_from_several_python_threads_at_once(world: World, sensor: Sensor, sample: Frame) -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        try:
            target = world if number % 2 else busy_scene()
            for _ in range(3):
                if not scan(target, sensor, PATH, seed=7, frame=1, threads=1 + number % 3).identical(sample):
                    wrong.append(number)
        except Exception as error:  # a thread's exception would be lost
            wrong.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not wrong


def _scan_in_child(queue: Any, target: Scene | World, sensor: Sensor) -> None:
    frame = scan(target, sensor, PATH, seed=7, frame=1, threads=2)
    queue.put({name: column.tobytes() for name, column in frame.columns.items()})


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork: run it on Linux"
)
@pytest.mark.parametrize("fresh", [False, True], ids=["the parent's world", "a world of its own"])
def test_after_a_fork(fresh: bool, world: World, plain_sensor: Callable) -> None:
    """The pool's threads are not there in the child; data loaders of learning libraries fork all the time."""
    sensor = _single(plain_sensor)
    sample = scan(world, sensor, PATH, seed=7, frame=1, threads=3)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_scan_in_child, args=(queue, busy_scene() if fresh else world, sensor))
    with warnings.catch_warnings():
        # Python 3.12 warns of any fork beside threads; that it works is what is tested here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    try:
        columns = queue.get(timeout=60)
    finally:
        child.join(10)
        child.kill()
    assert columns == {name: column.tobytes() for name, column in sample.columns.items()}


def test_misses_kept_or_not(world: World, sensor: Sensor, sample: Frame) -> None:
    kept = scan(world, sensor, PATH, seed=7, frame=1, keep_misses=True)
    assert np.array_equal(np.unique(kept.pulse), np.arange(kept.pulses))
    assert np.array_equal(kept.pulse, np.sort(kept.pulse))
    assert 0 < (~kept.hit).sum() < kept.pulses
    assert kept.select(kept.hit).identical(sample)
    missed = kept.select(~kept.hit)
    assert np.isnan(missed.range).all()
    assert np.isnan(missed.true_range).all()
    assert np.isnan(missed.xyz).all()
    assert np.isnan(missed.true_xyz).all()
    for name in ("intensity", "object_id", "placement", "label", "material", "return_number", "return_count"):
        assert not missed.column(name).any(), name
    assert len(np.unique(missed.pulse)) == len(missed), "one row for a pulse without return"
    for threads in (1, 2, 3):
        for block in (16, 160, 4096):
            again = scan(world, sensor, PATH, seed=7, frame=1, keep_misses=True, threads=threads, block=block)
            assert again.identical(kept)


def test_noise_is_what_the_seed_says(world: World, plain_sensor: Callable) -> None:
    """measured = true + bias of the laser + σ·n, both drawn as `tussock.randomness` gives them for the counters."""
    sensor = plain_sensor(noise=Noise(ray_sigma_m=0.02, bias_sigma_m=0.05), receiver=Receiver(max_range_m=80))
    frame = scan(world, sensor, PATH, seed=2**40 + 5, frame=3)
    bias = 0.05 * normal_array(2**40 + 5, Purpose.LASER_BIAS, 0, np.arange(sensor.lasers))
    ray = 0.02 * normal_array(2**40 + 5, Purpose.RAY_NOISE, 3, frame.pulse)
    assert np.abs(frame.range - (frame.true_range + bias[frame.laser] + ray)).max() < 2e-5
    assert 0.019 < (frame.range - frame.true_range - bias[frame.laser]).std() < 0.021
