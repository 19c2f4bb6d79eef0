"""The own vehicle by hand: how many returns, how near, how still, in each degree of each ring."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.drives.own_vehicle import OwnVehicle, find_vehicle
from tussock.learn.measured_pulses import MeasuredPulses


def seen(ranges: list[float], *, degree: float = 30.5, ring: int = 1) -> list[MeasuredPulses]:
    """One part for each range, of a pulse into one degree of one ring."""
    angle = np.deg2rad(degree)
    way = [[np.cos(angle), np.sin(angle), 0.0]]
    return [MeasuredPulses.of(np.zeros(3), way, [r], rings=[ring], azimuths=[angle], reach=50.0) for r in ranges]


@pytest.mark.parametrize(
    ("ranges", "own"),
    [
        ([1.5] * 20, True),
        ([1.5] * 19, False),  # too few
        ([1.5] * 20 + [np.nan] * 20, True),
        ([1.5] * 20 + [np.nan] * 21, False),  # less than half of the pulses
        ([3.99] * 20, True),
        ([4.0] * 20, False),  # too far away
        ([1.451, 1.549] * 10, True),  # σ = 0.049 m
        ([1.449, 1.551] * 10, False),
    ],
)
def test_what_stays_where_it_is_near_the_sensor_is_the_vehicle(ranges: list[float], own: bool) -> None:
    found = find_vehicle(seen(ranges))
    assert found.directions == int(own)
    assert found.met_by(seen([ranges[0]])[0]).tolist() == [own]


def test_what_is_a_little_further_is_the_vehicle_too() -> None:
    """Mean + 3σ, σ at least 2 cm; in that degree of that ring and in no other."""
    still, moving = find_vehicle(seen([1.5] * 20)), find_vehicle(seen([1.46, 1.54] * 10))
    for vehicle, end in ((still, 1.56), (moving, 1.62)):
        for place, met in ((end - 1e-3, True), (end + 1e-3, False), (0.3, True), (np.nan, False)):
            assert vehicle.met_by(seen([place])[0]).tolist() == [met], place
    for other in ({"degree": 29.99}, {"degree": 31.01}, {"ring": 0}):
        assert not still.met_by(seen([1.5], **other)[0]).any()
    assert still.met_by(seen([1.5], degree=30.01)[0]).all() and still.met_by(seen([1.5], ring=5)[0]).all()
    behind = find_vehicle([*seen([1.5] * 20, degree=-0.5, ring=0), *seen([2.5] * 20, degree=359.5, ring=3)])
    assert behind.directions == 2
    assert behind.met_by(seen([1.5], degree=359.5, ring=0)[0]).all()


def test_a_box_holds_what_ends_in_it() -> None:
    vehicle = OwnVehicle(box=[1.0, -1.0, -1.0, 2.0, 1.0, 1.0])
    met = [bool(vehicle.met_by(seen([place], degree=0.0)[0])[0]) for place in (0.99, 1.0, 2.0, 2.01, np.nan)]
    assert met == [False, True, True, False, False] and vehicle.directions == 0
