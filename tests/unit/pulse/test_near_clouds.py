"""The cone that sorts clouds out before sixteen pulses look at each: it may keep too many, never too few."""

from __future__ import annotations

import numpy as np
import pytest

from clouds_on_axes import near_clouds
from tussock.pulse.clouds import _meet, new_air_scratch

f = np.float32
LANES = 16


def axes(rng: np.random.Generator, spread: float) -> np.ndarray:
    """Sixteen axes about one direction, from one place, as `tussock.pulse.aim` leaves them: 13 rows of lanes."""
    middle = rng.normal(size=3)
    way = middle / np.linalg.norm(middle) + spread * rng.uniform(-1, 1, (LANES, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    aim = np.zeros((13, LANES), f)
    aim[:3] = rng.uniform(-5, 5, 3)[:, None]
    aim[3:6], aim[12] = way.T, np.linspace(0, 1, LANES)
    return aim


def clouds(rng: np.random.Generator, count: int) -> np.ndarray:
    """Puffs and boxes of all sizes, near and far, some of which drift."""
    rows = np.zeros((count, 13), f)
    rows[:, 0] = rng.integers(0, 2, count)
    rows[:, 2:5] = rng.normal(size=(count, 3)) * rng.choice([3.0, 20.0, 60.0], (count, 1))
    rows[:, 5:8] = rng.uniform(0.05, 4.0, (count, 3)) * rng.choice([1.0, 8.0], (count, 1))
    rows[:, 8:11] = rng.choice([0.0, 1.0], (count, 1)) * rng.uniform(-1.5, 1.5, (count, 3))
    rows[:, 11:] = 0.1
    return rows


def met(rows: np.ndarray, aim: np.ndarray) -> set[int]:
    """The clouds that any of the axes goes through, each looked at by itself."""
    across = new_air_scratch(1).across
    return {c for c in range(len(rows)) if _meet(rows, np.array([c], np.int32), 1, aim.ravel(), LANES, across)}


def test_of_many_clouds_those_that_are_met_are_listed() -> None:
    """40 of them, more than are looked at together: one all around, one to each side of the axes and one on them, far off."""
    rng = np.random.default_rng(3)
    for spread in (0.0, 0.02, 3.0):
        aim, rows = axes(rng, spread), clouds(rng, 40)
        rows[:, 5:8] *= 0.2
        listed = near_clouds(rows, aim.ravel())
        assert met(rows, aim) <= set(listed)
        assert len(listed) < 40 or spread == 3.0
        far = rows.copy()
        far[:, 2:5] = aim[:3, 0] + aim[3:6, 0] * np.array([30.0, 900.0, -500.0, 60.0] * 10)[:, None]
        assert near_clouds(far, aim.ravel()) == [c for c in range(40) if c % 4 != 2 or spread == 3.0]


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5, 3.0])
def test_what_an_axis_meets_is_in_the_cone(spread: float) -> None:
    rng = np.random.default_rng(int(10 * spread))
    through = 0
    for _ in range(4):
        aim, rows = axes(rng, spread), clouds(rng, 25)
        listed = near_clouds(rows, aim.ravel())
        kept = set(listed)
        assert listed == sorted(kept), "each once, in their order"
        seen = met(rows, aim)
        through += len(seen)
        assert seen <= kept
    assert through >= 4


def test_the_cone_touches_every_side_of_a_cloud() -> None:
    """Puffs of 4 s about the axis, just inside of what is looked at and well outside, near by, far away and behind."""
    aim = np.zeros((13, LANES), f)
    aim[:3] = np.array([1.0, -2.0, 0.5])[:, None]
    aim[3] = 1.0
    for along, off, size, wanted in [
        (30.0, 3.9, 1.0, True), (30.0, 9.0, 1.0, False), (-3.0, 0.0, 1.0, True), (-9.0, 0.0, 1.0, False),
        (0.1, 2.79, 0.7, True), (0.1, 2.9, 0.7, False), (200.0, 10.0, 1.0, False),
    ]:  # fmt: skip
        for side in (0.0, 1.0, 2.0, 4.0):
            row = np.zeros((1, 13), f)
            row[0, 2:5] = 1.0 + along, -2.0 + off * np.cos(side), 0.5 + off * np.sin(side)
            row[0, 5] = size
            assert bool(near_clouds(row, aim.ravel())) == wanted, (along, off, side)


def test_axes_apart_by_an_angle_widen_the_cone() -> None:
    """Axes up to 0.2 rad to one side and the other: a puff at 0.2 rad is met, one at 0.6 rad, 40 m away, is not looked at."""
    angle = np.linspace(-0.2, 0.2, LANES)
    aim = np.zeros((13, LANES), f)
    aim[3], aim[4] = np.cos(angle), np.sin(angle)
    for at, wanted in ((0.2, True), (-0.2, True), (0.25, True), (0.6, False), (-0.6, False), (2.8, False)):
        row = np.zeros((1, 13), f)
        row[0, 2:6] = 40 * np.cos(at), 40 * np.sin(at), 0.0, 0.6
        assert bool(near_clouds(row, aim.ravel())) == wanted, at
    for axis in range(3):  # a box 100 m long, whose end alone is in the way: its middle lies far behind
        long = np.zeros((1, 13), f)
        long[0, 0], long[0, 2:5], long[0, 5:8] = 1.0, -38.0 * np.eye(3)[0], 0.2
        long[0, 5 + axis] = 40.0
        assert bool(near_clouds(long, aim.ravel())), axis
    box = np.zeros((1, 13), f)
    box[0, 0], box[0, 2:8] = 1.0, (40.0, 14.0, 0.0, 1.0, 8.0, 1.0)  # its near edge at 6 m to the side: within 0.2 rad
    assert bool(near_clouds(box, aim.ravel()))
