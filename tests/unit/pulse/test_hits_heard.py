"""From hits to returns, by hand: which hit, which draw of chance, which noise is in a volume already, and echoes of nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.pulse import listen
from tussock.pulse.listen import lift_lanes
from tussock.pulse.receive import receive_lanes
from tussock.pulse.tables import Hits, Lot, Slots, new_chosen, new_heard
from tussock.randomness import Purpose, chance_of, random_words, uniform
from tussock.rebound import in_python
from tussock.return_modes import ModeNumber
from tussock.signal.air import CLEAR
from tussock.signal.echoes import ECHOES
from tussock.signal.media import AIR
from tussock.signal.range_noise import deviate
from tussock.signal.returns import Window
from tussock.trace.packets import LANES, NOTHING

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of chance and of empty lanes, as plain Python
f = np.float32
LOT = Lot(3, 2, 4, chance_of(5, 2))
"""pulses 3, 5, 7 and 9"""


def drawn(pulse: int, number: int, purpose: Purpose) -> list[np.uint32]:
    return [np.uint32(word) for word in in_python(random_words)(LOT.chance, pulse, number, int(purpose))]


def around(held: list[float] | None = None) -> Any:
    """A world of three surfaces, and of volumes that hold some of the noise [m²], if any."""
    gaussians = SimpleNamespace(held=np.array(held or [], f))
    return SimpleNamespace(
        tables=SimpleNamespace(first_volume=3), volumes=SimpleNamespace(model=np.zeros(1 if held else 0), gaussians=gaussians)
    )  # fmt: skip


def scanning_of(held: list[float] | None = None, **changes: Any) -> Any:
    receiving = {
        "mode": int(ModeNumber.STRONGEST), "window": Window(f(1), f(50), f(1)), "ray_sigma": f(0), "dropout": f(0), "laplace": False,
        "biases": np.array([0.0, 0.5], f), "backfolding": False, "max_range": f(50), "min_range": f(1), "range_step": f(0), "intensity_step": f(0),
        "min_intensity": f(0), "media": AIR,
    } | changes  # fmt: skip
    firing = SimpleNamespace(stencil=np.zeros((4, 3)), lasers=np.arange(20) // 7 % 2)
    return SimpleNamespace(
        receiving=SimpleNamespace(**receiving), firing=firing, around=around(held), chance=LOT.chance, air=CLEAR
    )


def slots_of(returns: int) -> Slots:
    numbers = [np.full((20, returns), -7, f) for _ in range(4)]
    ids = [np.full((20, returns), 77, np.uint32) for _ in range(3)]
    recording: Any = SimpleNamespace(samples=np.zeros((0, 0), f))
    return Slots(
        np.full(20, 9, np.uint8), *numbers, np.zeros((20, 0), f), *ids, np.full((20, returns), 7, np.uint8), recording
    )


def hits_of(ranges: list[float], energies: list[float], geometries: list[int] | None = None) -> Hits:
    """The same hits for every pulse; geometry, primitive and copy of row k are (given or 0, k, 10 + k)."""
    rows = len(ranges)
    hits = Hits(
        np.zeros((rows, LANES), f),
        np.zeros((rows, LANES), f),
        np.zeros((3, rows, LANES), np.uint32),
        np.full(LANES, rows),
    )
    hits.ranges[:], hits.energies[:] = np.array(ranges)[:, None], np.array(energies)[:, None]
    for k, geometry in enumerate(geometries or [0] * rows):
        hits.ids[:, k] = np.array([geometry, k, 10 + k])[:, None]
    return hits


PULSES = [3, 5, 7, 9]


@pytest.mark.parametrize(("mode", "wanted"), [
    (ModeNumber.STRONGEST, [(20.0, 0.9, 2)]), (ModeNumber.LAST, [(30.0, 0.3, 1)]), (ModeNumber.FIRST, [(10.25, 0.15, 3)]),
    (ModeNumber.STRONGEST_LAST, [(20.0, 0.9, 2), (30.0, 0.3, 1)]),
    (ModeNumber.ALL, [(10 + 0.5 * 0.4 / 0.6, 0.15, 3), (20.0, 0.225, 2), (30.0, 0.075, 1)]),
])  # fmt: skip
def test_each_mode_reports_its_hits(mode: ModeNumber, wanted: list[tuple[float, float, int]]) -> None:
    """Four sub-rays met things 10, 30, 20 and 10.5 m away; the first and the fourth are within the signal cutoff."""
    hits, slots = hits_of([10.0, 30.0, 20.0, 10.5], [0.2, 0.3, 0.9, 0.4]), slots_of(len(wanted))
    scanning = scanning_of(mode=int(mode))
    assert in_python(receive_lanes)(scanning, LOT, 4, hits, new_chosen(4), slots) == 4 * len(wanted)
    for pulse in range(20):
        if pulse not in PULSES:
            assert slots.counts[pulse] == 9 and (slots.range[pulse] == -7).all()
            continue
        bias = 0.5 if pulse // 7 % 2 else 0.0
        assert slots.counts[pulse] == len(wanted)
        np.testing.assert_allclose(slots.true_range[pulse], [w[0] for w in wanted], rtol=1e-6)
        np.testing.assert_allclose(slots.range[pulse], [w[0] + bias for w in wanted], rtol=1e-6)
        np.testing.assert_allclose(slots.intensity[pulse], [w[1] for w in wanted], rtol=1e-6)
        assert slots.primitive[pulse].tolist() == [w[2] for w in wanted] and slots.copy[pulse].tolist() == [
            10 + w[2] for w in wanted
        ]
        assert np.isnan(slots.signal[pulse]).all() and not slots.geometry[pulse].any()


@pytest.mark.parametrize("laplace", [False, True])
@pytest.mark.parametrize("ranges", [[20.0, 20.0], [20.0, 30.0]])
def test_strongest_and_last_have_one_draw_where_they_are_one(ranges: list[float], laplace: bool) -> None:
    """Draw 0 of the pulse for the strongest, and for the last where it is that; else draw 1. So is what is lost."""
    slots, hits = slots_of(2), hits_of(ranges, [0.9, 0.3])
    scanning = scanning_of(mode=int(ModeNumber.STRONGEST_LAST), ray_sigma=f(0.1), laplace=laplace, dropout=f(0.5))
    in_python(receive_lanes)(scanning, LOT, 2, hits, new_chosen(2), slots)
    told = set()
    for pulse in PULSES:
        numbers = [0, 0 if ranges[0] == ranges[1] else 1]
        kept = [bool(uniform(drawn(pulse, n, Purpose.DROPOUT)[0]) >= f(0.5)) for n in numbers]
        assert slots.counts[pulse] == sum(kept)
        bias, at = (0.5 if pulse // 7 % 2 else 0.0), 0
        for n, distance, is_kept in zip(numbers, ranges, kept, strict=True):
            if is_kept:
                words = drawn(pulse, n, Purpose.RAY_NOISE)
                off = 0.1 * float(in_python(deviate)(words[0], words[1], laplace))
                assert slots.range[pulse, at] == pytest.approx(distance + bias + off, abs=1e-5)
                at += 1
        told.add(sum(kept))
    assert len(told) > 1


@pytest.mark.parametrize(
    ("held", "left"), [([0.0, 0.0], 0.2), ([0.0, 0.03], 0.1), ([0.03, 0.0], 0.2), ([0.0, 0.09], 0.0)]
)
def test_noise_that_is_in_a_volume_is_not_added_again(held: list[float], left: float) -> None:
    """0.2² less what its volume, number 1, holds of it; a surface holds none."""
    for geometry, sigma in ((3, left), (2, 0.2)):
        slots, hits = slots_of(1), hits_of([10.0, 20.0], [0.1, 0.9], [3, geometry])
        in_python(receive_lanes)(scanning_of(held, ray_sigma=f(0.2)), LOT, 2, hits, new_chosen(2), slots)
        for pulse in PULSES:
            words = drawn(pulse, 0, Purpose.RAY_NOISE)
            wanted = (
                20 + (0.5 if pulse // 7 % 2 else 0.0) + sigma * float(in_python(deviate)(words[0], words[1], False))
            )
            assert slots.range[pulse, 0] == pytest.approx(wanted, abs=1e-5)


def test_what_is_too_faint_is_not_reported_and_what_is_as_bright_as_the_least_is() -> None:
    """A pulse that met nothing has no returns; ranges and intensities have their steps, folds come before."""
    hits = hits_of([20.0], [0.5])
    hits.energies[0, 1] = np.nextafter(f(0.5), f(0))
    hits.energies[0, 2] = 0.0
    slots = slots_of(1)
    scanning = scanning_of(
        min_intensity=f(0.5), intensity_step=f(0.3), range_step=f(0.4), backfolding=True, max_range=f(35)
    )
    assert in_python(receive_lanes)(scanning, LOT, 1, hits, new_chosen(1), slots) == 2
    assert slots.counts[PULSES].tolist() == [1, 0, 0, 1]
    assert slots.range[3, 0] == pytest.approx(2.4) and slots.range[9, 0] == pytest.approx(3.2)
    assert slots.intensity[3, 0] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("kind", "purpose"), [("false_alarms", Purpose.FALSE_ALARM), ("interference", Purpose.INTERFERENCE)]
)
def test_echoes_of_nothing_are_put_among_the_others(kind: str, purpose: Purpose) -> None:
    """At an even place of the range, by word 1; noise passes the threshold by an exponential amount, light is as of a white wall."""
    settings = {"false_alarms": f(0), "interference": f(0), "threshold": f(4), "scale": f(500), "exponent": f(1.5)} | {
        kind: f(0.6)
    }
    receiving = SimpleNamespace(listening=SimpleNamespace(**settings), min_range=f(2), max_range=f(40))
    invented = 0
    for pulse in range(30):
        heard = new_heard(4)
        echoes = heard.echoes
        echoes.counts[4], echoes.paths[:2, 4], echoes.peaks[:2, 4], echoes.rows[:2, 4] = 2, [10, 30], [0.1, 0.2], [5, 6]
        in_python(listen._invent)(receiving, LOT.chance, pulse, 4, heard)
        words = drawn(pulse, 0, purpose)
        if float(uniform(words[0])) >= 0.6:
            assert echoes.counts[4] == 2
            continue
        invented += 1
        path = 2 + 38 * float(uniform(words[1]))
        energy = 1.0
        if kind == "false_alarms":
            energy = (4 - np.log(1 - float(uniform(words[2]))) / 4) / (500 * path**-1.5)
        place = int(np.searchsorted([10, 30], path))
        assert echoes.counts[4] == 3
        np.testing.assert_allclose(echoes.paths[:3, 4], np.insert([10.0, 30.0], place, path), rtol=1e-5)
        np.testing.assert_allclose(echoes.peaks[:3, 4], np.insert([0.1, 0.2], place, energy / path**2), rtol=1e-3)
        assert echoes.rows[:3, 4].tolist() == np.insert([5, 6], place, -1).tolist()
    assert 8 < invented < 28


def test_there_are_no_more_echoes_than_there_is_room_for() -> None:
    settings = {"false_alarms": f(1), "interference": f(1), "threshold": f(4), "scale": f(500), "exponent": f(2)}
    receiving = SimpleNamespace(listening=SimpleNamespace(**settings), min_range=f(0), max_range=f(40))
    for before, after in ((ECHOES, ECHOES), (ECHOES - 1, ECHOES), (ECHOES - 2, ECHOES), (0, 2)):
        heard = new_heard(4)
        heard.echoes.counts[0] = before
        in_python(listen._invent)(receiving, LOT.chance, 11, 0, heard)
        assert heard.echoes.counts[0] == after


def test_clouds_are_lifted_by_what_is_around_them_and_surfaces_are_not() -> None:
    """Where the continuum comes in pieces they are in the peaks already: then nothing is lifted but where its peak is known."""
    air = CLEAR._replace(haze=np.array([[0.5, 0.0], [0.25, 0.0], [0, 0]], f), haze_step=f(10))
    for pieces, soft, lifted in ((0, -1, True), (0, -4, True), (1, -4, True), (1, -1, False)):
        scanning = scanning_of()
        scanning.air = air._replace(soft=np.zeros((pieces, 2), f), clouds=np.zeros((1, 13), f))
        hits = hits_of([1.0] * 3, [1.0] * 3, [int(NOTHING) - 1, 2, int(NOTHING)])
        hits.ids[0, 0, 3] = NOTHING - 4  # dust is the last kind of the air
        heard = new_heard(3)
        heard.soft[:] = soft
        for lane in range(LANES):
            heard.echoes.counts[lane] = 3
            heard.echoes.paths[:3, lane], heard.echoes.peaks[:3, lane], heard.echoes.rows[:3, lane] = (
                [5, 6, 7],
                [1, 1, 1],
                [0, 1, 2],
            )
        in_python(lift_lanes)(scanning, LOT, hits, heard)
        for lane in range(LANES):
            wanted = 1.375 if lifted and lane < LOT.lanes else 1.0
            assert heard.echoes.peaks[:3, lane] == pytest.approx([wanted, 1, 1]), (pieces, soft, lane)


def test_an_echo_is_written_with_where_it_came_from() -> None:
    """A hit by its row; the air by its kind, with a range; and nothing, which has none."""
    slots, heard, hits = slots_of(3), new_heard(3), hits_of([8.0], [1.0], [2])
    heard.echoes.rows[:3, 4], heard.echoes.paths[:3, 4] = [0, -2 - 3, -1], [8, 9, 10]
    heard.ranges[:3, 4], heard.intensities[:3, 4], heard.signals[:3, 4] = [8.1, 9.1, 10.1], [0.1, 0.2, 0.3], [5, 6, 7]
    slots.counts[6] = 0
    for e in range(3):
        in_python(listen._write)(6, 4, e, np.uint8(3), hits, heard, slots)
    assert slots.counts[6] == 3 and (slots.kind[6] == 3).all()
    np.testing.assert_allclose(slots.range[6], [8.1, 9.1, 10.1], rtol=1e-6)
    np.testing.assert_allclose(slots.true_range[6], [8, 9, np.nan])
    np.testing.assert_allclose(slots.intensity[6], [0.1, 0.2, 0.3], rtol=1e-6)
    assert slots.geometry[6].tolist() == [2, NOTHING - 4, NOTHING]
    assert slots.primitive[6].tolist() == [0, 0, 0] and slots.copy[6].tolist() == [10, 0, 0]
