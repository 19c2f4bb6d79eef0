"""What can be worked out by hand: pulses along a row of volumes a metre apart, who passes, ends, gets away, returns again."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tussock.learn.attributes.color_volumes import color_volumes, free_ways
from tussock.learn.attributes.photos import Photo
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.levels import Levelled
from tussock.learn.permeability import (
    Counting,
    Escapes,
    filled_shells,
    find_volumes,
    permeabilities,
    shrunk,
    without_own,
)
from tussock.learn.range_noise import constant_noise
from tussock.learn.scan_volumes import simulate_ranges, simulate_volumes
from tussock.learn.second_returns import Behind, gap_of, gaps_between
from tussock.scene.volumes import HELD_STEP, WHOLE, Volumes
from tussock.trace.volume_hits import gaussians_of

SIGMA = 0.1  # [m] of every volume, in each direction
UNIT = 2.0**24


def row(passing: list[list[float]], at: list[float] | None = None, **columns: Any) -> Volumes:
    """Round volumes in voxels of 1 m about x = 0.5, 1.5, …; what passes each of their shells: within 1 σ, and all beyond."""
    n = len(passing)
    x = np.arange(n) + 0.5 if at is None else np.array(at)
    means = np.stack([x, np.full(n, 0.5), np.full(n, 0.5)], 1)
    packed = np.tile([1 / SIGMA**2, 0, 0, 1 / SIGMA**2, 0, 1 / SIGMA**2], (n, 1))
    none = np.zeros(n)
    given = {"closure": none, "intensity": none} | columns
    return Volumes(
        means, packed, none, np.round(np.array(passing) * WHOLE), given.pop("closure"), none, given.pop("intensity"), 1.0,
        np.array([1.0, np.inf]), "voxels", **given,
    )  # fmt: skip


def along(ranges: list[float], *, aside: float = 0.0, start: float = -1.0, **columns: Any) -> MeasuredPulses:
    """Pulses along x, past the middles of the volumes at a distance, with these places as returns."""
    n = len(ranges)
    origins = np.tile([start, 0.5 + aside, 0.5], (n, 1))
    reached = np.array(ranges) - start
    return MeasuredPulses.of(origins, np.tile([1.0, 0, 0], (n, 1)), reached, reach=20.0, **columns)


NAN = math.nan


def test_who_passed_and_who_ended_shell_by_shell() -> None:
    """In the shell within 1 σ at 5 cm, outside it at 20 cm; none counts twice, none behind its own volume."""
    volumes = row([[0.5, 0.5]] * 3)
    seen = np.array([[2, 4], [0, 9], [3, 3]])
    counting = Counting(gaussians_of([volumes]), 1, seen=seen, near=1)
    turns = [0, 2, 4, 5]
    near = along([NAN, 1.6, 2.4, 0.5], aside=0.05, turns=turns)
    far = along([NAN, 1.6, 2.4, 0.5], aside=0.2, turns=turns)
    for pulses in (near, far):
        counting.add(pulses, np.array([-1, 1, 2, 0]))
    passed, ended = counting.totals()
    assert passed.tolist() == [[3, 3, 0], [2, 2, 0], [1, 1, 0]]
    assert ended.tolist() == [[1, 1, 0]] * 3
    # In the middle alone: the first, 0, before 2 and 3; the third, 4, after 3 but in its own volume.
    assert counting.otherwise().tolist() == [1, 0, 1]
    assert counting.totals()[0].tolist() == passed.tolist(), "asking changes nothing"


def test_what_ended_on_something_else_passes_what_it_reached() -> None:
    counting = Counting(gaussians_of([row([[0.5, 0.5]] * 3)]), 2)
    counting.add(along([1.7]), np.array([-1]))
    passed, ended = counting.totals()
    assert passed[:, 0].tolist() == [1, 1, 0] and not ended.any()
    assert counting.otherwise().shape == (0,)


LONG, SOME = 4200, [0, 1, 2047, 2048, 4095, 4096, 4199]
"""pulses are taken in blocks of 2048: these are three, of which the last is not full; those at their ends go along the row"""


def long_and_short() -> tuple[MeasuredPulses, MeasuredPulses]:
    """Many pulses of which nearly all pass far beside the row, and those that do not."""
    origins = np.tile([-1.0, 50.0, 0.5], (LONG, 1))
    origins[SOME, 1] = 0.5
    many = MeasuredPulses.of(
        origins, np.tile([1.0, 0, 0], (LONG, 1)), np.full(LONG, 1.45), reach=20.0, others=np.full(LONG, 2.5)
    )
    return many, many.select(SOME)


@pytest.mark.parametrize("workers", [1, 3])
def test_every_pulse_is_counted_once_whatever_the_blocks(workers: int) -> None:
    tables = gaussians_of([row([[0.5, 0.5], [0.5, 0.5]])])
    many, _ = long_and_short()
    labels = find_volumes(tables, many, many.origins[:, 1] < 1, workers)
    assert np.flatnonzero(labels == 0).tolist() == SOME and (labels < 0).sum() == LONG - len(SOME)
    counting, behind = Counting(tables, workers), Behind(tables, 0.1, workers)
    escapes = Escapes(tables, np.ones((2, 2), np.float32), workers)
    for part in (counting, behind, escapes):
        part.add(many, labels)
    assert counting.totals()[1][:, 0].tolist() == [len(SOME), 0]
    assert [sums.tolist() for sums in behind.totals()] == [[len(SOME), 0], [len(SOME), 0]]
    quarter = int((round(0.5 * WHOLE) / WHOLE) ** 2 * UNIT)
    assert escapes.totals()[0].tolist() == [0, len(SOME) * quarter]


@pytest.mark.parametrize("workers", [1, 3])
def test_the_likelihood_of_many_is_the_mean_of_all(workers: int) -> None:
    volumes = row([[0.25, 0.25]])
    many, few = long_and_short()
    one, beside = log_likelihood(volumes, few, threads=1), math.log(ASTRAY * STEP / 20.0)
    found = log_likelihood(volumes, many, threads=workers)
    assert found == pytest.approx((len(SOME) * one + (LONG - len(SOME)) * beside) / LONG, rel=1e-12)


@pytest.mark.parametrize("workers", [1, 3])
def test_every_pulse_is_fired_again_whatever_the_blocks(workers: int) -> None:
    fired = simulate_volumes(row([[0.0, 0.0]]), long_and_short()[0], seed=4, threads=workers)
    assert np.flatnonzero(fired.hit).tolist() == SOME


def test_of_many_pulses_the_share_that_is_impermeable_ends() -> None:
    fired = simulate_volumes(row([[0.25, 0.25]]), along([0.5] * 300), seed=4, threads=1)
    assert fired.hit.mean() == pytest.approx(0.75, abs=4 * math.sqrt(0.75 * 0.25 / 300))


def test_returns_are_found_in_their_voxels() -> None:
    tables = gaussians_of([row([[0.5, 0.5]] * 2, at=[0.5, 2.5])])
    pulses = along([0.01, 0.99, 1.01, 1.99, 2.01, NAN, 2.5])
    inside = np.array([True] * 6 + [False]) & pulses.hit
    assert find_volumes(tables, pulses, inside, 1).tolist() == [0, 0, -1, -1, 1, -1, -1]
    for axis, cell in ((1, (0.5, 1.5, 0.5)), (2, (0.5, 0.5, 1.5))):
        way = np.eye(3)[axis]
        up = MeasuredPulses.of([0.5, 0.5, 0.5], [way], [1.0])
        assert up.points[0] == pytest.approx(cell)
        assert find_volumes(tables, up, up.hit, 1).tolist() == [-1]


def test_who_would_get_away_and_who_did() -> None:
    shares = [0.5, 0.8, 0.4]
    tables = gaussians_of([row([[share, 1.0] for share in shares])])
    p = np.round(np.array(shares) * WHOLE) / WHOLE
    own = np.array([[1.5, 1.0], [9.0, 1.0], [1.0, 1.0]], np.float32)

    def told(pulses: MeasuredPulses, label: int) -> tuple[list[float], list[int]]:
        escapes = Escapes(tables, own, 1)
        escapes.add(pulses, np.array([label]))
        expected, observed = escapes.totals()
        return (expected / UNIT).tolist(), observed.tolist()

    near = pytest.approx
    assert told(along([NAN]), -1) == (near([0, 0, p.prod()], abs=1e-7), [0, 0, 1])
    assert told(along([4.5]), -1) == (near([0, 0, p.prod()], abs=1e-7), [0, 0, 1]), "a wall behind is away, too"
    assert told(along([0.5]), 0) == (near([0, 0, 1.5 * p.prod()], abs=1e-7), [0, 0, 0])
    assert told(along([1.5]), 1) == (near([0, 0, p[0] * p[2]], abs=1e-7), [0, 0, 0]), "no share is above 1"
    assert told(along([1.2]), -1) == ([0, 0, 0], [0, 0, 0]), "what ended in front of the last does not tell"
    assert told(along([NAN], start=1.0), -1) == (near([0, 0, p[1] * p[2]], abs=1e-7), [0, 0, 1])
    assert told(along([NAN], aside=0.3), -1) == (near([0, 0, 1], abs=1e-7), [0, 0, 1])
    assert told(along([NAN], aside=5.0), -1) == ([0, 0, 0], [0, 0, 0])
    for share, counts in ((0.0011, 1), (0.0009, 0)):
        escapes = Escapes(gaussians_of([row([[share, 1.0]])]), np.ones((1, 2), np.float32), 1)
        escapes.add(along([NAN]), np.array([-1]))
        assert escapes.totals()[1].tolist() == [counts]


def shrunk_by_hand(places: list[float], did: list[float], would: list[float]) -> list[float]:
    """Towards the volumes of the same 4 cells, theirs to those of 16, theirs to all, as if half a pulse more were seen."""
    d, w, x = np.array(did, float), np.array(would), np.array(places)
    usual = np.full(len(x), min(d.sum() / w.sum(), 1.0))
    for side in (16, 4, 0):
        group = np.floor(x / side) if side else np.arange(len(x))
        usual = np.array(
            [(d[group == g].sum() + 0.5 * usual[group == g].mean()) / (w[group == g].sum() + 0.5) for g in group]
        )
    return usual.tolist()


def test_closure_and_second_returns_lean_on_what_is_around() -> None:
    places = [0.5, 2.5, 5.5, 20.5, 40.5]
    tables = gaussians_of([row([[0.5, 0.5]] * 5, at=places)])
    observed, would = [2, 0, 6, 1, 0], [4.0, 0.25, 6.5, 10.0, 0.0]
    expected = np.array([int(share * UNIT) for share in would])
    closure = Escapes.closure(tables, expected, np.array(observed))
    assert closure == pytest.approx([1 - share for share in shrunk_by_hand(places, observed, would)], abs=1e-9)
    share = Behind.share(tables, np.array([2, 0, 6, 1, 0]), np.array([4, 1, 7, 10, 0]))
    assert share == pytest.approx(shrunk_by_hand(places, [2, 0, 6, 1, 0], [4, 1, 7, 10, 0]), abs=1e-9)
    assert Behind.share(tables, np.zeros(5, int), np.array([4, 1, 7, 10, 0])).tolist() == [0.0] * 5
    assert Escapes.closure(tables, np.zeros(5, int), np.zeros(5, int)).tolist() == [1.0] * 5
    most = Escapes.closure(tables, (UNIT * np.ones(5)).astype(int), np.full(5, 9))
    assert most.tolist() == [0.0] * 5, "more than all cannot get away"


def test_a_group_is_shrunk_as_if_so_many_more_were_seen() -> None:
    found = shrunk(np.array([1, 2, 0]), np.array([2.0, 4.0, 1.0]), np.array([0.2, 0.4, 0.9]), np.array([1, 1, 0]), 2.0)
    assert found == pytest.approx([(3 + 2 * 0.3) / 8, (3 + 2 * 0.3) / 8, (0 + 2 * 0.9) / 3])


def test_permeability_is_the_share_within_tau() -> None:
    """ρ = m/(m + n) of the shells within τ; each shell is shrunk by one pulse of the volume's own share."""
    passed = np.array([[6, 2, 9], [0, 0, 3], [0, 0, 0]], np.uint32)
    ended = np.array([[2, 6, 1], [0, 0, 1], [0, 0, 0]], np.uint32)
    within = np.array([True, True, False])
    rho, shells, met = permeabilities(passed, ended, within, False)
    assert rho.tolist() == [0.5, 0.75, 0.0] and met.tolist() == [26, 4, 0]
    whole = np.array([17 / 26, 0.75, 0.0])[:, None]
    assert np.abs(shells - (passed + whole) / (passed + ended + 1.0) * WHOLE).max() <= 0.51
    rho, shells, met = permeabilities(passed, ended, within, True)
    assert rho.tolist() == [0.5, 0.75, 0.0] and shells[:, 0].tolist() == [32768, 49151, 0]
    assert without_own(np.array([[0, 1, 2, 9]], np.uint32)).tolist() == [pytest.approx([1.0, 2.0, 1.5, 10 / 9])]


def test_what_was_filled_in_is_as_what_is_around_it() -> None:
    """Of a brick's or a block's own pulses; what passed the filled one counts, and the guess as one pulse."""
    voxels = np.array([[0, 0, 0], [1, 0, 0], [3, 0, 0], [8, 0, 0], [32, 0, 0], [4, 0, 0]])
    filled = np.array([False, False, True, False, False, True])
    six, none = np.zeros((6, 6)), np.zeros(6)
    tree = Levelled(
        voxels, np.array([0, 0, 0, 0, 0, 1], np.uint8), (~filled).astype(int), np.zeros((6, 3)), six, none, six, none,
        np.zeros((6, 2), int), six, filled,
    )  # fmt: skip
    passed = np.array([[3, 1], [1, 1], [5, 0], [2, 8], [90, 90], [0, 1]], np.uint32)
    ended = np.array([[1, 3], [1, 0], [0, 0], [4, 0], [0, 9], [0, 0]], np.uint32)
    rho, shells = filled_shells(np.full(6, 0.3, np.float32), np.full((6, 2), 7, np.uint16), tree, passed, ended)
    assert shells[[0, 1, 3, 4]].tolist() == [[7, 7]] * 4 and rho[[0, 1, 3, 4]] == pytest.approx(0.3)

    def usual(rows: list[int]) -> np.ndarray:
        through, met = passed[rows].sum(0), (passed[rows] + ended[rows]).sum(0)
        return np.asarray((through + through.sum() / met.sum()) / (met + 1))

    for row_, around in ((2, [0, 1]), (5, [0, 1, 3])):
        wanted = (passed[row_] + usual(around)) / (passed[row_] + 1.0)
        assert shells[row_] / WHOLE == pytest.approx(wanted, abs=1e-5)
        assert rho[row_] == pytest.approx(usual(around).mean())


def test_second_returns_are_asked_where_something_stands_behind() -> None:
    tables = gaussians_of([row([[0.5, 0.5]] * 2)])

    def could(place: float, label: int, gap: float, **how: Any) -> list[int]:
        behind = Behind(tables, gap, 1)
        behind.add(along([place], **how), np.array([label]))
        return behind.totals()[1].tolist()

    assert could(0.6, 0, 0.1) == [1, 0]
    assert could(0.6, -1, 0.1) == [0, 0]
    assert could(1.6, 1, 0.1) == [0, 0], "nothing stands behind the last, whose own middle is passed"
    assert could(0.6, 0, 1.2) == [0, 0], "the gap reaches past the other's middle"
    assert could(0.6, 0, 0.8) == [1, 0]
    tower = gaussians_of([replace(row([[0.5, 0.5]]), means=np.array([[0.5, 0.5, 1.5]], np.float32))])
    for origin, way, found in (
        ([0.5, 0.5, -1.0], [0, 0, 1], 1),
        ([0.5, -1.0, 1.5], [0, 1, 0], 1),
        ([0.5, 3.0, 1.5], [0, 1, 0], 0),
    ):
        behind = Behind(tower, 0.1, 1)
        behind.add(MeasuredPulses.of(origin, [way], [0.2]), np.array([0]))
        assert behind.totals()[1].tolist() == [found]


def test_the_gap_is_the_smallest_but_for_one_in_twenty() -> None:
    pulses = along([0.0] * 4, others=[1.0 + 0.234, 1.0 - 0.057, 1.0 + 300.0, NAN])
    gaps = gaps_between(pulses)
    assert {int(place): int(gaps[place]) for place in np.flatnonzero(gaps)} == {23: 1, 5: 1, 20_000: 1}
    assert len(gaps) == 20_001
    counts = np.zeros(20_001, np.int64)
    counts[[10, 12, 50]] = 4, 1, 95
    assert gap_of(counts) == pytest.approx(0.125)
    counts[12] = 0
    counts[50] = 96
    assert gap_of(counts) == pytest.approx(0.505)
    assert gap_of(np.zeros(20_001, np.int64)) == 0.0


STEP, ASTRAY = 0.002, 1e-3


def density(range_: float, at: float, sigma: float) -> float:
    return math.exp(-0.5 * ((range_ - at) / sigma) ** 2) / sigma / math.sqrt(2 * math.pi)


def test_the_likelihood_of_a_pulse_is_that_of_its_outcome() -> None:
    """Σ (1 − ρᵢ) Πρⱼ of the normal densities, given back by the closure of the last; one in a thousand is anyhow."""
    p = np.round(np.array([0.25, 0.6]) * WHOLE) / WHOLE
    closure, held = 0.5, 0.03
    given = {"closure": [0, round(closure * WHOLE)], "held": [round(held / HELD_STEP)] * 2}
    volumes = row([[p[0], 1.0], [p[1], 1.0]], **given)
    back = p.prod() * round(closure * WHOLE) / WHOLE
    for noise in (0.0, 0.05):
        sigma = math.sqrt(SIGMA**2 + max(noise**2 - held**2, 0.0))
        told = {"noise": constant_noise(noise)}
        for place in (0.4, 0.75, 1.45):
            both = (1 - p[0]) * density(place, 0.5, sigma) + p[0] * (1 - p[1]) * density(place, 1.5, sigma)
            both *= 1 + back / (1 - p.prod())
            wanted = math.log((1 - ASTRAY) * both * STEP + ASTRAY * STEP / 20.0)
            assert log_likelihood(volumes, along([place], **told), threads=1) == pytest.approx(wanted, abs=2e-6)
        away = math.log((1 - ASTRAY) * (p.prod() - back) + ASTRAY / 2)
        assert log_likelihood(volumes, along([NAN], **told), threads=1) == pytest.approx(away, abs=1e-6)
    beside = along([NAN, 1.0], aside=7.0)
    assert log_likelihood(volumes, beside, threads=1) == pytest.approx(
        (math.log(1 - ASTRAY / 2) + math.log(ASTRAY * STEP / 20.0)) / 2, abs=1e-9
    )


def test_in_a_box_what_ended_elsewhere_came_as_far_as_it_did() -> None:
    p = round(0.25 * WHOLE) / WHOLE
    volumes = row([[p, 1.0], [0.6, 1.0]], closure=[0, WHOLE])
    box = [0.0, 0.0, 0.0, 2.0, 1.0, 1.0]
    pulses = along([1.2, 0.5])  # the first ended on what is not in the box

    def foretold(place: float) -> float:
        both = along([place, 0.5], aside=0.0)
        alone = log_likelihood(volumes, both.select([1]), box=box, threads=1)
        return 2 * log_likelihood(volumes, both, box=box, threads=1) - alone

    assert pulses.inside(box).all()
    # In front of both: nothing was passed.  Behind both: the closure gives all of it back.
    assert foretold(-0.5) == pytest.approx(math.log(1 - ASTRAY / 2), abs=1e-9)
    assert foretold(2.5) == pytest.approx(math.log(ASTRAY / 2), abs=1e-9)
    # Between them: the first was passed, and nobody knows of the closure of the second.
    low = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    between = along([1.2, 0.5])
    alone = log_likelihood(volumes, between.select([1]), box=low, threads=1)
    found = 2 * log_likelihood(volumes, between, box=low, threads=1) - alone
    assert found == pytest.approx(math.log((1 - ASTRAY) * p + ASTRAY / 2), abs=1e-6)


def test_pulses_that_are_fired_again_have_the_noise_once() -> None:
    """A volume that nothing passes: its own spread, and of the sensor's noise what the volume has not got."""
    held = 0.06
    volumes = row([[0.0, 0.0]], intensity=[0.7], held=[round(held / HELD_STEP)], origin=(100.0, -50.0, 3.0))
    count = 400
    pulses = along([0.5] * count, noise=constant_noise(0.1), others=[2.0] * count).shifted([100.0, -50.0, 3.0])
    fired = simulate_volumes(volumes, pulses, seed=3, threads=1)
    wanted = math.sqrt(SIGMA**2 + 0.1**2 - held**2)
    assert fired.ranges.mean() == pytest.approx(1.5, abs=4 * wanted / math.sqrt(count))
    assert fired.ranges.std() == pytest.approx(wanted, rel=4 / math.sqrt(2 * count))
    assert fired.intensity == pytest.approx(np.float32(0.7)) and np.isnan(fired.others).all()
    less = replace(pulses, noise=constant_noise(0.03))
    few = simulate_volumes(volumes, less, seed=3, threads=1)
    assert few.ranges.std() == pytest.approx(SIGMA, rel=4 / math.sqrt(2 * count)), "it has more noise than the sensor"
    beside = simulate_volumes(volumes, along([0.5] * 3), seed=3, threads=1)
    assert not beside.hit.any() and not beside.intensity.any()


def test_labels_and_colours_of_volumes_out_of_the_grids_order() -> None:
    volumes = row(
        [[0.0, 0.0]] * 3, at=[2.5, 0.5, 1.5], labels=[7, 8, 9], colors=[[1, 2, 3, 255], [4, 5, 6, 255], [7, 8, 9, 255]]
    )
    pulses = along([0.5] * 4)
    starts = np.array([[-1.0, 0.5, 0.5], [1.0, 0.5, 0.5], [2.0, 0.5, 0.5], [3.0, 0.5, 0.5]])
    fired = simulate_volumes(volumes, replace(pulses, origins=starts), seed=1, threads=1)
    assert fired.labels.tolist() == [8, 9, 7, 0]
    assert fired.colors.tolist() == [[4, 5, 6, 255], [7, 8, 9, 255], [1, 2, 3, 255], [0, 0, 0, 0]]
    ranges, met = simulate_ranges(gaussians_of([volumes]), starts, pulses.directions, 20.0, seed=1, threads=1)
    assert met.tolist() == [0, 1, 2, -1] and np.isnan(ranges[3])
    plain = simulate_volumes(row([[0.0, 0.0]]), pulses, seed=1, threads=1)
    assert not plain.labels.any() and not plain.colors.any()


def test_the_way_to_a_volume_is_free_by_what_passes_those_before_it() -> None:
    """The numbers of volumes are not those of the grid here; what lies behind or beside the eye does not matter."""
    volumes = row([[0.5, 1.0], [0.8, 1.0], [0.4, 1.0]], at=[2.5, 0.5, 1.5], origin=(10.0, 0.0, 0.0))
    assert free_ways(volumes, [9.0, 0.5, 0.5], threads=1) == pytest.approx([0.8 * 0.4, 1.0, 0.8], abs=2e-5)
    assert free_ways(volumes, [13.0, 0.5, 0.5], threads=2) == pytest.approx([1.0, 0.4 * 0.5, 0.5], abs=2e-5)
    assert free_ways(volumes, [11.5, 0.5, 0.5], threads=1) == pytest.approx([1.0, 1.0, 1.0])
    assert free_ways(volumes, [11.9, 0.5, 0.5], threads=1) == pytest.approx([1.0, 0.4, 1.0], abs=2e-5)
    assert free_ways(volumes, [11.5, 0.5, 9.5], threads=1) == pytest.approx([1.0, 1.0, 1.0])


def test_the_way_is_free_from_any_side() -> None:
    """From a corner through a stair of volumes: the same product, whatever the direction; and from the middle of one."""
    steps = np.array([[0.5, 0.5, 0.5], [1.5, 2.5, 3.5], [2.5, 4.5, 6.5]])
    stair = row([[0.5, 0.5], [0.25, 0.25], [0.75, 0.75]])
    stair = replace(stair, means=steps.astype(np.float32))
    eye = np.array([-0.5, -1.5, -2.5])
    assert free_ways(stair, eye, threads=1) == pytest.approx([1.0, 0.5, 0.5 * 0.25], abs=2e-5)
    assert free_ways(stair, eye + 8 * (steps[1] - steps[0]), threads=1) == pytest.approx(
        [0.75 * 0.25, 0.75, 1.0], abs=2e-5
    )
    assert free_ways(stair, steps[0], threads=1) == pytest.approx([1.0, 1.0, 0.25], abs=2e-5)


def test_photographs_count_by_how_free_the_way_is() -> None:
    """Two photographs of one volume, one past another volume: light adds up linearly, weighted by what passes."""
    from tussock.cameras.camera import Camera
    from tussock.poses import Pose

    volumes = row([[0.25, 1.0], [0.05, 1.0]])
    camera = Camera(width=9, height=7)
    ahead, back = Pose.at(-2.0, 0.5, 0.5), Pose.at(4.0, 0.5, 0.5, yaw=math.pi)
    red = Photo(np.full((7, 9, 3), (255, 0, 0), np.uint8), camera, ahead)
    blue = Photo(np.full((7, 9, 3), (0, 0, 255), np.uint8), camera, back)
    colors = color_volumes(volumes, [red, blue], threads=1).colors
    # From behind, a twentieth passes the second volume: too little to tell the colour of the first.
    assert colors[0].tolist() == [255, 0, 0, 255]
    share = np.array([0.25, 1.0]) / 1.25
    srgb = np.round(255 * (1.055 * share ** (1 / 2.4) - 0.055))
    assert np.abs(colors[1] - [srgb[0], 0.0, srgb[1], 255.0]).max() <= 1
    away = Photo(red.rgb, camera, Pose.at(-2.0, 0.5, 0.5, yaw=math.pi))
    some = color_volumes(
        replace(volumes, colors=np.array([[9, 9, 9, 255], [0, 0, 0, 0]], np.uint8)), [away, blue], threads=1
    )
    assert some.colors.tolist() == [[9, 9, 9, 255], [0, 0, 255, 255]]
    # One that shows the second alone says nothing of the first, which is behind it.
    near = Photo(red.rgb, camera, Pose.at(1.1, 0.5, 0.5))
    assert color_volumes(volumes, [near], threads=1).colors.tolist() == [[0, 0, 0, 0], [255, 0, 0, 255]]
