"""Volumes after Deschaud et al. (2012): permeability, eqs (1) to (3), fig. 2 and fig. 3, and volumes among surfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scan_volumes import simulate_ranges, simulate_volumes
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene, SceneObject
from tussock.scene.volumes import Volumes, unpacked
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.volume_hits import gaussians_of
from tussock.trace.world import World

RHO = 0.4
GREY = Material(name="grey", reflectance=0.5)


def one_volume(rho: float = RHO, mean: tuple[float, float, float] = (5.2, 0.3, 0.1)) -> Volumes:
    """A slanted Gaussian in a voxel of 1 m, with the paper's single shell."""
    turn = np.linalg.qr(np.array([[1.0, 0.4, 0.1], [0.2, 1.0, -0.3], [0.5, 0.1, 1.0]]))[0]
    precision = turn @ np.diag([0.05, 0.1, 0.02]) ** 1 @ turn.T
    packed = np.linalg.inv(precision @ precision)[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    share = np.uint16(round(rho * 65535))
    return Volumes(
        np.float32([mean]), packed[None].astype(np.float32), np.float32([rho]), np.array([[share]]),
        np.zeros(1, np.uint16), np.uint32([10]), np.float32([0.3]), 1.0, np.float32([2.0]),
    )  # fmt: skip


def test_hits_are_as_many_as_permeability_says_and_lie_where_eqs_2_and_3_say() -> None:
    volumes = one_volume()
    mean, precision = volumes.means[0].astype(float), unpacked(volumes.precisions)[0]
    origin, aim = np.zeros(3), mean + np.array([0, 0.01, 0.02])
    way = aim / np.linalg.norm(aim)
    n = 200_000
    ranges, met = simulate_ranges(gaussians_of([volumes]), np.tile(origin, (n, 1)), np.tile(way, (n, 1)), 50.0, seed=3)
    hit = np.isfinite(ranges)
    assert (met == np.where(hit, 0, -1)).all()
    assert hit.mean() == pytest.approx(1 - RHO, abs=4 * np.sqrt(RHO * (1 - RHO) / n))
    variance = 1 / (way @ precision @ way)  # eq (3)
    expected = way @ precision @ (mean - origin) * variance  # eq (2)
    assert ranges[hit].mean() == pytest.approx(expected, abs=4 * np.sqrt(variance / hit.sum()))
    assert ranges[hit].std() == pytest.approx(np.sqrt(variance), rel=0.01)


def test_a_ray_further_than_tau_is_never_stopped() -> None:
    volumes = one_volume(rho=0.0)
    mean, covariance = volumes.means[0].astype(float), volumes.covariances[0]
    for share, stopped in ((1.95, True), (2.05, False)):
        # The point of an ellipsoid that lies furthest up; a level ray through it touches the ellipsoid there.
        top = mean + share * covariance[2] / np.sqrt(covariance[2, 2])
        ranges, _ = simulate_ranges(
            gaussians_of([volumes]), np.array([[0.0, top[1], top[2]]]), np.array([[1.0, 0, 0]]), 50.0
        )
        assert np.isfinite(ranges[0]) == stopped


def fig_2() -> tuple[MeasuredPulses, list[str]]:
    """Two boxes of 1 m in a row. Of four rays that enter the left ellipse three end, one goes on into the right."""
    heights = np.array([0.44, 0.5, 0.56, 0.52])
    left = np.array([[0.45, 0.5, 0.44], [0.55, 0.5, 0.5], [0.5, 0.5, 0.56]])
    right = np.array([[1.5, 0.5, 0.52], [1.45, 0.5, 0.48], [1.55, 0.5, 0.5]])
    origins = [[-2, 0.5, h] for h in heights] + [[1.45, 0.5, 4.0], [1.55, 0.5, 4.0]]
    points = np.concatenate([left, right[:1], right[1:]])
    ways = points - np.array(origins)
    return MeasuredPulses.of(origins, ways, np.linalg.norm(ways, axis=1), reach=10.0), ["left", "right"]


@pytest.mark.parametrize("plain", [True, False])
def test_permeability_of_the_hand_made_cases_of_fig_2(plain: bool) -> None:
    pulses, _ = fig_2()
    volumes = fit_volumes(pulses, voxel=1.0, plain=plain)
    order = np.argsort(volumes.means[:, 0])
    assert volumes.permeability[order].tolist() == [0.25, 0.0]
    assert volumes.pulses[order].tolist() == [4, 3]
    if plain:
        assert volumes.edges.tolist() == [2.0]
        assert volumes.shells[order, 0].tolist() == [round(65535 / 4), 0]


def two_planes(n: int, sigma: float) -> MeasuredPulses:
    """Fig. 3: two planes, one behind the other's edge, seen with Gaussian range noise from 6 m."""
    rng = np.random.default_rng(5)
    azimuth, elevation = rng.uniform(-0.2, 0.2, n), rng.uniform(-0.12, 0.12, n)
    level = np.cos(elevation)
    way = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], 1)
    # x = 6.125 to the left; to the right a plane that runs away from there at 45°.
    ranges = np.where(azimuth > 0, 6.125 / way[:, 0], 6.125 / (way[:, 0] + way[:, 1]))
    return MeasuredPulses.of(np.zeros(3), way, ranges + rng.normal(0, sigma, n), reach=20.0)


def test_two_noisy_planes_give_the_ellipsoids_of_fig_3() -> None:
    """Flat discs in the planes: as thick as the noise, as wide as the voxels, hardly permeable."""
    sigma, voxel = 0.005, 0.25
    volumes = fit_volumes(two_planes(60_000, sigma), voxel=voxel)
    full = volumes.pulses > 400
    values, axes = np.linalg.eigh(volumes.covariances[full])
    means = volumes.means[full].astype(float)
    facing = means[:, 1] > 0.13
    slanted = means[:, 1] < -0.13
    assert facing.sum() >= 6
    assert slanted.sum() >= 6
    normal = np.where(facing[:, None], [1.0, 0, 0], np.array([1.0, 1.0, 0]) / np.sqrt(2))
    offset = 6.125 * np.where(facing, 1, 1 / np.sqrt(2))
    plane = facing | slanted
    assert np.abs((means * normal).sum(1) - offset)[plane].max() < 0.3 * sigma + 0.001, "in the planes"
    assert np.abs((axes[:, :, 0] * normal).sum(1))[plane].min() > 0.999, "and flat in them"
    across = np.where(facing, 1.0, 1 / np.sqrt(2)) * sigma  # noise is along the ray
    assert np.abs(np.sqrt(values[:, 0]) / across - 1)[plane].max() < 0.35
    inside = plane & (np.abs(means[:, 2]) < 0.5)
    assert np.sqrt(values[inside, 1:]).min() > 0.25 * voxel / np.sqrt(12)
    assert np.sqrt(values[inside & facing, 1:]).max() < 1.05 * voxel / np.sqrt(12)
    # Not quite closed: a ray may cross the last corner of a voxel, near its disc, and end in the next one.
    assert volumes.permeability[full].max() < 0.12


def test_what_is_simulated_from_two_planes_is_two_planes() -> None:
    pulses = two_planes(60_000, 0.005)
    again = simulate_volumes(fit_volumes(pulses, voxel=0.25), two_planes(30_000, 0.0), seed=1)
    assert again.hit.mean() > 0.999
    exact = two_planes(30_000, 0.0).ranges
    off = (again.ranges - exact)[again.hit]
    assert abs(np.median(off)) < 0.001
    assert np.quantile(np.abs(off), 0.68) == pytest.approx(0.005, rel=0.25)


def chances(volumes: Volumes, origin: NDArray[np.float64], way: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance to end in each volume, by the book: voxels in the order of the ray, each with its shell's share."""
    low = np.floor(volumes.means.astype(float) / volumes.cell) * volumes.cell
    one, two = (low - origin) / way, (low + volumes.cell - origin) / way
    enter, leave = np.minimum(one, two).max(1), np.maximum(one, two).min(1)
    precision = unpacked(volumes.precisions)
    towards = volumes.means.astype(float) - origin
    t = np.einsum("i,nij,nj->n", way, precision, towards) / np.einsum("i,nij,j->n", way, precision, way)
    off = origin + t[:, None] * way - volumes.means
    distance = np.sqrt(np.einsum("ni,nij,nj->n", off, precision, off))
    chance, left = np.zeros(len(volumes)), 1.0
    for i in sorted(np.flatnonzero((enter < leave) & (leave > 0)), key=lambda i: float(enter[i])):
        inside = np.flatnonzero(distance[i] < volumes.edges)
        if len(inside):
            share = volumes.shells[i, inside[0]] / 65535
            chance[i], left = left * (1 - share), left * share
    return chance


def test_the_walk_and_the_book_agree() -> None:
    """A cloud of volumes, a few rays, each fired often: ends are spread over the volumes as the product says."""
    rng = np.random.default_rng(8)
    points = rng.normal([6, 0, 0], 0.4, (3000, 3))
    ways = points / np.linalg.norm(points, axis=1, keepdims=True)
    pulses = MeasuredPulses.of(np.zeros(3), ways, np.linalg.norm(points, axis=1), reach=12.0)
    learned = fit_volumes(pulses, voxel=0.2)
    volumes = replace(learned, closure=np.zeros_like(learned.closure))
    n = 40_000
    for ray in (0, 7, 21):
        _, met = simulate_ranges(
            gaussians_of([volumes]), np.zeros((n, 3)), np.tile(ways[ray], (n, 1)), 12.0, seed=4, frame=ray
        )
        expected = chances(volumes, np.zeros(3), ways[ray])
        counted = np.bincount(met[met >= 0], minlength=len(volumes)) / n
        assert expected.sum() > 0.5
        assert np.abs(counted - expected).max() < 5 * np.sqrt(0.25 / n)


@pytest.fixture
def level(pencil: Callable[..., Sensor]) -> Sensor:
    """Fires 20,000 pulses along x."""
    return pencil(azimuth_deg=[0.0] * 20_000)


def test_volumes_stand_among_surfaces(level: Sensor, add_wall: Callable[..., SceneObject]) -> None:
    scene = Scene("before and behind")
    add_wall(scene, (9.0, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY)
    scene.add_volumes(one_volume(), name="bush", position=(0, -0.3, -0.1), label="vegetation")
    frame = scan(World(scene), level, Pose(), seed=2, keep_misses=True)
    assert frame.hit.all(), "what passes the volume ends on the wall"
    bush = frame.range < 8
    assert bush.mean() == pytest.approx(1 - RHO, abs=4 * np.sqrt(0.25 / 20_000))
    assert set(np.unique(frame.object_id[bush])) == {scene.volumes[0].id}
    assert np.allclose(frame.range[~bush], 9.0, atol=1e-4)
    assert frame.intensity[bush] == pytest.approx(0.3, rel=1e-4)
    add_wall(scene, (3.0, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY)
    screened = scan(World(scene), level, Pose(), seed=2, keep_misses=True)
    assert np.allclose(screened.range, 3.0, atol=1e-4), "nothing is seen through a wall"


def test_closure_holds_whatever_stands_behind_the_last_volume(
    level: Sensor, add_wall: Callable[..., SceneObject]
) -> None:
    """It was counted from pulses that met the volume last: a wall behind it changes nothing for it."""
    shut = replace(one_volume(), closure=np.uint16([65535]))
    scene = Scene("before a wall")
    scene.add_volumes(shut, name="bush", position=(0, -0.3, -0.1))
    alone = scan(World(scene), level, Pose(), seed=2, keep_misses=True)
    assert (alone.range < 8).all(), "before the sky nothing gets away"
    add_wall(scene, (9.0, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY)
    walled = scan(World(scene), level, Pose(), seed=2, keep_misses=True)
    assert np.array_equal(walled.range, alone.range), "nor before a wall"

    columns = (
        "means",
        "precisions",
        "permeability",
        "shells",
        "closure",
        "pulses",
        "intensity",
        "held",
        "second",
        "levels",
    )
    two = {name: np.repeat(getattr(shut, name), 2, axis=0) for name in columns}
    two["means"][1, 0] += 8.0
    between = Scene("a wall between two volumes")
    between.add_volumes(replace(shut, **two), name="hedge", position=(0, -0.3, -0.1))
    add_wall(between, (9.0, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY)
    parted = scan(World(between), level, Pose(), seed=2, keep_misses=True)
    # RHO² would get away; closure gives them back to both volumes in the shares in which they stop others.
    stopped = (1 - RHO) + RHO**2 * (1 - RHO) / (1 - RHO**2)
    assert (parted.range < 8).mean() == pytest.approx(stopped, abs=4 * np.sqrt(0.25 / 20_000)), (
        "as if no wall were there"
    )
    assert np.allclose(parted.range[parted.range > 8], 9.0, atol=1e-4)


def test_copies_are_placed_and_turned_and_stop_independently(level: Sensor) -> None:
    scene = Scene("copies")
    volumes = one_volume()
    # Shifted so that the mean lies on the ray, three times, the last one turned half around.
    mean = volumes.means[0].astype(float)
    turned = mean * [-1, -1, 1]
    along = np.array([[4.0, 0, 0], [8.0, 0, 0], [12.0, 0, 0]])
    places = Placements.of(along - np.stack([mean, mean, turned]), yaw=np.array([0, 0, np.pi]))
    scene.add_volumes(volumes, name="hedge", placements=places)
    frame = scan(World(scene), level, Pose(), seed=9, keep_misses=True)
    share = [float((np.abs(frame.range - at) < 1).mean()) for at in (4, 8, 12)]
    assert share == pytest.approx([0.6, 0.4 * 0.6, 0.16 * 0.6], abs=0.015)
    assert (~frame.hit).mean() == pytest.approx(0.4**3, abs=0.01)
    again = scan(World(scene), level, Pose(), seed=9, keep_misses=True, threads=1)
    assert np.array_equal(frame.range, again.range, equal_nan=True)


def test_volumes_behind_tagged_vegetation_are_met_from_pulse_to_pulse(
    pencil: Callable[..., Sensor], add_wall: Callable[..., SceneObject]
) -> None:
    """The second rays, which look behind tagged plants, end in volumes in some lanes while others stay idle."""
    scene = Scene("leaf, hedge, wall")
    scene.add(
        box((0.01, 0.08, 0.08), material=GREY), name="leaf", position=(3.0, 0.05, 0.0), tags=["vegetation"],
        response=VegetationResponse(mean_m=0.0, sigma_m=0.5),
    )  # fmt: skip
    scene.add_volumes(one_volume(rho=0.5), name="hedge", position=(0, -0.3, -0.1))
    add_wall(scene, (9.0, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY, size=8.0)
    azimuths = np.tile(np.linspace(-2, 2, 37), 600)  # in and out of the leaf within every sixteen pulses
    settings = {"receiver.mode": "all", "receiver.model": "hits"}
    frame = scan(World(scene), pencil(azimuth_deg=azimuths.tolist(), **settings), Pose(), seed=4)
    behind = (frame.return_number == 2) & (frame.object_id == scene.volumes[0].id)
    assert behind.sum() > 500, "second rays did end in the hedge"
    assert np.abs(frame.range[behind] - 5.2).max() < 1.5
