"""Where pulses start and go, at the ends of what is known: two poses, two origins, two sub-rays, straight up, too early and too late."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_aim_and_weather import aimed, firing_of

from tussock.pulse.aim import (
    POSE_ROWS,
    _left_of,
    aim_lanes,
    axes_at,
    drawn_place,
    fill_true_directions,
    load_lanes,
    stand,
    stencil_ray,
)
from tussock.pulse.tables import Lot, Part, PoseTable, Spot
from tussock.randomness import chance_of
from tussock.rebound import in_python
from tussock.trace.packets import LANES, NOTHING, new_packet, ray_at
from tussock.trace.ray import SKIN

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of chance, as plain Python
f = np.float32
AHEAD = np.tile([1.0, 0.0, 0.0], (40, 1))
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def lot(first: int = 0, apart: int = 1, lanes: int = LANES) -> Lot:
    return Lot(first, apart, lanes, chance_of(1, 0))


def only_aimed(firing: Any, poses: PoseTable, group: Lot) -> np.ndarray:
    """What `aim_lanes` alone writes; NaN where it writes nothing."""
    turn, aim = np.full(POSE_ROWS * LANES, np.nan), np.full(13 * LANES, np.nan, f)
    if len(poses.times) == 1:
        in_python(stand)(poses, turn)
    in_python(aim_lanes)(firing, poses, group, turn, aim)
    return aim.reshape(13, LANES)


def standing(place: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> PoseTable:
    return PoseTable(np.zeros(1), np.array([place]), LEVEL[None])


def test_a_sensor_that_moves_takes_its_one_origin_along() -> None:
    """Even where its path has two poses only: 4 m in 400 µs, pulses every 10 µs."""
    poses = PoseTable(np.array([0.0, 4e-4]), np.array([[0.0, 0, 0], [4.0, 0, 0]]), np.stack([LEVEL, LEVEL]))
    aim = only_aimed(firing_of(AHEAD, np.array([[0.5, 0.2, 0.1]])), poses, lot(first=3))
    np.testing.assert_allclose(aim[0], 0.5 + 0.1 * (3 + np.arange(LANES)), atol=1e-5)
    np.testing.assert_allclose(aim[1:3], np.array([[0.2], [0.1]]) + np.zeros(LANES), atol=1e-6)


def test_a_sensor_that_stands_has_the_origin_of_every_pulse() -> None:
    """Two pulses from two places: lanes past the last repeat it. One for all was written before, and stays."""
    origins = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0]])
    aim = only_aimed(firing_of(AHEAD[:2], origins), standing((5.0, 0, 0)), lot(lanes=2))
    assert aim[:3, 0].tolist() == [5, 1, 0]
    assert aim[:3, 1:].T.tolist() == [[5, 0, 2]] * (LANES - 1)
    assert np.isnan(only_aimed(firing_of(AHEAD, origins[:1]), standing(), lot())[:3]).all()


@pytest.mark.parametrize(("rays", "changes", "wide"), [
    (1, {}, False), (2, {}, True), (1, {"spot": int(Spot.ROUND)}, True), (1, {"pointing_sigma": f(1e-9)}, True),
])  # fmt: skip
def test_left_and_up_are_found_where_anything_goes_beside_the_axis(rays: int, changes: dict, wide: bool) -> None:
    aim = only_aimed(firing_of(AHEAD, np.zeros((1, 3)), rays=rays, **changes), standing(), lot())
    assert np.isfinite(aim[6:12]).all() == wide
    if wide:
        np.testing.assert_allclose(aim[6:9].T, [[0, 1, 0]] * LANES, atol=1e-6)
        np.testing.assert_allclose(aim[9:12].T, [[0, 0, 1]] * LANES, atol=1e-6)


def test_the_time_of_a_ray_is_its_share_of_the_frame_and_one_at_most() -> None:
    firing = firing_of(AHEAD, np.zeros((1, 3)), period=2e-4)
    np.testing.assert_allclose(
        only_aimed(firing, standing(), lot(first=12))[12], np.minimum((12 + np.arange(16)) / 20, 1)
    )


def test_before_and_after_its_path_a_sensor_stands_at_its_ends() -> None:
    """Poses from 50 to 120 µs: pulses 0 to 5 and from 12 on are outside of them."""
    poses = PoseTable(
        np.array([5e-5, 8e-5, 12e-5]), np.array([[1.0, 0, 0], [4.0, 0, 0], [4.0, 8.0, 0]]), np.stack([LEVEL] * 3)
    )
    aim = aimed(firing_of(AHEAD, np.zeros((1, 3))), poses, lot())
    t = 10.0 * np.arange(LANES)
    np.testing.assert_allclose(aim[0], np.interp(t, [50, 80, 120], [1, 4, 4]), atol=1e-5)
    np.testing.assert_allclose(aim[1], np.interp(t, [50, 80, 120], [0, 0, 8]), atol=1e-5)


@pytest.mark.parametrize(("x", "y", "left"), [
    (0.0, 0.0, (0.0, 1.0)), (0.0, 9e-7, (0.0, 1.0)), (9e-7, 0.0, (0.0, 1.0)), (0.0, 2e-6, (-1.0, 0.0)), (-2e-6, 0.0, (0.0, -1.0)),
    (3e-6, 4e-6, (-0.8, 0.6)), (0.6, -0.8, (0.8, 0.6)),
])  # fmt: skip
def test_left_is_level_and_y_for_what_goes_straight_up(x: float, y: float, left: tuple[float, float]) -> None:
    assert in_python(_left_of)(f(x), f(y)) == pytest.approx(left, abs=1e-6)


def test_true_directions_are_those_of_the_pulses_that_wander() -> None:
    """In the sensor's frame: what a sensor that stands level at zero fires along."""
    rng = np.random.default_rng(3)
    ways = rng.normal(size=(20, 3))
    ways[[2, 7]] = [[0, 0, 1], [0, 0, -1]]
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    firing = firing_of(ways, np.zeros((1, 3)), rays=1, pointing_sigma=f(0.05))
    out = np.zeros((20, 3), f)
    in_python(fill_true_directions)(firing, chance_of(1, 0), out)
    for first in (0, 16):
        lanes = min(LANES, 20 - first)
        aim = only_aimed(firing, standing(), lot(first=first))
        np.testing.assert_allclose(out[first : first + lanes], aim[3:6, :lanes].T, atol=1e-6)
    off = np.linalg.norm(out - ways, axis=1)
    assert 0.02 < off.mean() < 0.15 and (off > 1e-4).all()


@pytest.mark.parametrize(
    ("along", "apart", "close"), [(True, 1, True), (False, 1, False), (False, 2, True), (True, 7, True)]
)
def test_rays_of_one_pulse_or_of_one_laser_are_said_to_be_close(along: bool, apart: int, close: bool) -> None:
    """Rays of different lasers are not: to Embree they are said to be apart (bit 16 of its flags)."""
    firing, packet = firing_of(AHEAD, np.zeros((1, 3)), rays=6), new_packet()
    weights, aim = np.zeros(LANES, f), aimed(firing, standing(), lot()).ravel()
    in_python(load_lanes)(
        packet, aim, firing, Part(along, 0, 0, 6 if along else LANES), lot(apart=apart), f(9), weights
    )
    assert packet.query[0] == (1 << 16 if close else 0)
    assert (packet.masks == np.where(np.arange(LANES) < (6 if along else LANES), NOTHING, 0)).all()


def test_sub_rays_behind_the_last_are_the_last() -> None:
    """Idle lanes of a packet along a pulse have rays, too: none counts from the end of the table."""
    firing, packet = firing_of(AHEAD, np.zeros((1, 3)), rays=6), new_packet()
    weights, aim = np.zeros(LANES, f), aimed(firing, standing((1, 2, 3)), lot()).ravel()
    in_python(load_lanes)(packet, aim, firing, Part(True, 4, 4, 2), lot(), f(9), weights)
    for l in range(LANES):
        k, ray = min(4 + l, 5), in_python(ray_at)(packet, l)
        assert ray[:3] == pytest.approx((1, 2, 3)) and ray[3:6] == pytest.approx(tuple(firing.stencil[k]))
        assert ray[6:8] == (SKIN, 9.0)
        assert weights[l] == firing.weights[k]


def test_a_drawn_place_and_a_stencil_ray() -> None:
    """0 is the lowest of random words and 2³² − 1 the highest: the middle and the edge of a disc, two corners of a square."""
    round_, square = (SimpleNamespace(spot=int(spot)) for spot in (Spot.ROUND, Spot.SQUARE))
    low, high, quarter = np.uint32(0), np.uint32(0xFFFFFFFF), np.uint32(1 << 30)
    assert np.hypot(*in_python(drawn_place)(round_, low, high)) < 1e-4
    assert in_python(drawn_place)(round_, high, low) == pytest.approx((1, 0), abs=1e-4)
    assert in_python(drawn_place)(round_, high, quarter) == pytest.approx((0, 1), abs=1e-4)
    assert in_python(drawn_place)(square, low, high) == pytest.approx((-1, 1), abs=1e-4)
    assert in_python(drawn_place)(square, quarter, low) == pytest.approx((-0.5, -1), abs=1e-4)
    aim = np.arange(13 * LANES, dtype=f)
    axes = in_python(axes_at)(aim, 3)
    assert tuple(axes) == tuple(16 * k + 3 for k in range(13))
    ray = in_python(stencil_ray)(axes, f(0.5), f(-2.0), f(3.0), f(7.0))
    assert tuple(ray) == (3, 19, 35, *(0.5 * (16 * k + 3) - 2 * (16 * (k + 3) + 3) + 3 * (16 * (k + 6) + 3) for k in (3, 4, 5)),
                          SKIN, 7, 195)  # fmt: skip
