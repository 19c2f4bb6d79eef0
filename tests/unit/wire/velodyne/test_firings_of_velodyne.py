"""What is corrected and told: distances of an HDL-64E, the table it sends, turns of a head that turns the other way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gappy_frames import gappy_frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording
from tussock.wire.velodyne.calibration import Calibration
from tussock.wire.velodyne.firings import _corrected
from tussock.wire.velodyne.position import position_packets
from tussock.wire.velodyne.status64 import TABLE_PACKETS, StatusStream
from tussock.wire.velodyne.told_calibration import told_calibration

FAR, NEAR_X, NEAR_Y = 0.10, 0.13, 0.07  # [m]


def corrected(ranges: list[float], directions: list[tuple[float, float, float]]) -> np.ndarray:
    none = np.zeros(1)
    known = Calibration(none, none, none, none, none, np.array([FAR]), np.array([NEAR_X]), np.array([NEAR_Y]))
    lasers = np.zeros(len(ranges), np.uint16)
    return _corrected(known, np.array(ranges)[:, None], np.array(directions), lasers)[:, 0]


def test_distances_are_corrected_as_at_the_two_places_of_calibration() -> None:
    """Aside at 2.40 m the near x counts, ahead at 1.93 m the near y, at 25.04 m the far one (S2 manual)."""
    ranges = [2.40 - FAR, 1.93 - FAR, 25.04 - FAR, 25.04 - FAR]
    ways = [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0)]
    # A pulse along one axis has none of the other's distance, whose correction then has no weight.
    expected = [2.40 - FAR + NEAR_X, 1.93 - FAR + NEAR_Y, 25.04, 25.04]
    np.testing.assert_allclose(corrected(ranges, ways), expected, atol=1e-12)


def test_between_and_upwards_distances_are_corrected_in_proportion() -> None:
    way = np.array([0.6, 0.64, 0.48])
    reach = 10.0
    x, y = (reach + FAR) * way[0], (reach + FAR) * way[1]
    aside = (NEAR_X - FAR) * (1 - (y - 2.40) / (25.04 - 2.40))
    ahead = (NEAR_Y - FAR) * (1 - (x - 1.93) / (25.04 - 1.93))
    expected = reach + FAR + aside * way[1] ** 2 + ahead * (way[0] ** 2 + way[2] ** 2)
    np.testing.assert_allclose(corrected([reach], [tuple(way)]), [expected], atol=1e-12)


@pytest.mark.parametrize("name", ["hdl-64e-s2", "hdl-64e-s3"])
def test_the_table_of_a_unit_is_told_in_metres_and_radians(name: str) -> None:
    rng = np.random.default_rng(3)
    up, left = (np.round(rng.uniform(-0.2, 0.2, 64), 3).tolist() for _ in range(2))
    sensor = load_sensor(name).with_(**{"pattern.vertical_offset_m": up, "pattern.horizontal_offset_m": left})
    number = np.arange(TABLE_PACKETS)
    told = told_calibration(StatusStream(sensor, "last").bytes(number, EPOCH + number * 2e-4), number)
    assert told is not None and (told.model, told.mode) == (name, "last")
    np.testing.assert_allclose(told.calibration.vertical_offset, up, atol=1e-9)
    np.testing.assert_allclose(told.calibration.horizontal_offset, left, atol=1e-9)
    np.testing.assert_allclose(np.rad2deg(told.calibration.elevation), sensor.pattern.elevation_deg, atol=0.0051)
    assert not told.calibration.distance.any() and not told.calibration.distance_x.any()


def test_a_head_that_turns_the_other_way_counts_its_turns(tmp_path: Path) -> None:
    sensor = load_sensor("vlp-16").with_(**{"pattern.clockwise": False})
    rng = np.random.default_rng(5)
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        for number in range(3):
            run.write(gappy_frame(sensor, number, rng)[0])
    found = read_firings(tmp_path / "run.pcap")
    pulses = [sensor.pulses(number) for number in range(3)]
    turns = np.repeat(np.arange(3), [len(part) for part in pulses])
    assert (np.diff(found.turns) >= 0).all() and found.turns[0] == 0
    # A cycle at the very edge may count for either.
    assert (found.turns[: len(turns)] != turns).mean() < 0.002
    azimuths = np.concatenate([part.azimuths for part in pulses])
    apart = np.angle(np.exp(1j * (found.azimuths[: len(azimuths)] - azimuths)))
    assert np.rad2deg(np.abs(apart)).max() < 0.01
    # Nor does it lose count where seven tenths of a revolution are missing.
    data = read_datagrams(tmp_path / "run.pcap")
    data = data.select(data.port == 2368)
    kept = np.setdiff1d(np.arange(len(data)), np.arange(30, 83))
    with (tmp_path / "less.pcap").open("wb") as file:
        CaptureWriter(file).write(Flow(data.payloads()[kept], data.times[kept], 2368))
    less = read_firings(tmp_path / "less.pcap", say=lambda note: None)
    np.testing.assert_array_equal(less.turns.reshape(-1, 384), found.turns.reshape(-1, 384)[kept])


def test_a_position_packet_has_its_stamp_before_the_sentence() -> None:
    """Manual 63-9243, section 9.4: microseconds past the hour in bytes 198 to 201, pulse per second in 202."""
    packets = position_packets(np.array([0.25, 3601.5]), Trajectory.standing(Pose()), epoch=EPOCH)
    assert packets[:, 198:202].copy().view("<u4")[:, 0].tolist() == [250_000, 1_500_000]
    assert packets[:, 202].tolist() == [2, 2]
    assert all(packet[206:212].tobytes() == b"$GPRMC" for packet in packets)
