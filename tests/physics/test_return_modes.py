"""Return modes against a plain twin: hand-made lists, ten thousand random ones, and scans of tiles in the air."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from tussock.pulse.tables import new_chosen
from tussock.return_modes import KINDS
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene
from tussock.signal.returns import Window, first_return, last_hits, next_echo, order_hits, strongest_hits
from tussock.simulate import scan
from tussock.trace.world import World

f = np.float32
MODES = ["strongest", "last", "first", "strongest+last", "all"]
Hit = tuple[float, float]
"""range [m] and energy"""


class Return(NamedTuple):
    kind: str
    range: float
    energy: float
    window: tuple[float, float]
    """nearest and furthest hit that it is made of [m]"""


def twin(
    hits: list[Hit], mode: str, *, cutoff: float, low: float, high: float, rays: int, most: int = 5
) -> list[Return]:
    """Goodin et al. (2018), section 3.2.3, word by word."""
    found = [(r, e) for r, e in hits if e > 0 and low <= r <= high]
    seen = sorted(found)
    if not seen:
        return []
    strong = min(seen, key=lambda hit: (-hit[1], hit[0]))
    far = max(found, key=lambda hit: hit[0])
    strongest = Return("strongest", *strong, (strong[0], strong[0]))
    last = Return("last", *far, (far[0], far[0]))
    if mode in ("strongest", "last", "strongest+last"):
        return {"strongest": [strongest], "last": [last], "strongest+last": [strongest, last]}[mode]
    groups: list[list[Hit]] = []
    for hit in seen:
        if groups and hit[0] <= groups[-1][0][0] + cutoff:
            groups[-1].append(hit)
        else:
            groups.append([hit])
    windows = [(group[0][0], group[-1][0]) for group in groups]
    sums = [sum(e for _, e in group) for group in groups]
    if mode == "first":
        return [Return("first", sum(r for r, _ in groups[0]) / len(groups[0]), sums[0] / rays, windows[0])]
    centres = [sum(r * e for r, e in group) / total for group, total in zip(groups, sums, strict=True)]
    echoes = zip(centres, sums, windows, strict=True)
    return [Return("echo", r, e / rays, window) for r, e, window in echoes][:most]


def kernels(hits: list[Hit], mode: str, *, cutoff: float, low: float, high: float, rays: int) -> list[Hit]:
    """The same by the functions of `tussock.signal.returns`."""
    ranges, energies = np.array(hits, f).reshape(-1, 2).T[:, :, None].copy()
    window = Window(f(low), f(high), f(cutoff))
    if mode == "first":
        row, distance, energy = first_return(ranges, energies, 0, window, rays)
        return [] if row < 0 else [(float(distance), float(energy))]
    if mode == "all":
        order = np.zeros(len(hits), np.int64)
        count, begin, found = order_hits(ranges, energies, 0, window, order), 0, []
        while begin < count:
            begin, _, distance, energy = next_echo(ranges, energies, 0, order[:count], begin, window, rays)
            found.append((float(distance), float(energy)))
        return found
    lanes = np.repeat(ranges, 16, 1), np.repeat(energies, 16, 1)
    found = []
    for pick in (strongest_hits, last_hits):
        chosen = new_chosen(len(hits))
        pick(*lanes, window, chosen)
        assert len(set(chosen.rows)) == 1, "the same in all lanes"
        row = chosen.rows[0]
        assert row < 0 or (chosen.ranges[0], chosen.energies[0]) == (ranges[row, 0], energies[row, 0])
        found.append([(float(chosen.ranges[0]), float(chosen.energies[0]))] if row >= 0 else [])
    return {"strongest": found[0], "last": found[1], "strongest+last": found[0] + found[1]}[mode]


LIST = [(9.0, 0.4), (5.0, 0.2), (5.5, 0.6), (30.0, 0.1), (9.25, 0.4), (0.5, 0.9), (130.0, 0.9), (7.0, 0.0)]
HAND = {
    "strongest": [(5.5, 0.6)],
    "last": [(30.0, 0.1)],
    "strongest+last": [(5.5, 0.6), (30.0, 0.1)],
    "first": [(5.25, 0.8 / 8)],
    "all": [((5 * 0.2 + 5.5 * 0.6) / 0.8, 0.8 / 8), (9.125, 0.8 / 8), (30.0, 0.1 / 8)],
}


@pytest.mark.parametrize("mode", MODES)
def test_a_list_worked_out_by_hand(mode: str) -> None:
    options = {"cutoff": 1.0, "low": 1.0, "high": 100.0, "rays": 8}
    assert np.array(kernels(LIST, mode, **options)) == pytest.approx(np.array(HAND[mode]), rel=1e-6)
    assert np.array([back[1:3] for back in twin(LIST, mode, **options)]) == pytest.approx(np.array(HAND[mode]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("hits", [[(5.0, 0.0)], [(0.5, 1.0), (101.0, 1.0)]])
def test_nothing_from_nothing(mode: str, hits: list[Hit]) -> None:
    assert kernels(hits, mode, cutoff=1.0, low=1.0, high=100.0, rays=2) == []


def random_list(rng: np.random.Generator) -> list[Hit]:
    """1 to 12 hits, some without energy, some at the same range or of the same energy; numbers of float32."""
    count = rng.integers(1, 13)
    ranges = rng.uniform(0.0, 40.0, count).astype(f)
    energies = rng.uniform(0.0, 1.0, count).astype(f) * (rng.random(count) > 0.2)
    if rng.random() < 0.5:
        ranges = ranges[0] + np.sort(rng.exponential(0.7, count)).astype(f)
    if rng.random() < 0.3:
        ranges, energies = np.round(ranges), np.round(energies, 1).astype(f)
    return [(float(r), float(e)) for r, e in zip(ranges, energies, strict=True)]


def test_ten_thousand_random_lists() -> None:
    rng = np.random.default_rng(3)
    returned = dict.fromkeys(MODES, 0)
    for _ in range(10_000):
        hits = random_list(rng)
        # Sums of quarters are exact in float32, so that both sides cut a window at the same hit.
        cutoff, low, high = rng.integers(0, 12) / 4, 1.0, 35.0
        within = [(r, e) for r, e in hits if e > 0 and low <= r <= high]
        near_the_cut = any(0 < abs(a - b - cutoff) < 1e-4 for a, _ in within for b, _ in within)
        for mode in MODES:
            options = {"cutoff": cutoff, "low": low, "high": high, "rays": len(hits)}
            found = kernels(hits, mode, **options)
            returned[mode] += len(found)
            if mode in ("first", "all") and near_the_cut:
                continue  # rounding decides
            expected = twin(hits, mode, **options, most=99)
            assert len(found) == len(expected)
            for (distance, energy), back in zip(found, expected, strict=True):
                assert abs(distance - back.range) <= 3e-7 * back.range
                assert abs(energy - back.energy) <= 3e-7 * back.energy
                assert back.window[0] <= distance <= back.window[1], "no range outside its window"
            if mode == "strongest" and within:
                assert found[0][1] == max(e for _, e in within)
            if mode == "last" and within:
                assert found[0][0] == max(r for r, _ in within)
    assert returned["strongest"] == returned["last"] == returned["first"] > 9000
    assert returned["all"] > 1.5 * returned["first"]


# ---- through a scan ----

AZIMUTHS, ELEVATIONS = np.arange(-170.0, 175.0, 10.0), np.arange(-40.0, 45.0, 10.0)
DIVERGENCE = 60e-3  # [rad] full angle
LEVELS = 20


@pytest.fixture(scope="module")
def tiles() -> tuple[World, list[list[Hit]]]:
    """Nine tiles a pulse, each square to one sub-ray of a full 3 × 3 stencil, and the hits that they make."""
    rng = np.random.default_rng(8)
    reach = np.tan(DIVERGENCE / 2)
    points, lists, chosen = [], [], []
    for elevation in np.deg2rad(ELEVATIONS):
        for azimuth in np.deg2rad(AZIMUTHS):
            level_part = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
            axis = np.cos(elevation) * level_part + np.array([0.0, 0.0, np.sin(elevation)])
            left = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
            up = np.cross(axis, left)
            hits = []
            levels = rng.permutation(np.arange(1, LEVELS))  # no two alike: rounding would choose the strongest
            base = rng.uniform(3.0, 40.0)
            for across in (-1, 0, 1):
                for rise in (-1, 0, 1):
                    if rng.random() < 0.2:
                        continue
                    ray = axis + reach * (across * left + rise * up)
                    ray /= np.linalg.norm(ray)
                    distance = base + rng.exponential(1.5) if rng.random() < 0.7 else rng.uniform(3.0, 60.0)
                    level = int(levels[len(hits)])
                    half = 0.3 * reach * distance
                    side = np.cross(ray, up) / np.linalg.norm(np.cross(ray, up))
                    top = np.cross(side, ray)
                    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
                    points += [distance * ray + half * (u * side + v * top) for u, v in corners]
                    chosen += [level, level]
                    hits.append((distance, level / LEVELS))
            lists.append(hits)
    quads = np.arange(len(points)).reshape(-1, 4)
    materials = tuple(Material(name=f"level {k}", reflectance=k / LEVELS) for k in range(LEVELS))
    scene = Scene()
    scene.add(Mesh.of(np.array(points), quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3), materials, np.array(chosen)))
    return World(scene), lists


@pytest.mark.parametrize("mode", MODES)
def test_a_scan_reports_what_the_twin_reports(
    mode: str, tiles: tuple[World, list[list[Hit]]], pencil: Callable
) -> None:
    world, lists = tiles
    limits = {"cutoff": 1.0, "low": 5.0, "high": 50.0, "rays": 9, "most": 3}
    sensor = pencil(
        AZIMUTHS, ELEVATIONS,
        **{
            "beam.shape": "rectangle", "beam.rays": 9, "beam.sampling": "full",
            "beam.divergence_horizontal_mrad": DIVERGENCE * 1e3, "beam.divergence_vertical_mrad": DIVERGENCE * 1e3,
            "receiver.model": "hits", "receiver.mode": mode, "receiver.signal_cutoff_m": 1.0, "receiver.min_range_m": 5.0,
            "receiver.max_range_m": 50.0, "receiver.max_returns": 3,
        },
    )  # fmt: skip
    frame = scan(world, sensor)
    returns = [twin(hits, mode, **limits) for hits in lists]
    expected = [(pulse, k + 1, back) for pulse, own in enumerate(returns) for k, back in enumerate(own)]
    assert frame.pulse.tolist() == [pulse for pulse, _, _ in expected]
    assert frame.return_number.tolist() == [number for _, number, _ in expected]
    assert [KINDS[kind] for kind in frame.return_kind] == [back.kind for _, _, back in expected]
    np.testing.assert_allclose(frame.true_range, [back.range for *_, back in expected], atol=2e-5)
    np.testing.assert_allclose(frame.intensity, [back.energy for *_, back in expected], atol=2e-6)
    counts = np.bincount(frame.pulse, minlength=len(lists))
    assert np.array_equal(frame.return_count, counts[frame.pulse])
    assert len(frame) > 280
    if mode == "all":
        assert set(counts) == {1, 2, 3}
    if mode == "strongest+last":
        assert set(counts) <= {0, 2}
        assert 0.1 < (frame.true_range[0::2] == frame.true_range[1::2]).mean() < 0.8
