from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.pulse.tables import new_chosen
from tussock.signal.returns import Window, first_return, last_hits, next_echo, order_hits, strongest_hits

WINDOW = Window(np.float32(1.0), np.float32(100.0), np.float32(1.0))


def hits(*pairs: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Ranges and energies of the sub-rays in column 2 of 16; the other columns hold what must not be looked at."""
    ranges = np.full((len(pairs), 16), 2.0, np.float32)
    energies = np.full((len(pairs), 16), 9.0, np.float32)
    ranges[:, 2], energies[:, 2] = np.array(pairs, np.float32).T
    return ranges, energies


def strongest(*pairs: tuple[float, float]) -> int:
    chosen = new_chosen(len(pairs))
    strongest_hits(*hits(*pairs), WINDOW, chosen)
    return int(chosen.rows[2])


def last(*pairs: tuple[float, float]) -> int:
    chosen = new_chosen(len(pairs))
    last_hits(*hits(*pairs), WINDOW, chosen)
    return int(chosen.rows[2])


def test_the_strongest_hit() -> None:
    assert strongest((5, 0.2), (9, 0.7), (3, 0.4)) == 1
    assert strongest((5, 0.7), (3, 0.7), (9, 0.7)) == 1, "the nearer of equals"
    assert strongest((0.5, 0.9), (50, 0.1), (101, 0.9)) == 1, "within the limits"
    assert strongest((5, 0.0), (6, 0.0)) == -1
    assert strongest((1.0, 0.1), (100.0, 0.2)) == 1, "the limits belong to it"


def test_the_last_hit() -> None:
    assert last((5, 0.9), (9, 0.1), (120, 0.4), (99, 0.0)) == 1
    assert last((5, 0.0)) == -1
    assert last((5, 0.1), (5, 0.9)) == 0, "the first of equals"


@pytest.mark.parametrize("choose", [strongest_hits, last_hits])
def test_a_lane_without_a_hit_has_no_energy(choose: Callable[..., None]) -> None:
    chosen = new_chosen(2)
    chosen.energies[:] = 7.0
    choose(*hits((5, 0.0), (120, 0.4)), WINDOW, chosen)
    assert (int(chosen.rows[2]), float(chosen.energies[2])) == (-1, 0.0)
    assert float(chosen.energies[3]) == 9.0


def test_the_first_return_is_the_mean_of_a_window() -> None:
    row, distance, energy = first_return(*hits((9, 0.9), (5, 0.1), (5.6, 0.3), (6.2, 0.8)), 2, WINDOW, 4)
    assert row == 2, "the brightest of the window"
    assert distance == pytest.approx(5.3)
    assert energy == pytest.approx(0.4 / 4)
    assert first_return(*hits((0.2, 0.9), (200, 0.9)), 2, WINDOW, 2)[0] == -1


def echoes(pairs: list[tuple[float, float]], cutoff: float) -> list[tuple[int, float, float]]:
    ranges, energies = hits(*pairs)
    order = np.zeros(len(pairs), np.int64)
    count = order_hits(ranges, energies, 2, WINDOW, order)
    found, begin = [], 0
    while begin < count:
        begin, row, distance, energy = next_echo(
            ranges, energies, 2, order[:count], begin, WINDOW._replace(cutoff=np.float32(cutoff)), len(pairs)
        )
        found.append((int(row), float(distance), float(energy)))
    return found


def test_echoes_in_order_of_range() -> None:
    pairs = [(30, 0.5), (10, 0.2), (10.4, 0.6), (30.2, 0.5), (150, 1.0), (20, 0.0)]
    near, far = echoes(pairs, 1.0)
    assert near[0] == 2
    assert near[1] == pytest.approx((0.2 * 10 + 0.6 * 10.4) / 0.8)
    assert near[2] == pytest.approx(0.8 / 6)
    assert far[0] in (0, 3)
    assert far[1] == pytest.approx(30.1)


@pytest.mark.parametrize("seed", range(5))
def test_echoes_share_out_all_energy_and_stay_within_their_hits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = list(zip(rng.uniform(2, 30, 40), rng.uniform(0.01, 1, 40), strict=True))
    found = echoes(pairs, 1.5)
    assert sum(energy for *_, energy in found) == pytest.approx(sum(e for _, e in pairs) / 40, rel=1e-5)
    distances = np.array([distance for _, distance, _ in found])
    assert (np.diff(distances) > 0).all()
    ranges = np.sort(np.array([r for r, _ in pairs], np.float32))
    assert (distances >= ranges[0]).all()
    assert (distances <= ranges[-1]).all()
    assert len(echoes(pairs, 100.0)) == 1
    assert len(echoes(pairs, 0.0)) == 40
