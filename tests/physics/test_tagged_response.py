"""Coarse shapes whose ranges spread like those of plants (Mattes and Pace 2021, section 3): what is asked, and what limits it."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.validate.paper_receiver import PAPER_RECEIVER
from tussock.wire.packets import Packets
from tussock.wire.velodyne.decode import decode_packets
from tussock.wire.velodyne.encode import PacketEncoder

HEDGE = Material(name="hedge", reflectance=0.5)
STONE = Material(name="stone", reflectance=0.5)
EYE = Pose.at(0, 0, 0)


@pytest.fixture
def fan(pencil):
    """Makes a sensor of many exact pulses ahead, without noise of its own."""

    def make(columns: int, rows: int, *, low: float = -15, high: float = 15, **settings):
        settings = {"receiver.model": "hits", **settings}
        return pencil(np.linspace(-20, 20, columns), np.linspace(low, high, rows), **settings)

    return make


def hedge_at(distance: float, wall=None, **response) -> Scene:
    """A flat hedge across the view, tagged, and a wall so far behind it."""
    scene = Scene("hedge")
    scene.add(
        box((0.01, 60, 60), material=HEDGE), name="hedge", position=(distance + 0.005, 0, 0), tags=["vegetation"],
        response=VegetationResponse(**response) if response else None,
    )  # fmt: skip
    if wall is not None:
        scene.add(box((0.1, 80, 80), material=STONE), name="wall", position=(distance + wall + 0.05, 0, 0))
    return scene


def expected(frame, distance: float):
    """Range of a plane across the view [m]."""
    return distance / (np.cos(frame.elevation.astype(float)) * np.cos(frame.azimuth.astype(float)))


@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 1.0), (0.3, 0.5), (-0.4, 0.2)])
def test_mean_and_sigma_are_as_asked_where_nothing_limits(fan, mean: float, sigma: float) -> None:
    frame = scan(hedge_at(30, mean_m=mean, sigma_m=sigma), fan(500, 400), EYE, seed=3)
    assert len(frame) == 200_000
    error = frame.range - expected(frame, 30)
    # Five standard errors of each.
    assert error.mean() == pytest.approx(mean, abs=5 * sigma / np.sqrt(len(error)))
    assert error.std() == pytest.approx(sigma, rel=5 / np.sqrt(2 * len(error)))
    z = (error - error.mean()) / error.std()
    assert abs((z**3).mean()) < 0.03 and (z**4).mean() == pytest.approx(3, abs=0.06)
    # New for each pulse: neighbours know nothing of each other.
    assert abs(np.corrcoef(error[1:], error[:-1])[0, 1]) < 0.012


def test_the_tag_alone_means_one_metre(fan) -> None:
    frame = scan(hedge_at(30), fan(200, 200), EYE, seed=1)
    error = frame.range - expected(frame, 30)
    assert error.std() == pytest.approx(1.0, rel=0.03)
    assert error.mean() == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
def test_no_range_beyond_a_wall_in_a_million_pulses(fan, mode: str) -> None:
    sensor = fan(1000, 1000, **{"receiver.mode": mode})
    frame = scan(hedge_at(10, wall=0.3, sigma_m=1.0), sensor, EYE, seed=5)
    assert frame.pulses == 1_000_000
    wall = expected(frame, 10.3)
    assert (frame.range <= wall + 1e-4).all()
    first = frame.return_number == 1
    # Nearly four in ten errors reach the wall and end on it; the others go to the front as ever.
    on_it = np.abs(frame.range - wall)[first] < 1e-4
    assert on_it.mean() == pytest.approx(0.382, abs=0.02)
    assert frame.range[first].min() < 8


@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
def test_no_point_below_the_ground(fan, mode: str) -> None:
    scene = Scene("meadow")
    scene.add(plane((200, 200), material=STONE), name="ground")
    scene.add(box((60, 60, 0.4), material=HEDGE), name="grass", position=(31, 0, 0.2), tags=["vegetation"])
    sensor = fan(400, 300, low=-60, high=-2, **{"receiver.mode": mode})
    frame = scan(scene, sensor, Pose.at(0, 0, 2), seed=2)
    height = frame.world_xyz()[:, 2]
    grass = frame.object_id == scene["grass"].id
    assert grass.sum() > 50_000
    assert height.min() > -1e-4
    assert height[grass].max() > 0.4 and height[grass].std() > 0.1


def test_the_object_itself_is_no_limit_but_another_of_its_kind_is(fan) -> None:
    """The back of a bush caps nothing; a bush behind it does."""
    bush = sphere(1.0, subdivisions=4, material=HEDGE)

    def scanned(*x: float):
        scene = Scene("bushes")
        for number, place in enumerate(x):
            scene.add(bush, name=f"bush{number}", position=(place, 0, 0), tags=["vegetation"])
        return scan(scene, fan(200, 200, low=-2, high=2), EYE, seed=4)

    alone, two = scanned(10.0), scanned(10.0, 12.3)
    assert alone.range.max() > 12.5  # far beyond its own back at 11 m
    front = two.object_id == 1
    middle = front & (np.hypot(two.azimuth, two.elevation) < np.deg2rad(1))
    assert two.range[middle].max() < 11.45  # the second one's front


def test_copies_of_one_object_are_the_object(fan) -> None:
    """What is excepted is the object, all its placements: a thicket of one shape does not cap itself."""
    scene = Scene("thicket")
    places = Placements.of([[10.0, 0, 0], [12.3, 0, 0]])
    scene.add(sphere(1.0, subdivisions=4, material=HEDGE), name="bushes", placements=places, tags=["vegetation"])
    frame = scan(scene, fan(200, 200, low=-2, high=2), EYE, seed=4)
    assert frame.range.max() > 12.5


def test_two_frames_differ_and_the_same_seed_agrees(fan) -> None:
    scene, sensor = hedge_at(20, sigma_m=1.0), fan(100, 100)
    one, again, next_one, other = (
        scan(scene, sensor, EYE, seed=seed, frame=frame, threads=threads)
        for seed, frame, threads in ((7, 0, 1), (7, 0, 2), (7, 1, 1), (8, 0, 1))
    )
    assert one.identical(again)
    for different in (next_one, other):
        assert (np.abs(different.range - one.range) > 0.01).mean() > 0.98
        errors = [frame.range - expected(frame, 20) for frame in (one, different)]
        assert abs(np.corrcoef(*errors)[0, 1]) < 0.05


def test_never_in_front_of_the_minimum_range(fan) -> None:
    sensor = fan(300, 300, low=-5, high=5, **{"receiver.min_range_m": 0.9})
    frame = scan(hedge_at(1.0, sigma_m=1.0), sensor, EYE, seed=9)
    assert len(frame) == frame.pulses
    assert frame.range.min() >= 0.9 - 1e-6
    # A shape that is too near to be seen is seen only where its error takes it far enough.
    near = scan(hedge_at(0.5, sigma_m=1.0), sensor, EYE, seed=9)
    assert near.range.min() >= 0.9 - 1e-6
    assert len(near) / near.pulses == pytest.approx(0.345, abs=0.02)


def pairs(frame):
    """Rows of the two returns of each pulse."""
    first, second = np.flatnonzero(frame.return_number == 1), np.flatnonzero(frame.return_number == 2)
    _, a, b = np.intersect1d(frame.pulse[first], frame.pulse[second], return_indices=True)
    return first[a], second[b]


def test_the_second_return_is_what_stands_behind_and_both_coincide_elsewhere(fan) -> None:
    scene = Scene("half")
    scene.add(box((0.01, 40, 60), material=HEDGE), name="hedge", position=(10.005, 20, 0), tags=["vegetation"])
    scene.add(box((0.1, 80, 80), material=STONE), name="wall", position=(15.05, 0, 0))
    frame = scan(scene, fan(300, 300, **{"receiver.mode": "strongest+last"}), EYE, seed=6)
    one, two = pairs(frame)
    assert len(one) == frame.pulses == 90_000
    covered = frame.azimuth[one] > 0.001
    plain = frame.azimuth[one] < -0.001
    assert np.array_equal(frame.range[one][plain], frame.range[two][plain])
    assert (frame.object_id[one][plain] == 2).all()
    far = np.maximum(frame.range[one], frame.range[two])[covered]
    assert np.abs(far - expected(frame, 15)[one][covered]).max() < 1e-3
    near = np.minimum(frame.range[one], frame.range[two])[covered]
    assert np.std(near - expected(frame, 10)[one][covered]) == pytest.approx(1.0, rel=0.02)


def test_both_returns_travel_in_packets() -> None:
    sensor = load_sensor("vlp-16").with_(**PAPER_RECEIVER | {"receiver.mode": "strongest+last"})
    frame = scan(hedge_at(10, wall=5.0, sigma_m=1.0), sensor, EYE, seed=1)
    encoder = PacketEncoder(sensor)
    raw = decode_packets(Packets.joined([encoder.encode(frame), encoder.flush()]).payloads)
    one, two = pairs(frame)
    differ = np.rint(frame.range[one] / 0.002) != np.rint(frame.range[two] / 0.002)
    assert differ.sum() > 1000
    distance = raw.distance.reshape(-1, 2).astype(int)
    assert ((distance[:, 0] != distance[:, 1]) & (distance > 0).all(1)).sum() == differ.sum()
