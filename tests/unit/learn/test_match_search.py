"""The search for the response that a scene needs, where what a scan would find is a curve that the test knows."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn import match_response as module
from tussock.learn.match_response import match_response, responding
from tussock.scene.primitives import box
from tussock.scene.scene import Scene


def bush() -> Scene:
    scene = Scene("bush")
    scene.add(box((1, 1, 1)), name="bush", tags=["vegetation"])
    scene.add(box((1, 1, 1)), name="wall")
    return scene


def matched(
    monkeypatch: pytest.MonkeyPatch, curve: object, wanted: float, **how: object
) -> tuple[object, list[tuple[float, int]]]:
    """A match where σ spreads ranges by ``curve``(σ), and every σ that was scanned with its first frame."""
    asked: list[tuple[float, int]] = []

    def world(scene: Scene) -> float:
        response = next(thing.response for thing in scene.objects if thing.response is not None)
        return float(response.sigma_m)

    def scan(sigma: float, sensor: object, pose: object, *, frame: int, **more: object) -> tuple[float, int]:
        asked.append((sigma, frame))
        return sigma, frame

    monkeypatch.setattr(module, "World", world)
    monkeypatch.setattr(module, "scan", scan)
    monkeypatch.setattr(module, "measured_pulses", lambda seen: seen)
    monkeypatch.setattr(module, "join_pulses", lambda seen: seen)
    monkeypatch.setattr(module, "_first_of", lambda frame, numbers: np.zeros(1, bool))
    monkeypatch.setattr(
        module, "measure_range_spread",
        lambda seen, box, **more: SimpleNamespace(variance=curve(seen[0][0]), neighbours=np.array([4, 4])),  # type: ignore[operator]
    )  # fmt: skip
    return match_response(bush(), None, None, wanted, **how), asked  # type: ignore[arg-type]


def test_where_nothing_stands_behind_the_first_guess_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variances add, with what the mean of four neighbours adds: v + σ²·(1 + 1/4)."""
    found, asked = matched(monkeypatch, lambda sigma: 0.04 + 1.25 * sigma**2, 0.54, frames=3)
    sigma = math.sqrt(0.5 / 1.25)
    assert found.sigma == round(sigma, 4)  # type: ignore[attr-defined]
    scans = [
        (0.0, 0),
        (0.0, 1),
        (0.0, 2),
        *((sigma, k) for k in range(3)),
        *((round(sigma, 4), 3 + k) for k in range(3)),
    ]
    assert asked == [(pytest.approx(s), k) for s, k in scans]
    assert found.before.variance == 0.04 and responding(found.scene) == responding(bush())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("curve", "wanted"),
    [
        (lambda s: 0.1 + 0.2 * s**2, 2.0),  # a wall behind caps most of it
        (lambda s: 3.0 * (1 - math.exp(-s)), 2.5),
        (lambda s: 0.01 + 9.0 * s**2, 0.5),  # more than expected
        (lambda s: 1.0 * s**4, 0.7),
        (lambda s: 1.0 if s > 0.9 else 0.4 * s, 0.3),
    ],
)
def test_it_is_found_within_half_a_per_cent_whatever_the_curve(
    monkeypatch: pytest.MonkeyPatch, curve: object, wanted: float
) -> None:
    found, asked = matched(monkeypatch, curve, wanted, frames=1)
    tried = [sigma for sigma, _ in asked[1:-1]]
    assert abs(curve(tried[-1]) - wanted) <= 0.005 * wanted and len(tried) <= 16  # type: ignore[operator]
    assert found.sigma == round(tried[-1], 4) and asked[-1] == (round(tried[-1], 4), 1)  # type: ignore[attr-defined]
    low, high = 0.0, math.inf
    for before, after in pairwise(tried):
        low, high = (before, high) if curve(before) < wanted else (low, before)  # type: ignore[operator]
        assert low < after < high and after <= max(4 * low, before)


def test_what_no_response_reaches_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InputError, match=r"no response gives the scene this variance.*the most that was reached is 0\.49"
    ):
        matched(monkeypatch, lambda s: 0.5 * (1 - math.exp(-s)), 0.6, frames=1)
    with pytest.raises(InputError, match=r"already spreads ranges by 0\.7 m² without a response, got '0\.7 m²'"):
        matched(monkeypatch, lambda s: 0.7 + s, 0.7, frames=1)
    for wanted in (0.0, math.inf):
        with pytest.raises(InputError, match="variance: must be a number above 0"):
            match_response(bush(), None, None, wanted)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="frames: must be at least 1"):
        match_response(bush(), None, None, 1.0, frames=0)  # type: ignore[arg-type]
