"""Real captures as pulses, and what the estimator of range spread says of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from real_recordings import recorded
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.range_spread import measure_range_spread
from tussock.learn.readers.read_pulses import load_pulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import compare
from tussock.learn.through_box import through_box
from tussock.plots.range_spread import plot_range_spread

CAPTURES = {
    # file: revolutions (the last may be a part, of the VLP-32C two firings), lasers, step [m], share of pulses with a return
    "velodyne/vls128_static/packets.pcap": (4, 128, 0.004, 0.91),
    "velodyne/vlp32c_static/packets.pcap": (6, 32, 0.004, 0.90),
    "velodyne/hdl32e_moving.pcap": (3, 32, 0.002, 0.76),
    "velodyne/vlp16_static_with_gaps.pcap": (14, 16, 0.002, 0.529),
}
HEDGE = (-13.0, -3.0, -1.2, -7.5, 14.0, 1.2)
"""beside the road of the VLS-128's recording"""
ROAD = (-6.0, 5.0, -2.6, 0.0, 20.0, -1.6)
DESKS = (0.0, -5.0, -0.5, 8.0, -1.0, 2.0)
"""clutter in the room of the VLP-32C's recording"""


@pytest.fixture(scope="module", params=CAPTURES)
def capture(request):
    return load_pulses(recorded(request.param)), *CAPTURES[request.param]


def test_every_pulse_is_read(capture) -> None:
    pulses, turns, lasers, step, share = capture
    assert np.unique(pulses.turns).tolist() == list(range(turns))
    assert np.unique(pulses.rings).tolist() == list(range(lasers))
    # Every column fires every laser once, whether it returns or not.
    assert (np.bincount(pulses.rings) == len(pulses) / lasers).all()
    assert pulses.hit.mean() == pytest.approx(share, abs=0.005)
    steps = pulses.ranges[pulses.hit] / step
    assert np.abs(steps - np.rint(steps)).max() < 0.02
    assert np.abs(pulses.origins[:, :2]).max() < 1e-4 and np.abs(pulses.origins[:, 2]).max() < 0.06


def test_rings_are_cones_from_the_lowest_up(capture) -> None:
    pulses, _, lasers, _, _ = capture
    rise = np.rad2deg(np.arcsin(pulses.directions[:, 2]))
    middle = np.array([np.median(rise[pulses.rings == ring]) for ring in range(lasers)])
    assert (np.diff(middle) > 0).all()
    # The ends of a ring's elevations, those of pulses without return among them.
    assert np.abs(rise - middle[pulses.rings]).max() < 0.01


@pytest.mark.parametrize(("name", "turn"), [("vls128_static", 1), ("vlp32c_static", 1)])
def test_points_are_those_of_another_decoder(name: str, turn: int) -> None:
    """Both took the same recording apart; ours lifts lasers by centimetres, so ranges are compared."""
    truth = load_pulses(recorded(f"velodyne/{name}/one_revolution_ground_truth.pcd"))
    ours = load_pulses(recorded(f"velodyne/{name}/packets.pcap"), turns=[turn])
    assert ours.hit.sum() == pytest.approx(len(truth), rel=0.015)
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert np.quantile(ours.ranges[ours.hit], share) == pytest.approx(np.quantile(truth.ranges, share), rel=0.01)
    low, high = (np.quantile(which, (0.01, 0.99), axis=0) for which in (truth.points, ours.points[ours.hit]))
    assert np.abs(low - high).max() < 0.02 * np.abs(low).max() + 0.06


def test_a_hedge_spreads_ranges_and_the_road_does_not(tmp_path) -> None:
    pulses = load_pulses(recorded("velodyne/vls128_static/packets.pcap"))
    hedge, road = measure_range_spread(pulses, HEDGE), measure_range_spread(pulses, ROAD)
    assert hedge.count > 60_000 and road.count > 5_000
    assert 0.3 < hedge.sigma < 0.4 and abs(hedge.mean) < 0.01
    assert hedge.sigma > 5 * road.sigma
    # The rings over the top of the hedge see through it, the lower ones its side.
    sigma = {ring: part.sigma for ring, part in hedge.by_ring().items() if part.count > 100}
    assert np.mean([sigma[ring] for ring in range(60, 70)]) > 3 * np.mean([sigma[ring] for ring in range(24, 34)])
    plot_range_spread(hedge, pulses, tmp_path / "hedge.png")
    pixels = np.asarray(Image.open(tmp_path / "hedge.png").convert("RGB")).astype(int)
    left = pixels[100:-60, 80:820]
    blue = (left[..., 2] - left[..., 0] > 60).sum(0)
    red = (left[..., 0] - left[..., 2] > 60).sum(0)
    # The sensor stands to the right of it: nearer points (blue) are on the right, farther ones (red) on the left.
    columns = np.arange(left.shape[1])
    assert (columns * red).sum() / red.sum() < (columns * blue).sum() / blue.sum() - 10


def test_clutter_in_a_room_spreads_ranges(tmp_path) -> None:
    pulses = load_pulses(recorded("velodyne/vlp32c_static/packets.pcap"))
    spread = measure_range_spread(pulses, DESKS)
    assert spread.count > 30_000 and 0.3 < spread.sigma < 0.7
    # The lowest rings see the floor.
    assert spread.of_ring(1).sigma < 0.02
    plot_range_spread(spread, pulses, tmp_path / "desks.png")
    assert (tmp_path / "desks.png").stat().st_size > 50_000


def test_a_learned_hedge_foretells_the_next_revolution() -> None:
    pulses = load_pulses(recorded("velodyne/vls128_static/packets.pcap"))
    past, later = pulses.select(pulses.turns < 2), pulses.select(pulses.turns == 2)
    volumes = fit_volumes(past, voxel=0.2, box=HEDGE)
    seen = through_box(later, HEDGE)
    inside = seen.inside(HEDGE)
    # What ended before the hedge says nothing of it.
    reached = inside | ~(seen.ranges < 7.5)
    simulated = simulate_volumes(volumes, seen, seed=1)
    assert simulated.hit[reached].mean() == pytest.approx(inside[reached].mean(), abs=0.05)
    real = replace(seen, ranges=np.where(inside, seen.ranges, np.nan)).select(reached)
    score = compare(real, simulated.select(reached), angle_bin=np.deg2rad(2.0), range_bin=0.25)
    assert score.distance < 0.2
    assert np.abs(score.quantile_differences).max() < 0.3
