"""Rules of learning at the very number where they turn: bins, fewest returns, sizes handed to others."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn import surface
from tussock.learn.dead_lasers import silent_rings
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.fit_voxels import VoxelOptions, fit_voxels
from tussock.learn.halves import moved
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.partition.between_lines import LIFT, line_spacing
from tussock.learn.partition.filling import Surroundings, fill
from tussock.learn.partition.levels import Levelled
from tussock.learn.partition.voxel_sums import Summing
from tussock.learn.permeability import SEEN_THROUGH, Counting, filled_shells
from tussock.learn.range_noise import RangeNoise, constant_noise, noise_of
from tussock.learn.range_spread import measure_range_spread
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.field_scores import NEAR, field_scores
from tussock.learn.scoring.scores import bhattacharyya
from tussock.learn.surface import scan_surface, surface_mesh
from tussock.listening import sensitivity_of, spread_of
from tussock.poses import Pose, Trajectory
from tussock.randomness import Purpose, normal_pair, words_array
from tussock.scene.primitives import box
from tussock.scene.volumes import WHOLE, Volumes
from tussock.sensors.catalogue import load_sensor
from tussock.trace.volume_hits import gaussians_of

NAN = math.nan


def scan(ranges: list[float], azimuths: list[float]) -> MeasuredPulses:
    angle = np.array(azimuths)
    way = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], 1)
    return MeasuredPulses.of(np.zeros(3), way, ranges, azimuths=angle, reach=50.0)


def test_a_bin_as_wide_as_a_turn_holds_all_directions() -> None:
    one, two = scan([1.0, 1.0], [0.1, 3.0]), scan([1.0, 1.0], [5.0, 6.0])
    for width in (2 * math.pi, 5.0, 9.0):
        assert bhattacharyya(one, two, angle_bin=width) == 0.0
    assert bhattacharyya(one, two, angle_bin=math.pi) > 0.1


def test_bins_have_22_bits_of_angle_and_25_of_range() -> None:
    """A number more would be taken for another laser."""
    one, there = scan([1.0], [3.0]), scan([1.0], [0.0])
    for number in (2**22 - 1, 2**22):
        width = 3.0 / number
        if number < 2**22:
            assert bhattacharyya(one, one, angle_bin=width) == 0.0
        else:
            with pytest.raises(InputError, match="too fine"):
                bhattacharyya(one, one, angle_bin=width)
    assert bhattacharyya(there, there, range_bin=1.0 / (2**25 - 2)) == 0.0
    with pytest.raises(InputError, match="too fine"):
        bhattacharyya(there, there, range_bin=1.0 / (2**25 - 1))


def test_points_are_the_same_nearer_than_five_centimetres() -> None:
    for apart, same in ((NEAR * 0.999, 1.0), (NEAR, 0.0), (NEAR * 1.001, 0.0)):
        one = MeasuredPulses.of(np.zeros(3), [[1.0, 0, 0]], [apart], reach=9.0)
        two = MeasuredPulses.of(np.zeros(3), [[1.0, 0, 0]], [0.0], reach=9.0)
        assert field_scores(one, two).f_score == same and NEAR == 0.05


def test_one_pulse_with_a_return_shows_that_a_laser_is_alive() -> None:
    """A hundred pulses are a verdict, and half of the neighbours' must have returned, and more."""
    for fired, returned, dead in (
        ([1, 100, 1], [1, 0, 1], [1]), ([1, 99, 1], [1, 0, 1], []), ([2, 100, 1], [1, 0, 1], []), ([3, 100, 1], [2, 0, 1], [1]),
        ([1, 100, 0], [1, 0, 0], []), ([1, 100, 1], [1, 1, 1], []), ([100, 1, 1], [0, 1, 1], []), ([1, 1, 100], [1, 1, 0], []),
    ):  # fmt: skip
        assert silent_rings(np.array(fired), np.array(returned)).tolist() == dead


@pytest.mark.parametrize(("returns", "fills"), [(3, True), (2, False)])
def test_three_returns_say_something_of_what_is_between_them(returns: int, fills: bool) -> None:
    points = np.array([[0.15, 0.15, 0.15], [0.45, 0.45, 0.15], [0.75, 0.05, 0.15]])[:returns]
    start = np.array([0.0, 0.0, -5.0])
    pulses = MeasuredPulses.of(start, points - start, np.linalg.norm(points - start, axis=1), reach=20.0)
    summing = Summing(0.2, 1)
    summing.add(pulses, pulses.hit)
    inner = summing.total()
    outer, group = inner.coarser(4)
    assert len(outer) == 1 and len(inner) == returns
    for seen in (Surroundings.none(outer), Surroundings.of(outer)):
        assert (len(fill(inner, outer, group, np.array([True]), seen).source) > 0) is fills
        assert len(fill(inner, outer, group, np.array([False]), seen).source) == 0


def test_what_meshlab_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells along the longest side, eight at least; twice the kernel by the spacing 2√(d²₁₆/16) of the thinned points."""
    asked: dict[str, Any] = {}

    def cloud() -> Any:
        corners = np.array([[-0.01, 0, 0], [0, 0.01, 0], [0, 0, 0.01]])
        made = SimpleNamespace(vertex_matrix=lambda: corners, face_matrix=lambda: np.array([[0, 1, 2]]))
        return SimpleNamespace(
            add_mesh=lambda mesh: asked.update(mesh), current_mesh=lambda: made,
            generate_marching_cubes_rimls=lambda **how: asked.update(how),
        )  # fmt: skip

    monkeypatch.setattr(surface, "_meshlab", lambda: SimpleNamespace(MeshSet=cloud, Mesh=lambda **of: of))
    radii: list[float] = []
    plain = surface._normals
    monkeypatch.setattr(surface, "_normals", lambda *given: radii.append(given[2]) or plain(*given))
    x, z = (a.ravel() for a in np.meshgrid(np.arange(41) * 0.1, np.arange(11) * 0.1))
    points = np.stack([x - 2.0, np.full(len(x), 6.0), z], 1)
    start = np.array([0.0, 0.0, 0.5])
    pulses = MeasuredPulses.of(start, points - start, np.linalg.norm(points - start, axis=1), reach=20.0)
    thinned: list[float] = []
    averaged: list[float] = []
    thin, mean = surface._thinned, surface._averaged
    monkeypatch.setattr(surface, "_thinned", lambda *given: thinned.append(given[2]) or thin(*given))
    monkeypatch.setattr(surface, "_averaged", lambda *given: averaged.append(given[2]) or mean(*given))
    surface_mesh(pulses, cell=0.02, kernel=0.04)
    assert thinned == [0.02] and averaged[0] == 0.01
    # The grid is wider than a kernel, so nothing is thinned: of its inner points the sixteenth neighbour is √5 steps away.
    assert asked["filterscale"] == pytest.approx(2 * 0.04 / (2 * math.sqrt(5) * 0.1 / 4), rel=1e-3)
    assert asked["resolution"] == 200 and asked["maxprojectioniters"] == 1 and radii == [pytest.approx(0.1)]
    assert len(asked["vertex_matrix"]) == 451 and np.abs(asked["vertex_matrix"].mean(0)).max() < 1e-6
    towards = asked["vertex_matrix"][:, 1] < 9.0
    assert towards.all() and np.linalg.norm(asked["v_normals_matrix"], axis=1) == pytest.approx(np.ones(451))
    with suppress(InputError):  # of so few points none is near the triangle
        surface_mesh(pulses, cell=0.9, kernel=0.04)
    assert asked["resolution"] == 8
    surface_mesh(pulses, cell=0.0299, kernel=0.04)
    assert asked["resolution"] == math.ceil(4.0 / 0.0299)


def test_directions_that_are_a_little_longer_than_one_have_a_height() -> None:
    """Unit vectors are so to a thousandth: straight up is not beyond."""
    spacing = line_spacing(np.array([10, 10]), np.array([round(10.005 * LIFT), 0]))
    assert spacing == pytest.approx([math.pi / 2, math.pi / 2])
    assert line_spacing(np.array([1, 1]), np.array([0, -round(1.0005 * LIFT)])) == pytest.approx([math.pi / 2] * 2)


@pytest.mark.parametrize("begin", [-40.0, 0.0, 1e6])
def test_pulses_are_placed_by_any_clock(begin: float) -> None:
    """Also before its zero."""
    path = Trajectory.through([begin, begin + 1.0], [Pose.at(0, 0, 0), Pose.at(8, 0, 0, yaw=0.5)])
    times = begin + np.array([0.25, 0.0, 1.0, 0.5])
    pulses = MeasuredPulses.of(np.zeros(3), np.tile([1.0, 0, 0], (4, 1)), np.ones(4))
    placed = pulses.placed(path, times)
    assert placed.origins[:, 0] == pytest.approx([2.0, 0.0, 8.0, 4.0], abs=1e-6)
    assert np.arctan2(placed.directions[:, 1], placed.directions[:, 0]) == pytest.approx(
        [0.125, 0.0, 0.5, 0.25], abs=1e-6
    )


def test_a_sensor_that_stands_far_from_zero_has_not_moved() -> None:
    pulses = MeasuredPulses.of([100.0, 3.0, 7.0], [[1.0, 0, 0]] * 3, [1.0] * 3)
    assert not moved(pulses) and moved(replace(pulses, origins=pulses.origins + np.diag([0.0, 2.0, 0.0])))


def test_pulses_are_fired_at_a_mesh_one_ray_each() -> None:
    """The near side of a box a metre wide; noise of five millimetres, by chance that is the same every time; nothing behind the sensor."""
    way = np.array([[1.0, 0, 0]] * 400 + [[0, 1.0, 0]])
    like = MeasuredPulses.of([-5.0, 0.01, 0.02], way, np.full(401, 9.0), reach=20.0, intensity=np.full(401, 0.9))
    bare = scan_surface(box((1, 9, 9)), like, sigma=0.0)
    assert bare.ranges[:400] == pytest.approx(4.5, abs=1e-5) and np.isnan(bare.ranges[400])
    assert bare.intensity[:400] == pytest.approx(0.3) and bare.intensity[400] == 0
    noisy = scan_surface(box((1, 9, 9)), like, seed=7)
    off = noisy.ranges[:400] - 4.5
    assert off.std() == pytest.approx(0.005, rel=0.15) and abs(off.mean()) < 4 * 0.005 / 20
    assert np.array_equal(noisy.ranges, scan_surface(box((1, 9, 9)), like, seed=7).ranges, equal_nan=True)
    assert not np.array_equal(noisy.ranges, scan_surface(box((1, 9, 9)), like, seed=8).ranges, equal_nan=True)
    near = scan_surface(box((1, 9, 9)), like.shifted([4.5, 0, 0]), sigma=3.0)
    assert (near.ranges[:400] >= 0).all() and (near.ranges[:400] == 0).mean() == pytest.approx(0.5, abs=0.1)
    short = scan_surface(box((1, 9, 9)), replace(like, reach=4.4))
    assert not short.hit.any()


def test_the_noise_of_echoes_falls_with_the_signal_and_that_of_hits_is_the_same_everywhere() -> None:
    sensor = load_sensor("vlp-16")
    plain = noise_of(sensor.with_(**{"receiver.model": "hits"}))
    assert plain == constant_noise(sensor.noise.ray_sigma_m) and plain.floor > 0
    law = noise_of(sensor)
    assert law == RangeNoise(*spread_of(sensor), *sensitivity_of(sensor)) and law.scale > 0


def test_where_no_corner_is_sound_there_is_no_surface(monkeypatch: pytest.MonkeyPatch) -> None:
    corners = np.array([[np.nan, 0, 0], [0, 0.01, 0], [0, 0, 0.01]])
    made = SimpleNamespace(vertex_matrix=lambda: corners, face_matrix=lambda: np.array([[0, 1, 2]]))
    cloud = SimpleNamespace(
        add_mesh=lambda mesh: None, current_mesh=lambda: made, generate_marching_cubes_rimls=lambda **how: None
    )
    monkeypatch.setattr(surface, "_meshlab", lambda: SimpleNamespace(MeshSet=lambda: cloud, Mesh=lambda **of: of))
    x, z = (a.ravel() for a in np.meshgrid(np.arange(6) * 0.1, np.arange(6) * 0.1))
    way = np.stack([x, np.full(36, 6.0), z], 1)
    pulses = MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=20.0)
    with pytest.raises(InputError, match="surface: no surface was found at this kernel"):
        surface_mesh(pulses, cell=0.02, kernel=0.04)


def test_points_of_one_ring_lie_at_one_height() -> None:
    """To three degrees; straight up may be a little longer than one."""
    up = replace(
        scan([5.0, 5.0, 5.0], [0.0, 0.001, 0.002]), directions=np.array([[0, 0, 1.0005], [1.0, 0, 0], [1.0, 0, 0]])
    )
    with pytest.raises(InputError, match="rings: must be known"):
        measure_range_spread(up)
    for degrees, known in ((2.9, True), (3.1, False)):
        rise = np.deg2rad(degrees)
        flat = replace(up, directions=np.array([[np.cos(rise), 0, np.sin(rise)], [1.0, 0, 0], [1.0, 0, 0]]))
        if known:
            assert measure_range_spread(flat).count == 3
        else:
            with pytest.raises(InputError, match="rings: must be known"):
                measure_range_spread(flat)
        assert measure_range_spread(replace(flat, rings=np.array([4, 5, 5], np.uint16))).count == 2


def test_an_ellipsoid_is_passed_by_what_came_further_than_its_middle() -> None:
    """A pulse that ended just there on something else did not pass it."""
    packed, none = np.tile([100.0, 0, 0, 100.0, 0, 100.0], (2, 1)), np.zeros(2)
    means = np.array([[0.5, 0.5, 0.5], [1.5, 0.5, 0.5]])
    volumes = Volumes(means, packed, none, np.zeros((2, 2)), none, none, none, 1.0, np.array([1.0, 3.0]), "ellipsoids")
    for reached, passed in ((2.5, [1, 0]), (2.500001, [1, 1]), (1.5, [0, 0]), (1.500001, [1, 0])):
        pulses = MeasuredPulses.of([-1.0, 0.5, 0.5], [[1.0, 0, 0]], [reached], reach=20.0)
        counting = Counting(gaussians_of([volumes]), 1)
        counting.add(pulses, np.array([-1]))
        assert counting.totals()[0].sum(1).tolist() == passed


def test_noise_is_drawn_from_words_of_its_own() -> None:
    """A volume without any depth: what is left is the sensor's noise, by the counters' words that nothing else takes."""
    packed, none = np.array([[1e8, 0, 0, 1e8, 0, 1e8]]), np.zeros(1)
    volumes = Volumes(
        np.array([[0.5, 0.5, 0.5]]), packed, none, np.zeros((1, 1)), none, none, none, 1.0, np.array([np.inf])
    )
    n = 40
    like = MeasuredPulses.of(
        [-1.0, 0.5, 0.5], np.tile([1.0, 0, 0], (n, 1)), np.full(n, 1.5), reach=20.0, noise=constant_noise(0.1)
    )
    found = simulate_volumes(volumes, like, seed=5, frame=3, threads=1).ranges
    words = words_array(5, Purpose.VOLUME, 3, np.arange(n))
    wanted = [1.5 + 0.1 * float(normal_pair(row[1], row[2])[1]) for row in words]
    assert found == pytest.approx(wanted, abs=5e-4) and np.std(found) == pytest.approx(0.1, rel=0.3)


def test_a_filled_volume_of_which_one_pulse_knows_is_as_open_as_that_one_found_it() -> None:
    six, none = np.zeros((2, 6)), np.zeros(2)
    for passed, ended, open_ in (([1, 0], [0, 0], 1.0), ([0, 0], [0, 1], 0.0), ([0, 0], [0, 0], 0.0)):
        tree = Levelled(
            np.array([[0, 0, 0], [1, 0, 0]]), np.zeros(2, np.uint8), np.array([1, 0]), np.zeros((2, 3)), six, none, six, none,
            np.zeros((2, 2), int), six, np.array([False, True]),
        )  # fmt: skip
        through, stopped = (np.array([row, [0, 0]], np.uint32) for row in (passed, ended))
        rho, shells = filled_shells(np.zeros(2, np.float32), np.zeros((2, 2), np.uint16), tree, through, stopped)
        assert rho[1] == pytest.approx(open_) and shells[1].tolist() == [round(open_ * WHOLE)] * 2


@pytest.mark.parametrize(("through", "stays"), [(SEEN_THROUGH - 1, True), (SEEN_THROUGH, False)])
def test_eight_pulses_that_passed_say_that_nothing_is_there(through: int, stays: bool) -> None:
    """Returns along a line with a hole in it, and pulses through the hole, across."""
    x = np.array([0.05, 0.15, 0.25, 0.55, 0.65, 0.75])
    points = np.stack([x, np.full(6, 0.35), np.full(6, 0.35)], 1)
    start = np.array([0.4, 0.35, -3.0])
    seen = MeasuredPulses.of(start, points - start, np.linalg.norm(points - start, axis=1), reach=9.0)
    options = VoxelOptions(voxel=0.2, tau=2.0, plain=False, box=None, fewest=0.0, filling=True, threads=1, reach=9.0)
    whole = fit_voxels([seen], options)
    filled = np.flatnonzero(whole.pulses == 0)
    assert whole.meta["filled"] > 0 and len(filled) > 0
    middle = whole.means[filled[np.abs(whole.means[filled] - [0.45, 0.35, 0.35]).sum(1).argmin()]].astype(float)
    across = MeasuredPulses.of(
        middle - [0, 3.0, 0], np.tile([0.0, 1.0, 0], (through, 1)), np.full(through, NAN), reach=9.0
    )
    again = fit_voxels([seen, across], options)
    left = np.abs(again.means - middle).max(1).min() < 1e-3
    assert left == stays and (again.meta["filled"] == whole.meta["filled"]) is stays


@pytest.mark.parametrize("apart", [0.3, 1.3])
def test_second_returns_are_learned_however_near_they_are(apart: float) -> None:
    """Half of those that end in the first of two voxels return again from the second; also of plain volumes."""
    way, ranges = np.tile([1.0, 0, 0], (40, 1)), np.repeat([1.5, 1.5 + apart], [30, 10])
    others = np.where(np.arange(40) < 15, 1.5 + apart, NAN)
    pulses = MeasuredPulses.of([0.0, 0.05, 0.05], way, ranges, others=others, reach=9.0)
    for plain in (False, True):
        options = VoxelOptions(voxel=0.1, tau=2.0, plain=plain, box=None, fewest=0.0, threads=1)
        volumes = fit_voxels([pulses], options)
        order = np.argsort(volumes.means[:, 0])
        assert volumes.gap == pytest.approx(apart, abs=0.011) and len(volumes) == 2
        assert volumes.second[order[0]] / WHOLE == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("method", ["two-means", "growing", "voxels"])
def test_what_lies_far_away_is_learned_about_an_origin_of_its_own(method: Any) -> None:
    way, ranges = np.tile([1.0, 0, 0], (14, 1)), np.repeat([4.5, 9.5, NAN], [6, 6, 2])
    here = MeasuredPulses.of([0.0, 0.5, 0.5], way, ranges, reach=30.0)
    there = here.shifted([5000.0, -3.0, 0.0])
    near, far = (fit_volumes(pulses, voxel=1.0, method=method, threads=1) for pulses in (here, there))
    assert near.origin == (0.0, 0.0, 0.0) and far.origin == tuple(there.middle) and far.origin[0] > 5000
    order = np.argsort(far.means[:, 0])
    places = far.means[order].astype(float) + far.origin
    assert places[:, 0] == pytest.approx([5004.5, 5009.5], abs=2e-3) and places[:, 1] == pytest.approx(
        [-2.5, -2.5], abs=2e-3
    )
    other = np.argsort(near.means[:, 0])
    assert far.pulses[order].tolist() == near.pulses[other].tolist() == [14, 8]
    for volumes, rows in ((near, other), (far, order)):
        assert volumes.permeability[rows] == pytest.approx([8 / 14, 2 / 8])


def test_rings_all_around_are_kept_apart() -> None:
    """The end of one is no neighbour of the beginning of the next, however wide the window."""
    angle = np.linspace(-np.pi, np.pi, 360, endpoint=False)
    way = np.stack([np.cos(angle), np.sin(angle), np.zeros(360)], 1)
    parts = [MeasuredPulses.of(np.zeros(3), way, np.full(360, reach), azimuths=angle, rings=np.full(360, ring), reach=50.0)
             for ring, reach in ((0, 5.0), (1, 10.0), (2, 20.0))]  # fmt: skip
    pulses = replace(join_pulses(parts), turns=np.zeros(1080, np.int64))
    for window in (0.02, 0.5, 1.5):
        found = measure_range_spread(pulses, window=window)
        assert found.count == 1080 and not found.differences.any()
