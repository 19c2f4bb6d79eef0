"""Which clouds may be in the way, which are on an axis, and where the strongest of them sends back the most."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from clouds_on_axes import near_clouds
from clouds_on_axes import parts_on as all_parts_on
from tussock.air.clouds import cloud_balls
from tussock.pulse import clouds
from tussock.pulse.clouds import meet_clouds, new_air_scratch
from tussock.pulse.drops.meet import new_drop_scratch
from tussock.pulse.tables import Hits
from tussock.pulse.weather import air_hits, has_weather, weather_lanes
from tussock.rebound import in_python
from tussock.signal.air import CLEAR, MOST_DROPS
from tussock.signal.clouds import PART_NUMBERS, box_part, puff_part
from tussock.trace.packets import LANES, NOTHING
from tussock.trace.ray import Ray

f = np.float32


def axes(way: tuple[float, float, float] = (1.0, 0.0, 0.0), spread: float = 0.0) -> np.ndarray:
    """Sixteen axes from (1, 2, 3); every other one turned by a ``spread`` [rad] about z to one side, the rest to the other."""
    aim = np.zeros((13, LANES), f)
    aim[:3] = np.array([1.0, 2.0, 3.0])[:, None]
    angle = spread * np.where(np.arange(LANES) % 2, 1, -1)
    aim[3], aim[4], aim[5] = way[0] * np.cos(angle), way[0] * np.sin(angle) + way[1], way[2]
    return aim.ravel()


def cloud(place: tuple[float, float, float], size: tuple[float, float, float], drift: tuple[float, float, float] = (0, 0, 0),
          box: bool = False) -> np.ndarray:  # fmt: skip
    """A row about (1, 2, 3) of kind 3 with α = 0.2 and πβ = 0.03."""
    return np.array([[float(box), 3, place[0] + 1, place[1] + 2, place[2] + 3, *size, *drift, 0.2, 0.03]], f)


def near(row: np.ndarray, aim: np.ndarray, lanes: int = LANES) -> bool:
    return bool(near_clouds(row, aim, lanes, in_python))


@pytest.mark.parametrize("drift", [(0.0, 0.0, 0.0), (1.0, -2.0, 2.0), (-0.5, 0.0, 0.0)])
@pytest.mark.parametrize("box", [False, True])
@pytest.mark.parametrize("moves", [0.0, 1.5])
def test_room_for_what_drifts_and_for_a_sensor_that_moves(
    box: bool, drift: tuple[float, float, float], moves: float
) -> None:
    """A puff reaches 4 s beside its middle, a box half its diagonal; half its way in the frame more, about the middle of that;
    and the way of the sensor from the first pulse to the last."""
    size = (3.0, 4.0, 12.0) if box else (0.5, 0.0, 0.0)
    reach = (13.0 if box else 2.0) + np.linalg.norm(drift) / 2 + moves
    aim = axes()
    aim[LANES : 2 * LANES] += np.linspace(0, moves, LANES, dtype=f)
    for off in (0.99, 1.04):
        for place in ((30.0, off * reach, 0.0), (30.0, 0.0, -off * reach), (-off * reach, 0.0, 0.0)):
            begin = tuple(np.array(place) - np.array(drift) / 2)
            assert near(cloud(begin, size, drift, box), aim) == (off < 1), (place, off)


@pytest.mark.parametrize("spread", [0.1, 0.4, 0.9])
def test_the_cone_is_as_wide_as_its_outermost_axis(spread: float) -> None:
    """Beside it there is room for the tangent of its angle times the way, and (1 + tangent) times the reach: 0.4 m of a small puff."""
    tangent = np.tan(spread)
    room = 40 * tangent + 0.4 * (1 + tangent)
    for off in (0.99, 1.01):
        assert near(cloud((40.0, 0.0, off * room), (0.1, 0, 0)), axes(spread=spread)) == (off < 1)
    assert near(cloud((0.0, 0.0, 0.98 * 0.4 * (1 + tangent)), (0.1, 0, 0)), axes(spread=spread))


def test_axes_all_around_keep_all_clouds() -> None:
    """More than 72° apart (a cosine of 0.3), or against each other, so that there is no middle."""
    for spread in (1.3, np.pi / 2):
        assert near(cloud((-300.0, 50.0, 0.0), (0.1, 0, 0)), axes(spread=spread))
    assert not near(cloud((-300.0, 50.0, 0.0), (0.1, 0, 0)), axes(spread=1.2))
    one_sided = axes(spread=1.3).reshape(13, LANES).copy()
    one_sided[3:6, 2:] = one_sided[3:6, :1]
    one_sided[3:6, 1] = one_sided[3:6, 0]
    assert not near(cloud((-300.0, 50.0, 0.0), (0.1, 0, 0)), one_sided.ravel())
    apart = axes(spread=1.3).reshape(13, LANES).copy()
    assert not near(cloud((-300.0, 50.0, 0.0), (0.1, 0, 0)), apart.ravel(), lanes=1), "of the lanes that there are"


def parts_on(row: np.ndarray, way: tuple[float, ...], time: float = 0.0) -> np.ndarray | None:
    parts = all_parts_on(row, Ray(*map(f, (1, 2, 3, *way, 0, np.inf, time))), in_python)
    return parts[0] if len(parts) else None


@pytest.mark.parametrize("axis", range(3))
def test_a_box_along_each_axis(axis: int) -> None:
    """Entered 2 m before its middle and left 2 m behind it; beside its wall nothing, on it something; from inside from 0 on."""
    way, size = np.eye(3)[axis], np.full(3, 1.5)
    size[axis] = 2.0
    for aside, met in ((0.0, True), (1.5, True), (1.51, False), (-1.51, False)):
        place = 10.0 * way + np.roll(way, 1) * aside
        part = parts_on(cloud(tuple(place), tuple(size), box=True), tuple(way))
        assert (part is not None) == met
        if part is not None:
            assert part.tolist() == pytest.approx([4, 8, 12, 0.2, 0.03, 0])
    inside = parts_on(cloud(tuple(0.5 * way), tuple(size), box=True), tuple(way))
    assert inside is not None and inside[1:3].tolist() == [0, 2.5]
    assert parts_on(cloud(tuple(-3 * way), tuple(size), box=True), tuple(way)) is None
    assert parts_on(cloud(tuple(-10.0 * way), tuple(size), box=True), tuple(-way)) is not None
    drifted = parts_on(cloud(tuple(10.0 * way), tuple(size), tuple(-6 * way), box=True), tuple(way), time=0.5)
    assert drifted is not None and drifted[1:3].tolist() == pytest.approx([5, 9])


@pytest.mark.parametrize(("along", "off", "met"), [
    (10.0, 0.0, True), (10.0, 1.9, True), (10.0, 1.99, True), (10.0, 2.01, False), (-1.9, 0.5, True), (-1.99, 0.0, True), (-2.01, 0.0, False),
])  # fmt: skip
def test_a_puff_is_thinner_beside_its_middle(along: float, off: float, met: bool) -> None:
    """exp(−off²/2s²) of its densest, within 4 s of it: s is half a metre."""
    part = parts_on(cloud((along, 0.6 * off, 0.8 * off), (0.5, 0, 0)), (1.0, 0.0, 0.0))
    assert (part is not None) == met
    if part is not None:
        thin = np.exp(-off * off / 0.5)
        assert part[:5].tolist() == pytest.approx([-3, along, 0.5, 0.2 * thin, 0.03 * thin], rel=1e-4)


def peak(parts: list[tuple[Any, ...]], far: float = 100.0, sigma: float = 0.05, **air: Any) -> tuple[float, float]:
    rows = np.zeros((len(parts), PART_NUMBERS), f)
    for row, (make, *numbers) in zip(rows, parts, strict=True):
        in_python(make)(row, f(1), *map(f, numbers))
    clear = CLEAR._replace(
        **({"overlap_from": f(0), "overlap_to": f(1e-3), "near_to": f(0)} | {k: f(v) for k, v in air.items()})
    )
    found = in_python(clouds._peak)(clear, rows, len(rows), f(sigma), f(far), new_air_scratch(2).room)
    return float(found[0]), float(found[1])


@pytest.mark.parametrize("round_of_six", [21, 34, 50, 70])
def test_a_small_puff_in_a_long_bank_is_found(round_of_six: int) -> None:
    """96 places in 39 m are looked at, six times sixteen: a puff of 10 cm at one of them outshines the bank's beginning."""
    begin, step = 1.0, 39.0 / 96
    middle = begin + (round_of_six + 0.5) * step
    path, height = peak([(box_part, 1.0, 40.0, 0.0, 1e-5), (puff_part, middle, 0.1, 0.0, 10.0)])
    assert path == pytest.approx(middle, abs=0.01)
    wanted = 10.0 / middle**2 * np.sqrt(2 * np.pi) * 0.05 / np.sqrt(1 + 0.05**2 / 0.1**2)
    assert height == pytest.approx(wanted, rel=0.02)


def test_nothing_is_sent_back_before_the_receiver_sees_nor_behind_a_wall() -> None:
    puff = (puff_part, 9.0, 0.6, 0.0, 0.05)
    assert peak([puff], far=7.8) == (0.0, 0.0) == peak([puff], overlap_from=10.3, overlap_to=10.4)
    whole, cut = peak([puff]), peak([puff], overlap_from=9.0, overlap_to=9.0001)
    assert whole[0] == pytest.approx(8.92, abs=0.02) and cut[0] > 9.0
    path, height = peak([puff], far=8.5)
    assert 7.8 < path <= 8.5 and 0 < height < whole[1]


def test_of_two_puffs_the_stronger_is_sent_back_and_its_kind_is_told() -> None:
    near_by, far_off = (puff_part, 5.0, 0.4, 0.0, 0.01), (puff_part, 15.0, 0.4, 0.0, 0.2)
    assert peak([near_by, far_off])[0] == pytest.approx(14.98, abs=0.03)
    assert peak([near_by, (puff_part, 15.0, 0.4, 0.0, 0.05)])[0] == pytest.approx(4.94, abs=0.03)


def weather_of(**changes: Any) -> Any:
    return CLEAR._replace(**({"overlap_from": f(0), "overlap_to": f(1e-3), "near_to": f(0)} | changes))


@pytest.mark.parametrize("echoes", [True, False])
def test_a_cloud_dims_what_is_behind_it_and_is_one_more_hit(echoes: bool) -> None:
    """A box of τ = 0.2 · 4 m before a wall at 20 m: e^(−1.6) of it is left; kind 3 of the air, for a receiver of echoes alone."""
    hits = Hits(
        np.full((3, LANES), 20, f), np.full((3, LANES), 0.5, f), np.zeros((3, 3, LANES), np.uint32), np.full(LANES, 2)
    )
    hits.energies[2] = 0
    rows = np.concatenate([cloud((10.0, 0, 0), (2, 3, 3), box=True), cloud((-50.0, 0, 0), (2, 3, 3), box=True)])
    air = weather_of(clouds=rows, cloud_balls=cloud_balls(rows))
    receiving = SimpleNamespace(echoes=echoes, listening=SimpleNamespace(sigma=f(0.1)))
    scanning: Any = SimpleNamespace(air=air, receiving=receiving)
    scratch: Any = SimpleNamespace(hits=hits, aim=axes(), air=new_air_scratch(2))
    in_python(meet_clouds)(scanning, scratch, 5, 2)
    np.testing.assert_allclose(hits.energies[:2, :5], 0.5 * np.exp(-1.6), rtol=1e-4)
    np.testing.assert_allclose(hits.energies[:2, 5:], 0.5)
    assert hits.used.tolist() == [3 if echoes and l < 5 else 2 for l in range(LANES)]
    if echoes:
        assert (
            (hits.ids[0, 2, :5] == NOTHING - 4).all()
            and (hits.ranges[2, :5] >= 8).all()
            and (hits.energies[2, :5] > 0).all()
        )


def test_what_is_in_the_air() -> None:
    """None of it, or some of any: and the room that its hits take."""
    one, law, row = np.zeros((1, 2), f), np.zeros((1, 5), f), cloud((5.0, 0, 0), (1, 1, 1))
    for changes, room in (
        ({}, 0), ({"soft": one}, 1), ({"laws": law}, MOST_DROPS), ({"clouds": row}, 1), ({"soft": one, "laws": law, "clouds": row}, MOST_DROPS + 2),
    ):  # fmt: skip
        air = weather_of(**changes)
        assert bool(in_python(has_weather)(air)) == bool(changes)
        assert in_python(air_hits)(air) == room


def test_relief_is_that_of_each_hit_and_of_none_without_drops() -> None:
    """What drops that are drawn take off the extinction: 1.5 at 10 m; rows without a hit stay 0."""
    for laws, factor in ((1, 1.5), (0, 1.0)):
        hits = Hits(
            np.full((2, LANES), 10, f),
            np.full((2, LANES), 0.5, f),
            np.zeros((3, 2, LANES), np.uint32),
            np.full(LANES, 2),
        )
        hits.energies[1, 3], hits.ranges[1, 3] = 0, np.inf
        air = weather_of(relief=np.array([1.0, 1.5, 2.0], f), relief_per_m=f(0.1), laws=np.zeros((laws, 5), f))
        scanning: Any = SimpleNamespace(air=air, receiving=SimpleNamespace(echoes=False))
        scratch: Any = SimpleNamespace(hits=hits, air=SimpleNamespace(drops=in_python(new_drop_scratch)()))
        lot: Any = SimpleNamespace(lanes=LANES)
        in_python(weather_lanes)(scanning, scratch, lot, 2, False)
        wanted = np.full((2, LANES), 0.5 * factor)
        wanted[1, 3] = 0
        np.testing.assert_allclose(hits.energies, wanted)
