"""The samples of a waveform against the sum of Gaussians that they are, and the noise on them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.pulse.record import _add_noise, record_lanes
from tussock.pulse.tables import Hits, Lot, Recording, new_heard
from tussock.randomness import chance_of
from tussock.rebound import in_python
from tussock.trace.packets import LANES

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # of chance, as plain Python
f = np.float32
SIGMA, STEP, LEAD, SAMPLES = 0.4, 0.25, 1.0, 26
LANE = 3
"""of the sixteen, that has hits; its pulse has the number 5 + 2 · 3"""
LOT = Lot(5, 2, 5, chance_of(7, 0))


def recorded(
    ranges: list[float], energies: list[float], *, scale: float = 0.0, exponent: float = 2.0, noisy: bool = False,
    nearest: float | None = None,
) -> Recording:  # fmt: skip
    """The recording of pulses of which one has hits; all numbers that a step must overwrite are 77 before."""
    rows = len(ranges) + 2
    hits = Hits(
        np.full((rows, LANES), 5, f), np.zeros((rows, LANES), f), np.zeros((3, rows, LANES)), np.full(LANES, rows)
    )
    hits.ranges[: len(ranges), LANE], hits.energies[: len(ranges), LANE] = ranges, energies
    hits.energies[-1, LANE] = 9.0  # a row that is not in use
    heard = new_heard(rows)
    heard.gathered.energy[LANE] = sum(energies)
    heard.gathered.nearest[LANE] = min(ranges) if nearest is None else nearest
    listening = SimpleNamespace(sigma=f(SIGMA), scale=f(scale), exponent=f(exponent))
    scanning: Any = SimpleNamespace(receiving=SimpleNamespace(listening=listening), chance=LOT.chance)
    recording = Recording(np.full(20, 77, f), np.full((20, SAMPLES), 77, f), f(STEP), f(LEAD), noisy)
    in_python(record_lanes)(scanning, LOT, rows - 1, hits, heard, recording)
    return recording


RANGES, ENERGIES = [7.3, 8.05, 9.6], [0.5, 0.2, 0.9]


def gaussians(paths: np.ndarray) -> np.ndarray:
    z = (paths[:, None] - np.array(RANGES)) / SIGMA
    return np.asarray((np.array(ENERGIES) * np.exp(-(z**2) / 2)).sum(1))


def test_samples_are_the_sum_of_the_pulses_of_all_hits() -> None:
    """From the step before the lead on: 7.3 − 1 = 6.3 is between 25 and 26 steps. Other pulses of the group are empty."""
    recording, pulse = recorded(RANGES, ENERGIES), 5 + 2 * LANE
    assert recording.starts[pulse] == 6.25
    np.testing.assert_allclose(recording.samples[pulse], gaussians(6.25 + STEP * np.arange(SAMPLES)), atol=2e-6)
    others = [5 + 2 * l for l in range(5) if l != LANE]
    assert np.isnan(recording.starts[others]).all() and not recording.samples[others].any()
    rest = np.setdiff1d(np.arange(20), [*others, pulse])
    assert (recording.starts[rest] == 77).all() and (recording.samples[rest] == 77).all()


@pytest.mark.parametrize("exponent", [1.5, 2.0, 2.6])
def test_signals_fall_with_the_exponent_of_the_receiver(exponent: float) -> None:
    """What is a unit of energy one metre away is a signal of s₀ there: s₀·W·r^(2 − n)."""
    recording = recorded(RANGES, ENERGIES, scale=300.0, exponent=exponent)
    paths = 6.25 + STEP * np.arange(SAMPLES)
    wanted = 300 * gaussians(paths) * paths ** (2 - exponent)
    np.testing.assert_allclose(recording.samples[5 + 2 * LANE], wanted, rtol=1e-4, atol=5e-4)


def test_a_recording_does_not_begin_behind_the_sensor() -> None:
    """What is nearer than the lead: from 0 on, where the signal is taken as that of a millimetre."""
    recording, pulse = recorded([0.3], [1.0], scale=10.0, exponent=3.0), 5 + 2 * LANE
    assert recording.starts[pulse] == 0.0
    paths = STEP * np.arange(SAMPLES)
    wanted = 10 * np.exp(-(((paths - 0.3) / SIGMA) ** 2) / 2) / np.maximum(paths, 1e-3)
    np.testing.assert_allclose(recording.samples[pulse], wanted, rtol=2e-4, atol=1e-4)


def test_a_pulse_ends_at_5_and_a_quarter_sigma_and_at_the_last_sample() -> None:
    """A hit 2 m behind the nearest begins 2.1 m before itself; one too far for the window leaves its beginning, or nothing."""
    recording = recorded([7.0, 12.0, 40.0], [1e-9, 0.5, 0.5]).samples[5 + 2 * LANE]
    paths = 6.0 + STEP * np.arange(SAMPLES)
    near = np.abs(paths - 12.0) <= 5.25 * SIGMA
    np.testing.assert_allclose(recording[near], 0.5 * np.exp(-(((paths[near] - 12) / SIGMA) ** 2) / 2), atol=1e-7)
    assert near[-1] and not recording[~near & (paths > 9.2)].any()
    assert (recording[near] > 0).all()


def test_noise_is_a_deviate_a_sample_where_it_is_asked_for_and_known() -> None:
    quiet, loud = (recorded(RANGES, ENERGIES, scale=300.0, noisy=noisy) for noisy in (False, True))
    off = loud.samples[11] - quiet.samples[11]
    wanted = np.zeros(SAMPLES, f)
    in_python(_add_noise)(LOT.chance, 11, wanted)
    np.testing.assert_allclose(off, wanted, atol=1e-4)
    assert not loud.samples[5].any(), "where nothing came back nothing is recorded"
    silent = recorded(RANGES, ENERGIES, noisy=True)  # how strong it is over the noise is not known
    np.testing.assert_array_equal(silent.samples[11], recorded(RANGES, ENERGIES).samples[11])


def test_every_sample_has_noise_of_its_own() -> None:
    """Also those left over of four; how many there are does not change the first."""
    many = np.zeros(400, f)
    in_python(_add_noise)(LOT.chance, 2, many)
    assert len(np.unique(many)) == 400
    assert abs(many.mean()) < 0.2 and abs(many.std() - 1) < 0.15
    for place in range(4):
        assert abs(many[place::4].std() - 1) < 0.3
    for length in (0, 1, 2, 3, 4, 5, 6, 7, 9):
        few = np.ones(length, f)
        in_python(_add_noise)(LOT.chance, 2, few)
        np.testing.assert_array_equal(few, 1 + many[:length])
