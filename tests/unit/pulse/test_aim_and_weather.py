"""Small steps of a pulse by their formulas: where a sub-ray goes, what a sub-ray leaves of fog, which clouds a fan of axes may meet."""

from __future__ import annotations

import numpy as np
import pytest
from test_near_clouds import LANES, met

from tussock.kernels import kernel
from tussock.pulse.aim import Axes, wandered
from tussock.pulse.clouds import _near_clouds
from tussock.pulse.tables import Firing, Hits
from tussock.pulse.weather import _meet_continuum
from tussock.signal.air import CLEAR, Air

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
    near = np.zeros(LANES, np.int32)
    kept = set(near[: _near_clouds(rows, aim.ravel(), LANES, near)].tolist())
    assert met(rows, aim) == kept == set(range(LANES))
    rows[:, 2:5] *= -1
    assert spread == 0.5 or _near_clouds(rows, aim.ravel(), LANES, near) == 0
