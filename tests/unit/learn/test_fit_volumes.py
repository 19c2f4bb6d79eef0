"""Learning: the three partitions, the same bits whatever the threads, and what cannot be learned from."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.fit_volumes import Method, fit_volumes
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.partition.gaussians import fit_gaussians, inverse
from tussock.learn.partition.growing import grow_ellipsoids
from tussock.learn.partition.two_means import split_in_two
from tussock.learn.partition.voxels import into_voxels
from tussock.learn.permeability import find_volumes
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import compare
from tussock.scene.volumes import Volumes, unpacked, voxels_of
from tussock.trace.volume_hits import gaussians_of

METHODS: list[Method] = ["voxels", "two-means", "growing"]


def bush(n: int = 20_000, seed: int = 0) -> MeasuredPulses:
    """A thin ball of leaves 6 m ahead and a wall behind its left half; a quarter of the pulses meet nothing."""
    rng = np.random.default_rng(seed)
    azimuth, elevation = rng.uniform(-0.15, 0.15, n), rng.uniform(-0.1, 0.1, n)
    level = np.cos(elevation)
    way = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], 1)
    off = np.hypot(azimuth, elevation) * 6
    inside = np.sqrt(np.maximum(0.5**2 - off**2, 0))
    depth = rng.exponential(0.5, n)
    met = depth < 2 * inside
    ranges = np.where(met, 6 - inside + depth, np.where(azimuth > 0, 8 / way[:, 0], np.nan))
    return MeasuredPulses.of(np.zeros(3), way, ranges + rng.normal(0, 0.005, n), reach=15.0)


def arrays_of(volumes: Volumes) -> dict[str, NDArray[np.generic]]:
    found = {field.name: getattr(volumes, field.name) for field in fields(Volumes)}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_parts_do_not_change_a_bit(method: Method) -> None:
    pulses = bush(100_000 if method == "voxels" else 6000)  # more than are sampled for the closures
    one = fit_volumes(pulses, voxel=0.1, method=method, threads=1)
    parts = join_pulses([pulses.select(slice(0, 3333)), pulses.select(slice(3333, None))])
    for other in (
        fit_volumes(pulses, voxel=0.1, method=method, threads=3),
        fit_volumes(parts, voxel=0.1, method=method),
    ):
        for name, array in arrays_of(one).items():
            assert np.array_equal(array, arrays_of(other)[name]), name
        assert one.meta == other.meta


@pytest.mark.parametrize("method", METHODS)
def test_each_partition_gives_back_what_it_learned_from(method: Method) -> None:
    volumes = fit_volumes(bush(), voxel=0.1, method=method)
    assert volumes.partition == ("voxels" if method == "voxels" else "ellipsoids")
    assert volumes.meta["method"] == method
    test = bush(seed=1)
    score = compare(test, simulate_volumes(volumes, test, seed=2), angle_bin=0.02, range_bin=0.1)
    assert abs(score.hit_rate_difference) < 0.02
    assert np.abs(score.quantile_differences).max() < 0.06
    assert score.distance < 0.03
    assert log_likelihood(volumes, test) > log_likelihood(fit_volumes(bush(), voxel=4.0, method=method), test)


@pytest.mark.parametrize("method", METHODS)
def test_at_most_100_bytes_a_volume(method: Method) -> None:
    volumes = fit_volumes(bush(), voxel=0.05, method=method)
    tables = gaussians_of([volumes])
    assert volumes.nbytes / len(volumes) <= 68
    extra = tables.cells.nbytes / len(volumes)
    assert (volumes.nbytes / len(volumes) + extra) <= (100 if method == "voxels" else 400)


@pytest.mark.parametrize("method", ["two-means", "growing"])
def test_cells_are_as_large_as_most_ellipsoids_reach(method: Method) -> None:
    """1.5 times the median half axis of the outermost shell, where volumes are looked up."""
    volumes = fit_volumes(bush(4000), voxel=0.2, method=method)
    axes = np.sqrt(1 / np.linalg.eigvalsh(unpacked(volumes.precisions.astype(float)))[:, 0])
    assert volumes.cell == pytest.approx(1.5 * float(volumes.edges[-1]) * np.median(axes), rel=1e-3)


def test_far_from_the_origin_volumes_keep_their_place() -> None:
    near = bush(4000)
    shift = np.array([4000.0, 7000.0, 2500.0])  # within a kilometre of zero nothing is shifted
    far = fit_volumes(replace(near, origins=near.origins + shift), voxel=0.3)
    assert np.abs(np.array(far.origin) - shift).max() < 60
    middle = far.means.astype(float).mean(0) + far.origin
    assert np.abs(middle - shift - near.points[near.hit].mean(0)).max() < 1.0


def test_volumes_beat_one_permeability_a_volume() -> None:
    """Shells and closure against the paper's plain rule: pulses that slip past τ are most of what it loses."""
    pulses, test = bush(40_000), bush(40_000, seed=1)
    plain = compare(test, simulate_volumes(fit_volumes(pulses, voxel=0.1, plain=True), test))
    ours = compare(test, simulate_volumes(fit_volumes(pulses, voxel=0.1), test))
    assert plain.hit_rate_difference < -0.02
    assert abs(ours.hit_rate_difference) < 0.005


def open_place(turns: int, seed: int) -> MeasuredPulses:
    """Rough ground all around, then twigs before the sky that stop four pulses in ten; about one pulse a voxel."""
    rng = np.random.default_rng(seed)
    n = 9000 * turns
    azimuth = rng.uniform(-np.pi, np.pi, 2 * n)
    elevation = np.concatenate([rng.uniform(-0.35, -0.09, n), rng.uniform(0.05, 0.3, n)])
    level = np.cos(elevation)
    way = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], 1)
    down = (1.8 + rng.normal(0, 0.1, n)) / -way[:n, 2]
    up = np.where(rng.random(n) < 0.4, rng.uniform(7, 9, n), np.nan)
    return MeasuredPulses.of(np.zeros(3), way, np.concatenate([down, up]), reach=40.0)


def test_few_beams_are_enough_for_the_hit_rate() -> None:
    """The ground is closed though twigs are not (96 % if volumes did not learn from those around them), and pulses do not
    vouch for themselves (30 % of the twigs if they did)."""
    test = open_place(1, seed=1)
    hit = simulate_volumes(fit_volumes(open_place(2, seed=0), voxel=0.3), test, seed=2).hit
    ground, twigs = np.split(hit, 2)
    assert ground.mean() > 0.99
    assert twigs.mean() == pytest.approx(0.4, abs=0.03)


def test_two_means_stops_where_clusters_are_small_or_have_few_points() -> None:
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(m, 0.02, (400, 3)) for m in ([0, 0, 0], [1, 0, 0], [1, 1, 0])])
    labels = split_in_two(points, 0.2)
    assert labels.max() == 2, "three clusters, each small enough, are left whole"
    assert all(len(np.unique(labels[k * 400 : (k + 1) * 400])) == 1 for k in range(3))
    fine = split_in_two(points, 1e-6)
    counts = np.bincount(fine)
    assert counts.min() >= 6, "never fewer points than make a Gaussian"
    assert counts.max() < 24
    assert (np.unique(fine) == np.arange(fine.max() + 1)).all()


def test_two_means_splits_like_lloyd() -> None:
    """The first cut of two clusters of unequal size is that of k-means, not the plane through the mean."""
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(0, 0.05, (900, 3)), rng.normal([0.8, 0, 0], 0.05, (100, 3))])
    labels = split_in_two(points, 0.5)
    assert np.bincount(labels).tolist() in ([900, 100], [100, 900])


def test_growing_keeps_what_lies_apart_apart_and_none_outgrows_the_size() -> None:
    rng = np.random.default_rng(4)
    plane = np.stack([rng.uniform(0, 1, 6000), rng.uniform(0, 1, 6000), rng.normal(0, 0.004, 6000)], 1)
    labels = grow_ellipsoids(np.concatenate([plane, plane + np.array([0, 0, 0.25])]), 0.3)
    low, high = set(labels[:6000].tolist()), set(labels[6000:].tolist())
    assert not low & high, "two sheets stay two"
    seeds = into_voxels(np.concatenate([plane, plane + np.array([0, 0, 0.25])]), 0.1)[1]
    assert len(low | high) < 0.6 * seeds, "but each has grown"
    spread = [plane[labels[:6000] == k].std(0).max() for k in low]
    assert max(spread) <= 0.3 / np.sqrt(12) * 1.001


def test_gaussians_are_maximum_likelihood_with_a_little_prior() -> None:
    rng = np.random.default_rng(6)
    true = np.array([[0.04, 0.01, 0], [0.01, 0.02, 0], [0, 0, 0.0001]])
    points = rng.multivariate_normal([100, -50, 3], true, 5000)
    means, covariances = fit_gaussians(points, np.zeros(5000, np.int64), 1, 0.5)
    assert np.allclose(means[0], points.mean(0))
    assert np.allclose(unpacked(covariances)[0], np.cov(points.T, bias=True), rtol=1e-3, atol=5e-6)
    assert np.allclose(unpacked(inverse(covariances))[0], np.linalg.inv(unpacked(covariances)[0]))


def test_one_point_a_voxel_is_learned_as_small_balls() -> None:
    grid = np.stack(np.meshgrid([6.05, 6.15], [-0.15, 0.05], [0.05, 0.15]), -1).reshape(-1, 3)
    pulses = MeasuredPulses.of(np.zeros(3), grid, np.linalg.norm(grid, axis=1), reach=10.0)
    volumes = fit_volumes(pulses, voxel=0.1)
    assert len(volumes) == len(grid)
    assert volumes.meta["lone_returns"] == len(grid)
    values = np.linalg.eigvalsh(volumes.covariances)
    assert np.allclose(np.sqrt(values), 0.16 * 0.1 / np.sqrt(2), rtol=0.02), "round, and smaller than the voxel"
    assert simulate_volumes(volumes, pulses).hit.all()


def test_all_beams_in_one_direction_are_learned_and_noted() -> None:
    rng = np.random.default_rng(7)
    n = 2000
    pulses = MeasuredPulses.of(
        np.zeros(3),
        np.tile([1.0, 0, 0], (n, 1)),
        np.where(rng.random(n) < 0.7, rng.normal(5, 0.02, n), np.nan),
        reach=9.0,
    )
    volumes = fit_volumes(pulses, voxel=0.25)
    assert volumes.meta["one_direction"]
    assert not fit_volumes(bush(2000), voxel=0.25).meta["one_direction"]
    again = simulate_volumes(volumes, pulses, seed=1)
    assert again.hit.mean() == pytest.approx(0.7, abs=0.04)
    assert np.nanstd(again.ranges) == pytest.approx(0.02, rel=0.2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tau": 0.0}, "tau: must be"),
        ({"tau": -2.0}, "tau: must be"),
        ({"tau": float("nan")}, "tau: must be"),
        ({"voxel": 0.0}, "voxel: must be a length above 0"),
        ({"voxel": -0.1}, "voxel: must be a length above 0"),
        ({"voxel": float("inf")}, "voxel: must be a length above 0"),
        ({"voxel": 1e-9}, "voxel: must be at least"),
        ({"method": "cubes"}, "method: must be voxels, two-means or growing"),
        ({"box": (50, 50, 50, 51, 51, 51)}, "no points in the box"),
        ({"box": (1, 1, 1, 0, 0, 0)}, "box: must be x0,y0,z0,x1,y1,z1"),
        ({"box": (1, 1, 1)}, "box: must be x0,y0,z0,x1,y1,z1"),
        ({"threads": 0}, "threads"),
    ],
)
def test_what_cannot_be_learned_is_said_in_one_line(change: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        fit_volumes(bush(500), **{"voxel": 0.2, **change})  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_beams_without_any_return_teach_nothing() -> None:
    ways = np.tile([1.0, 0, 0], (5, 1))
    with pytest.raises(InputError, match="no pulse has a return"):
        fit_volumes(MeasuredPulses.of(np.zeros(3), ways, np.full(5, np.nan), reach=5.0), voxel=0.1)


def test_a_box_learns_what_is_inside_and_counts_all_beams() -> None:
    volumes = fit_volumes(bush(), voxel=0.1, box=(5, -1, -1, 7, 1, 1))
    assert volumes.bounds[0, 0] >= 5 - 0.1
    assert volumes.bounds[1, 0] <= 7 + 0.1
    assert volumes.permeability.mean() > 0.2, "pulses that end on the wall have passed the bush"


def test_the_chosen_voxel_is_the_likeliest_that_was_tried() -> None:
    tried: dict[float, float] = {}
    size = choose_voxel(bush(), tried=lambda voxel, likelihood: tried.__setitem__(voxel, likelihood))
    best = max(tried, key=lambda voxel: tried[voxel])
    assert size == pytest.approx(best, rel=1e-2)
    assert min(tried) < best < max(tried), "smaller and larger ones were worse"
    assert choose_voxel(bush()) == size
    with pytest.raises(InputError, match="too few"):
        choose_voxel(bush(8))


def test_points_on_voxel_walls_are_learned_whatever_the_size() -> None:
    """Points rounded to a millimetre, as every LAS has them, lie on walls of most sizes that people choose."""
    rng = np.random.default_rng(14)
    for trial in range(1000):
        voxel = float(
            rng.choice([round(rng.uniform(0.02, 2.0), 2), rng.integers(1, 40) * 0.05, rng.uniform(0.02, 2.0)])
        )
        far = rng.choice([1.0, 30.0, 300.0, 3000.0])
        walls = np.round(rng.integers(-40, 40, (60, 3)) * voxel + np.round(rng.uniform(-far, far, 3), 3), 3)
        loose = np.round(walls + rng.normal(0, voxel, walls.shape), 3)
        points = np.concatenate([walls, loose])
        start = points.mean(0) - [0.0, 0.0, 50.0]
        pulses = MeasuredPulses.of(start, points - start, np.linalg.norm(points - start, axis=1))
        volumes = fit_volumes(pulses, voxel=voxel, plain=bool(trial % 2))
        seen = pulses.shifted(-np.array(volumes.origin)).points  # far from zero, volumes have an origin of their own
        labels, count = into_voxels(seen, voxel)
        assert len(volumes) == count
        # a mean stays in the voxel of its points, in the order of the grid
        first = np.unique(labels, return_index=True)[1]
        assert np.array_equal(voxels_of(volumes.means, voxel), voxels_of(seen[first], voxel))
        assert gaussians_of([volumes]).means.shape == (count, 3)


def test_voxels_are_larger_where_little_was_seen() -> None:
    """Two thirds fewer volumes, as many hits; a plain search over all voxels finds what the walk finds."""
    pulses, test = open_place(4, seed=0), open_place(1, seed=1)
    fine, mixed = (fit_volumes(pulses, voxel=0.1, fewest=fewest) for fewest in (0.0, 3.0))
    assert len(mixed) < len(fine) / 3 and set(np.unique(mixed.levels)) == {0, 1, 2}
    assert mixed.meta["returns"] == fine.meta["returns"]
    side = mixed.cell * 4.0 ** mixed.levels[:, None]
    low = mixed.voxels * mixed.cell
    assert ((mixed.means > low) & (mixed.means < low + side)).all()
    tables = gaussians_of([mixed])
    hit = simulate_volumes(mixed, test, seed=2).hit
    assert hit.mean() == pytest.approx(test.hit.mean(), abs=0.02)
    assert log_likelihood(mixed, test) > log_likelihood(fine, test)
    points = test.points[test.hit][:400]
    found = find_volumes(tables, test, test.hit, 1)[test.hit][:400]
    for point, volume in zip(points, found, strict=True):
        inside = np.flatnonzero(((point >= low) & (point < low + side)).all(1))
        assert volume == (inside[0] if len(inside) else -1)
    with pytest.raises(InputError, match="fewest: goes with voxels alone"):
        fit_volumes(bush(500), voxel=0.2, method="growing", fewest=2.0)
    with pytest.raises(InputError, match="regions: goes with voxels alone"):
        fit_volumes(bush(500), voxel=0.2, method="growing", regions=True)
    with pytest.raises(InputError, match="regions: does not go with plain volumes"):
        fit_volumes(bush(500), voxel=0.2, plain=True, regions=True)
    with pytest.raises(InputError, match="fewest: must be a number of returns"):
        fit_volumes(bush(500), voxel=0.2, fewest=-1.0)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.02, 3.0), st.integers(0, 99))
@example(voxel=0.5164299219015381, seed=36)  # a mean a micrometre above a wall
@example(voxel=2.9577194556104036, seed=39)  # two of 63 at a wall
def test_means_are_those_of_the_returns_in_steps_that_files_hold_in_few_bytes(voxel: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform((17, -3, -3), (23, 3, 3), (500, 3))
    pulses = MeasuredPulses.of(np.zeros(3), points, np.linalg.norm(points, axis=1), reach=40.0)
    volumes = fit_volumes(pulses, voxel=voxel)
    cells, labels = np.unique(voxels_of(points, voxel), axis=0, return_inverse=True)
    count = np.bincount(labels.ravel())
    means = np.stack([np.bincount(labels.ravel(), points[:, a]) for a in range(3)], 1) / count[:, None]
    order = np.lexsort(voxels_of(volumes.means, voxel).T[::-1])
    assert np.array_equal(voxels_of(volumes.means, voxel)[order], cells)
    step = 2.0 ** np.floor(np.log2(voxel / 512))
    # The nearest step, unless it lies in the neighbour: then the next one.
    stays = (voxels_of(np.round(means / step) * step, voxel) == cells).all(1, keepdims=True)
    assert (np.abs(volumes.means[order] - means) <= np.where(stays, step / 2, step) + 1e-5 * max(voxel, 1)).all()
    # In between are those alone that the nearest step would put over a wall, or onto it.
    exact = volumes.means.astype(np.float64)
    from_wall = np.abs(exact / voxel - np.round(exact / voxel)) * voxel
    assert (from_wall[exact % step != 0] < step / 2 + 3e-4 * voxel).all()
