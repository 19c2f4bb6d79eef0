"""Our readers and the catalogue against packets that our encoder did not make: see `packets_by_hand`.

What recordings prove about them is proved here too, as far as facts go, so that it holds without any recording.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from packets_by_hand import UNITS, capture_by_hand
from tussock.learn.readers.read_pulses import load_pulses
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.velodyne.decode import decode_packets

PACKETS = {"hdl-32e": 420, "vlp-32c": 320, "vls-128-recorded": 1300, "vlp-16": 160}
"""two revolutions and a bit"""


def seen(cycle: int, laser: int) -> tuple[int, int]:
    """A distance that tells cycle and laser; every fifth pulse sees nothing."""
    if (cycle + laser) % 5 == 0:
        return 0, 0
    return 1000 + 40 * laser + cycle % 37, (3 * laser + cycle) % 100 + 1


@pytest.fixture(scope="module", params=UNITS)
def capture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = tmp_path_factory.mktemp("by_hand") / f"{request.param}.pcap"
    path.write_bytes(capture_by_hand(UNITS[request.param], PACKETS[request.param], seen))
    return request.param, path


def test_packets_are_taken_apart(capture: tuple[str, Path]) -> None:
    name, path = capture
    unit = UNITS[name]
    found = read_datagrams(path)
    payloads, times = found.payloads(), found.times
    raw = decode_packets(payloads)
    assert raw.model.name == name.removesuffix("-recorded")
    assert raw.mode == "strongest"
    wanted = np.array([[seen(c, laser) for laser in range(unit.lasers)] for c in range(len(payloads) * unit.cycles)])
    np.testing.assert_array_equal(raw.distance.reshape(wanted.shape[:2]), wanted[..., 0])
    np.testing.assert_array_equal(raw.intensity.reshape(wanted.shape[:2]), wanted[..., 1])
    assert np.diff(raw.stamp.astype(int)).mean() == pytest.approx(unit.packet_us, abs=0.01)
    assert np.diff(times).mean() * 1e6 == pytest.approx(unit.packet_us, abs=0.01)


def test_every_pulse_is_read(capture: tuple[str, Path]) -> None:
    name, path = capture
    unit = UNITS[name]
    pulses = load_pulses(path)
    cycles = PACKETS[name] * unit.cycles
    assert (np.bincount(pulses.rings) == len(pulses) / unit.lasers).all()
    assert len(pulses) == cycles * unit.lasers
    wanted = np.array([[seen(c, laser)[0] for laser in range(unit.lasers)] for c in range(cycles)])
    assert pulses.hit.sum() == np.count_nonzero(wanted)
    np.testing.assert_allclose(
        np.sort(pulses.ranges[pulses.hit]), np.sort(wanted[wanted > 0]) * unit.step_m, atol=0.1 * unit.step_m
    )
    # The nearest distances are those of laser 0, which looks down in all four; so did those pulses.
    nearest = pulses.hit & (pulses.ranges < (1000 + 37 - 0.5) * unit.step_m)
    lowest = load_sensor(name).pattern.elevation_deg[0]
    np.testing.assert_allclose(np.rad2deg(np.arcsin(pulses.directions[nearest, 2])), lowest, atol=0.02)


@pytest.mark.parametrize("name", UNITS)
def test_firings_that_saw_nothing_are_pulses(name: str, tmp_path: Path) -> None:
    """Whole firing cycles without a return, packets of nothing else among them, as under an open sky: none is lost."""
    unit, path = UNITS[name], tmp_path / "sky.pcap"
    cycles = PACKETS[name] * unit.cycles
    empty = np.zeros(cycles, bool)
    empty[unit.cycles : 4 * unit.cycles] = True  # three packets
    empty[5 * unit.cycles + 1 :: 7] = True  # and single cycles

    def sky(cycle: int, laser: int) -> tuple[int, int]:
        return (0, 0) if empty[cycle] else (2000 + laser, 50)

    path.write_bytes(capture_by_hand(unit, PACKETS[name], sky))
    pulses = load_pulses(path)
    assert len(pulses) == cycles * unit.lasers
    hits = pulses.hit.reshape(cycles, unit.lasers)  # in the order of firing
    np.testing.assert_array_equal(hits, np.repeat(~empty[:, None], unit.lasers, 1))


@pytest.mark.parametrize("name", UNITS)
def test_the_catalogue_fires_as_recorded(name: str) -> None:
    """Packet period and the head's turn of a recording, within 1 %, from the catalogue at the recorded rate."""
    unit = UNITS[name]
    rate = unit.cycle_deg / 360 / (unit.packet_us * 1e-6 / unit.cycles)
    sensor = load_sensor(name)
    low, high = sensor.pattern.rotation_hz_limits
    assert low <= rate <= high
    pulses = sensor.with_(rotation_hz=round(rate, 4)).pulses(0)
    own = pulses.lasers == 0
    assert np.diff(pulses.offsets[own]).mean() * unit.cycles * 1e6 == pytest.approx(unit.packet_us, rel=0.01)
    assert -np.rad2deg(np.diff(np.unwrap(pulses.azimuths[own]))).mean() == pytest.approx(unit.cycle_deg, rel=0.01)


def test_a_wrong_rate_is_found() -> None:
    """The manual's VLS-128 fires 3.7 % faster than the recorded one: the bound above tells them apart."""
    unit = UNITS["vls-128-recorded"]
    pulses = load_sensor("vls-128").pulses(0)
    period = np.diff(pulses.offsets[pulses.lasers == 0]).mean() * unit.cycles * 1e6
    assert unit.packet_us / period == pytest.approx(1.037, abs=0.002)
