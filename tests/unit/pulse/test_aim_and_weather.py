"""Small steps of a pulse by their formulas: where a sub-ray goes, what a sub-ray leaves of fog, which clouds a fan of axes may meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_near_clouds import LANES, met

from clouds_on_axes import near_clouds, parts_on
from tussock.kernels import kernel
from tussock.pulse.aim import (
    POSE_ROWS,
    Axes,
    _segment,
    aim_lanes,
    aim_origins,
    drawn_place,
    load_lanes,
    ray_through,
    stand,
    wandered,
)
from tussock.pulse.clouds import _dim, _dim_among, _ends, _peak, new_air_scratch
from tussock.pulse.tables import Firing, Hits, Lot, Part, PoseTable, Spot
from tussock.pulse.weather import _meet_continuum
from tussock.randomness import chance_of
from tussock.signal.air import CLEAR, Air
from tussock.signal.clouds import PART_NUMBERS, box_part, puff_part
from tussock.trace.packets import new_packet, ray_at
from tussock.trace.ray import SKIN, Ray

f = np.float32


@kernel
def _wander(axes: Axes, across: np.float32, up: np.float32, out: np.ndarray) -> None:
    out[0], out[1], out[2] = wandered(axes, across, up)


@pytest.mark.parametrize("seed", range(5))
def test_an_axis_is_turned_by_two_small_angles(seed: int) -> None:
    """axis + across·left + up·up, of unit length; left and up lie in any direction here."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0].astype(f)
    out = np.zeros(3, f)
    across, up = f(rng.uniform(-0.3, 0.3)), f(rng.uniform(-0.3, 0.3))
    _wander(Axes(f(0), f(0), f(0), *turn[0], *turn[1], *turn[2], f(0)), across, up, out)
    wanted = turn[0] + across * turn[1] + up * turn[2]
    assert out == pytest.approx(wanted / np.linalg.norm(wanted), abs=1e-6)


def firing_of(directions: np.ndarray, origins: np.ndarray, rays: int = 3, **changes: object) -> Firing:
    """Pulses 10 µs apart in a frame of 1 ms; sub-rays share out the axis, left and up."""
    rng = np.random.default_rng(3)
    stencil = rng.normal(size=(rays, 3)).astype(f)
    stencil /= np.linalg.norm(stencil, axis=1, keepdims=True)
    weights = np.linspace(0.5, 1.0, rays, dtype=f)
    n = len(directions)
    columns = np.concatenate([np.column_stack([stencil, weights]).T, np.zeros((4, 16))], 1).astype(f)
    columns[:, rays:] = columns[:, rays - 1 : rays]
    made = Firing(
        directions.astype(f), origins.astype(f), 1e-5 * np.arange(n), np.zeros(n, np.uint16), 1, stencil, weights, columns,
        f(0), int(Spot.STENCIL), f(0.1), f(0.2), f(0), 1e-3, rays, np.zeros(0, f), np.zeros((0, 0), f),
    )  # fmt: skip
    return made._replace(**changes)


@kernel
def _aim(firing: Firing, poses: PoseTable, lot: Lot, turn: np.ndarray, aim: np.ndarray) -> None:
    stand(poses, turn)
    aim_origins(firing, lot, turn, aim)
    aim_lanes(firing, poses, lot, turn, aim)


def aimed(firing: Firing, poses: PoseTable, lot: Lot) -> np.ndarray:
    aim = np.zeros(13 * LANES, f)
    _aim(firing, poses, lot, np.zeros(POSE_ROWS * LANES), aim)
    return aim.reshape(13, LANES).astype(float)


def path_of(rows: int, seed: int) -> PoseTable:
    rng = np.random.default_rng(seed)
    quaternions = Rotation.from_euler("xyz", np.linspace([0.3, -0.2, 0.5], [0.35, -0.1, 0.9], rows)).as_quat()
    return PoseTable(np.linspace(0, 2.9e-4, rows), rng.normal(0, 3, (rows, 3)), quaternions)


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize(("first", "apart"), [(0, 1), (3, 2), (25, 1)])
def test_pulses_leave_from_where_the_sensor_is_at_their_moment(rows: int, first: int, apart: int) -> None:
    """Between two poses of the table in proportion; lanes past the last pulse repeat it; left is level and up across both."""
    rng = np.random.default_rng(rows)
    ways = rng.normal(size=(30, 3))
    ways[::7, :2] = 0  # straight up and down
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    firing, poses = firing_of(ways, rng.normal(0, 0.2, (30, 3))), path_of(rows, 5)
    lot = Lot(first, apart, LANES, chance_of(1, 0))
    found = aimed(firing, poses, lot)
    for lane in range(LANES):
        p = min(first + lane * apart, 29)
        t = 1e-5 * p
        position = (
            [np.interp(t, poses.times, poses.positions[:, a]) for a in range(3)] if rows > 1 else poses.positions[0]
        )
        quaternion = (
            [np.interp(t, poses.times, poses.quaternions[:, a]) for a in range(4)] if rows > 1 else poses.quaternions[0]
        )
        turn = Rotation.from_quat(quaternion)
        assert found[:3, lane] == pytest.approx(position + turn.apply(firing.origins[p]), abs=1e-5)
        way = ways[p]
        left = np.cross([0, 0, 1], way) if abs(way[2]) < 0.999999 else np.array([0.0, 1.0, 0.0])
        left = left / np.linalg.norm(left)
        assert found[3:6, lane] == pytest.approx(turn.apply(way), abs=1e-5)
        assert found[6:9, lane] == pytest.approx(turn.apply(left), abs=1e-5)
        assert found[9:12, lane] == pytest.approx(turn.apply(np.cross(way, left)), abs=1e-5)
        assert found[12, lane] == pytest.approx(t / 1e-3, abs=1e-6)
    one = firing._replace(origins=firing.origins[:1])
    same = aimed(one, poses, lot)
    shift = aimed(one._replace(origins=np.zeros((1, 3), f)), poses, lot)
    assert np.linalg.norm(same[:3] - shift[:3], axis=0) == pytest.approx(np.linalg.norm(firing.origins[0]), abs=1e-5)


def test_a_table_of_poses_is_searched_for_the_segment() -> None:
    times = np.array([0.0, 1.0, 2.0, 4.0])
    for t, row in ((-1.0, 0), (0.0, 0), (0.99, 0), (1.0, 1), (2.0, 2), (3.9, 2), (4.0, 2), (9.0, 2)):
        assert _segment(times, t) == row
    assert _segment(times[:2], 5.0) == 0


def test_pointing_wanders_as_widely_as_it_is_told_to() -> None:
    """Across and up by themselves, by σ each, about the axis that the pulse has without it."""
    ways = np.tile([0.6, 0.0, 0.8], (320, 1))
    still = firing_of(ways, np.zeros((1, 3)), rays=1)
    loose, poses = still._replace(pointing_sigma=f(0.01)), path_of(1, 2)
    off = []
    for first in range(0, 320, LANES):
        lot = Lot(first, 1, LANES, chance_of(4, 0))
        one, two = aimed(loose, poses, lot), aimed(still._replace(spot=int(Spot.ROUND)), poses, lot)
        off.append([[(one[3:6, l] @ two[6:9, l]), one[3:6, l] @ two[9:12, l]] for l in range(LANES)])
        assert np.linalg.norm(one[3:6], axis=0) == pytest.approx(np.ones(LANES), abs=1e-5)
    angles = np.array(off).reshape(-1, 2)
    assert angles.std(0) == pytest.approx([0.01, 0.01], rel=0.16) and np.abs(angles.mean(0)).max() < 0.0023
    assert abs(np.corrcoef(angles.T)[0, 1]) < 0.23


@kernel
def _load(
    packet: object,
    aim: np.ndarray,
    firing: Firing,
    part: Part,
    lot: Lot,
    reach: np.float32,
    weights: np.ndarray,
    out: np.ndarray,
) -> None:
    load_lanes(packet, aim, firing, part, lot, reach, weights)
    for l in range(16):
        ray = ray_at(packet, l)
        out[l, 0], out[l, 1], out[l, 2], out[l, 3], out[l, 4], out[l, 5] = ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz
        out[l, 6], out[l, 7], out[l, 8] = ray.near, ray.far, ray.time


@pytest.mark.parametrize("spot", [Spot.STENCIL, Spot.ROUND])
@pytest.mark.parametrize(
    ("along", "pulse", "ray", "used"), [(False, 0, 2, 16), (False, 0, 1, 9), (True, 5, 0, 16), (True, 3, 16, 4)]
)
def test_sub_rays_go_through_their_places_of_the_spot(spot: Spot, along: bool, pulse: int, ray: int, used: int) -> None:
    """One of every pulse, or several of one; what is drawn lies within the spot and weighs less towards its edge."""
    rng = np.random.default_rng(2)
    ways = rng.normal(size=(20, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    firing = firing_of(
        ways, rng.normal(size=(20, 3)), rays=20, spot=int(spot), fall=f(0.7 if spot == Spot.ROUND else 0)
    )
    lot = Lot(2, 1, LANES, chance_of(3, 0))
    aim = aimed(firing, path_of(1, 4), lot)
    packet, weights, out = new_packet(), np.zeros(LANES, f), np.zeros((LANES, 9), f)
    _load(packet, aim.ravel().astype(f), firing, Part(along, pulse, ray, used), lot, f(77.0), weights, out)
    assert [int(mask) != 0 for mask in packet.masks] == [l < used for l in range(LANES)]
    for l in range(used):
        lane, k = (pulse, ray + l) if along else (l, ray)
        assert out[l, :3] == pytest.approx(aim[:3, lane], abs=1e-6)
        assert out[l, 6:] == pytest.approx([float(SKIN), 77.0, aim[12, lane]], rel=1e-6)
        axis, left, up = aim[3:6, lane], aim[6:9, lane], aim[9:12, lane]
        if spot == Spot.STENCIL:
            c = firing.stencil[k]
            assert out[l, 3:6] == pytest.approx(c[0] * axis + c[1] * left + c[2] * up, abs=1e-5)
            assert weights[l] == firing.weights[k]
        else:
            way = out[l, 3:6].astype(float)
            h, w = way @ left / (way @ axis) / 0.1, way @ up / (way @ axis) / 0.2
            assert np.linalg.norm(way) == pytest.approx(1.0, abs=1e-5) and h * h + w * w <= 1.001
            assert weights[l] == pytest.approx(firing.weights[k] * np.exp(-0.7 * (h * h + w * w)), rel=1e-3)


@kernel
def _places(firing: Firing, words: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(words)):
        out[i, 0], out[i, 1] = drawn_place(firing, words[i, 0], words[i, 1])


def test_places_on_a_spot_are_drawn_evenly() -> None:
    """On a disc by r² and the angle, on a square by both sides."""
    firing = firing_of(np.eye(3), np.zeros((1, 3)))
    words = np.random.default_rng(1).integers(0, 2**32, (900, 2), np.uint32)
    u, v = ((words[:, k] + 0.5) / 2.0**32 for k in range(2))
    out = np.zeros((900, 2), f)
    _places(firing._replace(spot=int(Spot.ROUND)), words, out)
    assert (out**2).sum(1) == pytest.approx(u, abs=1e-5)
    assert np.arctan2(out[:, 1], out[:, 0]) == pytest.approx(np.angle(np.exp(2j * np.pi * v)), abs=1e-3)
    other = next(int(kind) for kind in Spot if kind not in (Spot.STENCIL, Spot.ROUND))
    _places(firing._replace(spot=other), words, out)
    assert out[:, 0] == pytest.approx(2 * u - 1, abs=1e-6) and out[:, 1] == pytest.approx(2 * v - 1, abs=1e-6)
    axes = Axes(f(1), f(2), f(3), f(1), f(0), f(0), f(0), f(1), f(0), f(0), f(0), f(1), f(0.5))
    ray = np.array(tuple(_through(axes, firing, f(0.5), f(-1.0))), float)
    assert ray[:3].tolist() == [1, 2, 3] and ray[8] == 0.5 and ray[7] == 9.0
    assert ray[3:6] == pytest.approx(np.array([1, 0.05, -0.2]) / np.linalg.norm([1, 0.05, -0.2]), abs=1e-6)


@kernel
def _through(axes: Axes, firing: Firing, h: np.float32, w: np.float32) -> Ray:
    return ray_through(axes, firing, h, w, np.float32(9.0))


def cloud(
    kind: int,
    box: bool,
    place: tuple[float, float, float],
    size: tuple[float, float, float],
    drift: tuple[float, float, float] = (0, 0, 0),
) -> list[float]:
    return [float(box), kind, *place, *size, *drift, 0.2, 0.03]


def test_the_parts_of_clouds_on_an_axis() -> None:
    """A box from where it is entered to where it is left; a puff by its distance from the axis; both where they drifted to."""
    rows = np.array([
        cloud(1, True, (10, 0.5, 0), (2, 1, 1)), cloud(2, True, (10, 1.5, 0), (2, 1, 1)), cloud(3, True, (0, 0, 0), (4, 1, 1)),
        cloud(4, True, (-9, 0, 0), (2, 9, 9)), cloud(5, True, (20, 3, 0), (1, 1, 1), (0, -5, 0)), cloud(6, False, (30, 0.3, 0.4), (0.5, 0, 0)),
        cloud(7, False, (30, 0, 2.1), (0.5, 0, 0)), cloud(8, False, (-1.9, 0, 0), (0.5, 0, 0)), cloud(9, False, (-2.1, 0, 0), (0.5, 0, 0)),
    ], f)  # fmt: skip
    parts = parts_on(rows, Ray(*(f(x) for x in (0, 0, 0, 1, 0, 0, 0, np.inf, 0.5))))
    boxes = [(int(part[0]) - 1, *part[1:3]) for part in parts if part[0] > 0]
    assert boxes == [(1, 8.0, 12.0), (3, 0.0, 4.0), (5, 19.0, 21.0)]
    puffs = [part for part in parts if part[0] <= 0]
    assert [(-int(part[0]), round(float(part[1]), 4), float(part[2])) for part in puffs] == [
        (6, 30.0, 0.5),
        (8, -1.9, 0.5),
    ]
    assert puffs[0][3:5] == pytest.approx(np.array([0.2, 0.03]) * np.exp(-0.5), rel=1e-4)
    oblique = Ray(*(f(x) for x in (8, -2, 0, 0, 1, 0, 0, np.inf, 0)))  # along a wall of the first box
    assert parts_on(rows[:1], oblique)[:, 1:3].tolist() == [[1.5, 3.5]]
    beside = Ray(*(f(x) for x in (7.99, -2, 0, 0, 1, 0, 0, np.inf, 0)))
    assert len(parts_on(rows[:1], beside)) == 0


def dust() -> tuple[np.ndarray, int]:
    parts = np.zeros((2, PART_NUMBERS), f)
    box_part(parts[0], f(1), f(3.0), f(5.0), f(0.1), f(0.02))
    puff_part(parts[1], f(2), f(9.0), f(0.6), f(0.3), f(0.05))
    return parts, 2


def depth(paths: np.ndarray) -> np.ndarray:
    from scipy.special import erf

    box = 0.1 * np.clip(np.minimum(paths, 5) - 3, 0, None)
    return np.asarray(
        box + 0.3 * 0.6 * np.sqrt(np.pi / 2) * (erf((paths - 9) / 0.6 / np.sqrt(2)) + erf(9 / 0.6 / np.sqrt(2)))
    )


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("ranges", [[20.0, 30.0], [2.0, 4.0, 8.7, 30.0], [*np.linspace(2.5, 12, 19)]])
def test_hits_are_dimmed_on_both_ways(ranges: list[float], few: bool) -> None:
    """exp(−2τ) of what lies before each; more hits than sixteen, too, and rows without energy stay so; nor where nothing is met."""
    parts, count = dust()
    n = len(ranges)
    room = new_air_scratch(2)
    for part, across in zip(parts, room.across.reshape(2, -1, LANES), strict=True):
        across[0, 0], across[1:6, 3], across[6, 3] = part[0], part[1:], 1.0
    far = np.full((n + 1, LANES), np.inf, f)
    energies = np.zeros((n + 1, LANES), f)
    far[:n, 3], energies[:n, 3] = ranges, 0.5
    far[0, 7], energies[0, 7] = 10.0, 0.3
    hits = Hits(far, energies, np.zeros((3, n + 1, LANES), np.uint32), np.full(LANES, n))
    _ends(room.across, count, hits, n + 1, room.ends)
    _dim(room.across, count, hits, n + 1, few, room.ends)
    if not few and min(ranges) < 15:  # among the clouds: pulse by pulse
        np.testing.assert_array_equal(energies[:n, 3], f(0.5))
        _dim_among(hits, n + 1, 3, parts, count, room.room)
    assert (
        energies[:n, 3] == pytest.approx(0.5 * np.exp(-2 * depth(np.array(ranges))), rel=1e-4) and energies[n, 3] == 0
    )
    assert not energies[:, [0, 1, 2, 4]].any() and energies[0, 7] == f(0.3)


@pytest.mark.parametrize(("far", "most"), [(30.0, 9.0), (8.6, 8.6), (5.0, 0.0)])
@pytest.mark.parametrize("sigma", [0.1, 0.3])
def test_the_peak_of_what_a_puff_sends_back(far: float, most: float, sigma: float) -> None:
    """The top of πβ·e^(−2τ)/r², spread by the pulse, found among some thousand places; nothing from behind a wall."""
    parts = dust()[0][1:]
    air = CLEAR._replace(overlap_from=f(0.0), overlap_to=f(1e-3), near_to=f(0))
    path, height = _peak(air, parts, 1, f(sigma), f(far), new_air_scratch(2).room)
    if not most:
        assert (path, height) == (0.0, 0.0)
        return
    r = np.linspace(6, 12, 3001)
    thick = depth(r) - depth(np.array([5.5]))
    back = 0.05 * np.exp(-((r - 9) ** 2) / 2 / 0.36) * np.exp(-2 * thick) / r**2 * (r < far)
    spread = np.exp(-((r[:, None] - r[None, ::10]) ** 2) / 2 / sigma**2)
    told = (back[:, None] * spread).sum(0) * (r[1] - r[0])
    if far == 30.0:  # of what is cut off by a wall three points of Gauss and Hermite are no good measure
        assert height == pytest.approx(told.max(), rel=0.02)
        assert path == pytest.approx(r[::10][told.argmax()], abs=0.03)
    assert 7.5 < path <= far and height <= np.sqrt(2 * np.pi) * sigma * back.max() * 1.001


def continuum(
    ranges: list[list[float]], *, recorded: bool = False
) -> tuple[list[int], list[list[float]], list[list[float]]]:
    """What fog with an echo at 4 m and one at 9 m adds to lanes whose three sub-rays came so far; the echo known beforehand from 20 m on."""
    rays = 3
    room = np.full((8, LANES), np.inf, f)
    for lane, own in enumerate(ranges):
        room[:rays, lane] = own
    hits = Hits(room, np.zeros((8, LANES), f), np.zeros((3, 8, LANES), np.uint32), np.full(LANES, rays))
    firing = Firing(
        np.zeros((1, 3), f), np.zeros((1, 3), f), np.zeros(1), np.zeros(1, np.uint16), 1, np.zeros((rays, 3), f),
        np.array([0.5, 0.3, 0.2], f), np.zeros((4, rays + 16), f), f(0), 0, f(0), f(0), f(0), 0.1,
        rays, np.zeros(0, f), np.zeros((0, 0), f),
    )  # fmt: skip
    air: Air = CLEAR._replace(soft=np.array([[4.0, 0.1], [9.0, 0.02]], f), soft_near=f(20.0), soft_kind=3)
    soft = np.zeros(LANES, np.int64)
    _meet_continuum(air, firing, hits, soft, len(ranges), recorded)
    used = hits.used[: len(ranges)]
    added = [hits.ranges[rays:n, lane].tolist() for lane, n in enumerate(used)]
    energies = [hits.energies[rays:n, lane].tolist() for lane, n in enumerate(used)]
    assert (soft[len(ranges) :] == -1).all() and (hits.used[len(ranges) :] == rays).all()
    return soft[: len(ranges)].tolist(), added, energies


def test_fog_is_seen_by_the_sub_rays_that_came_through_it() -> None:
    """The nearest of all sub-rays says whether its echo is whole; else each sub-ray behind a piece has its weight of it."""
    soft, added, energies = continuum([[30, 25, 20], [8, 30, 30], [30, 30, 5], [3, 2, 1], [30, 19.9, 30]])
    assert soft == [-5, -1, -1, -1, -1]
    assert added == [[], [4, 9], [4, 9], [], [4, 9]]
    assert energies[1] == pytest.approx([0.1, 0.02 * 0.5]) and energies[2] == pytest.approx([0.1, 0.02 * 0.8])
    assert energies[4] == pytest.approx([0.1, 0.02])
    soft, added, energies = continuum([[30, 25, 20], [4, 9, 30]], recorded=True)
    assert soft == [-1, -1] and added == [[4, 9], [4, 9]]
    assert energies[1] == pytest.approx([0.1 * 0.5, 0.02 * 0.2])


@pytest.mark.parametrize("way", [(1, 1, 1), (1, -2, 0.5), (-0.3, 0.2, 1), (0.1, 1, -1)])
@pytest.mark.parametrize("spread", [0.02, 0.2, 0.5])
def test_puffs_on_every_axis_of_a_fan_are_kept(way: tuple[float, float, float], spread: float) -> None:
    """Small and far away, where the cone is hardly wider than the fan, whatever way it opens."""
    rng = np.random.default_rng(7)
    aim = np.zeros((13, LANES), f)
    ways = np.array(way) / np.linalg.norm(way) + spread * rng.uniform(-1, 1, (LANES, 3))
    aim[3:6] = (ways / np.linalg.norm(ways, axis=1, keepdims=True)).T
    rows = np.zeros((LANES, 13), f)
    rows[:, 2:5], rows[:, 5], rows[:, 11:] = 600 * aim[3:6].T, 0.5, 0.1
    kept = set(near_clouds(rows, aim.ravel()))
    assert met(rows, aim) == kept == set(range(LANES))
    rows[:, 2:5] *= -1
    assert spread == 0.5 or not near_clouds(rows, aim.ravel())
