"""A few packets of a Hesai: what each checksum is of, what is left out and said, clocks that are others than the recorder's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from made_captures import Sent, crc32_of_mpeg2, pcap, records_of
from made_frames import made_frame
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.firings import Firings
from tussock.wire.hesai import encode
from tussock.wire.hesai.decode import decode_hesai, hesai_model
from tussock.wire.hesai.encode import HesaiEncoder
from tussock.wire.hesai.firings import _lasers, hesai_firings
from tussock.wire.hesai.models import MODELS
from tussock.wire.packets import EPOCH, Packets

WHEN = 10**18
"""[ns] the recorder's time of the first packet"""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Packets]:
    """Five packets of a model with few returns."""
    monkeypatch.setattr(encode, "mpeg_crc32", crc32_of_mpeg2)

    def of(name: str) -> Packets:
        sensor = load_sensor(name)
        packets = HesaiEncoder(sensor).encode(made_frame(sensor, 1, share=0.002))["data"]
        return Packets(packets.payloads[:5].copy(), packets.times[:5])

    return of


def read(path: Path, payloads: list[bytes], times: list[int], unit: str | None = None) -> tuple[Firings, list[str]]:
    sents = [Sent(payload, time) for payload, time in zip(payloads, times, strict=True)]
    (path / "a.pcap").write_bytes(pcap(records_of(sents), nano=True))
    notes: list[str] = []
    found = hesai_firings(read_datagrams(path / "a.pcap"), None, unit, notes.append)
    return found, [note.partition("a.pcap: ")[2] for note in notes]


def test_one_checksum_is_of_the_body_and_one_of_the_tail(few: Callable[[str], Packets]) -> None:
    """Of a QT128: bytes 12 to 1039, and 1061 to 1090; functional safety between them has its own, which is not looked at."""
    good = few("qt128").payloads
    for at, right in (
        (12, False),
        (1039, False),
        (1040, False),
        (1061, False),
        (1090, False),
        (1094, False),
        (1050, True),
        (1058, True),
    ):
        payloads = good.copy()
        payloads[2, at] ^= 4
        found = decode_hesai(payloads)
        assert found.whole.tolist() == [True, True, right, True, True], at
        assert (found.damaged, found.lost, len(found.stamp_us)) == (
            0 if right else 1,
            0 if right else 1,
            5 if right else 4,
        )
        if right:
            np.testing.assert_array_equal(found.distance, decode_hesai(good).distance)


def test_packets_of_another_size_or_damaged_are_left_out_and_said(
    few: Callable[[str], Packets], tmp_path: Path
) -> None:
    packets = few("qt128")
    rows = [payload.tobytes() for payload in packets.payloads]
    times = [WHEN + round(time * 1e9) for time in packets.times]
    whole, notes = read(tmp_path, rows, times)
    assert notes == [] and len(whole) == 5 * 2 * 128 - 5 * sum(
        len(turn.resting) for turn in load_sensor("qt128").pattern.order
    )
    odd = [*rows[:3], rows[3] + b"x", rows[4]]
    found, notes = read(tmp_path, odd, times)
    assert notes == ["1 data packets do not have 1095 bytes and are left out", "1 data packets are missing"]
    assert len(found) == len(whole) * 4 // 5
    damaged = [rows[0], rows[1][:100] + bytes([rows[1][100] ^ 1]) + rows[1][101:], *rows[2:]]
    found, notes = read(tmp_path, damaged, times)
    assert notes == ["1 data packets have a wrong checksum and are left out", "1 data packets are missing"]
    kept = np.concatenate([np.arange(192), np.arange(384, 960)])
    np.testing.assert_array_equal(found.ranges, whole.ranges[kept])
    assert found.times == pytest.approx(whole.times[kept], abs=2e-6)
    mixed = [rows[k] for k in (0, 2, 1, 3, 3)]
    found, notes = read(tmp_path, mixed, times)
    assert notes == ["1 data packets came in another order than they were sent", "1 data packets came twice"]
    np.testing.assert_array_equal(found.ranges, whole.ranges[:768])
    with pytest.raises(InputError, match=r"holds packets of a Hesai that is not known \(they begin ee ff 09"):
        read(tmp_path, [rows[0][:2] + b"\x09" + rows[0][3:]], times[:1])


@pytest.mark.parametrize(("name", "leaves_us"), [("xt32", 50.0 + 5.632), ("pandar64", 500 / 9 - 500 / 9 - 42.58)])
@pytest.mark.parametrize(
    ("late_s", "believed"), [(0.0, True), (3.999, True), (4.001, False), (-3.999, True), (-4.001, False)]
)
def test_a_clock_that_is_four_seconds_off_is_another(
    few: Callable[[str], Packets], tmp_path: Path, name: str, leaves_us: float, late_s: float, believed: bool
) -> None:
    """The stamp of a packet is that of its last block; it leaves when that cycle has ended."""
    packets = few(name)
    stamps = decode_hesai(packets.payloads).stamp_us
    times = [round((stamp * 1e-6 + leaves_us * 1e-6 + late_s) * 1e9) for stamp in stamps.tolist()]
    found, notes = read(tmp_path, [payload.tobytes() for payload in packets.payloads], times)
    own = decode_hesai(packets.payloads).times(load_sensor(name)).ravel()
    order = np.sort(own)
    assert notes == [] and np.sort(found.times) == pytest.approx(order + (0.0 if believed else late_s), abs=3e-6)
    assert own.min() == pytest.approx(EPOCH + 0.1, abs=60e-6)


def test_dates_of_each_model_count_from_their_year(few: Callable[[str], Packets]) -> None:
    """A Pandar64 from 2000 on, others from 1900; the 31st of a month without one is no date."""
    for name, year in (("xt32", 1900), ("pandar64", 2000)):
        payloads = few(name).payloads
        model = hesai_model(payloads[0])
        assert model is not None and model.year == year
        record = payloads.reshape(-1).view(model.packet)
        record["date"] = [2023 - year, 11, 14, 22, 13, 20]
        record["stamp"] = [0, 1, 999_999, 5, 6]
        wanted = [1_700_000_000_000_000 + stamp for stamp in (0, 1, 999_999, 5, 6)]
        assert decode_hesai(payloads).stamp_us.tolist() == wanted
        record["date"][3:] = [2023 - year, 11, 14, 22, 13, 21]
        assert decode_hesai(payloads).stamp_us.tolist() == [*wanted[:3], *(w + 1_000_000 for w in wanted[3:])]
        record["date"] = [2023 - year, 13, 14, 22, 13, 20]
        with pytest.raises(InputError, match="must have a date and a time"):
            decode_hesai(payloads)


def test_numbers_that_are_missing_between_the_first_and_the_last(few: Callable[[str], Packets]) -> None:
    raw = decode_hesai(few("xt32").payloads)
    assert raw.sequence is not None and raw.sequence.tolist() == [1, 2, 3, 4, 5]
    for rows, lost in (([0, 1, 2, 3, 4], 0), ([0, 4], 3), ([4, 0, 2], 2), ([2], 0), ([1, 1, 3], 1), ([], 0)):
        assert raw.select(np.array(rows, np.int64)).lost == lost
    assert decode_hesai(few("pandar64").payloads).lost == 0, "they are not counted"
    assert [MODELS[name].packet.itemsize for name in MODELS] == [1080, 1194, 1095, 839]


def test_a_sensor_of_ones_own_may_fire_all_lasers_at_once(few: Callable[[str], Packets]) -> None:
    """Without times of firing, and without azimuths of their own."""
    sensor = load_sensor("xt32").with_(**{"pattern.firing_us": [], "pattern.azimuth_deg": []})
    assert isinstance(sensor.pattern, SpinningPattern)
    lasers = _lasers(sensor.pattern, MODELS["pandar-xt32"])
    assert not lasers.fires_us.any() and not lasers.azimuth.any() and lasers.number.tolist() == [list(range(32))]
    late = _lasers(sensor.pattern, MODELS["pandar-xt32"]._replace(block_us=3.0))
    assert (late.fires_us == -3.0).all()
    raw = decode_hesai(few("xt32").payloads[:1])
    times, ways = raw.times(sensor), raw.directions(sensor)
    assert np.ptp(times, axis=2).max() == 0 and np.diff(times[0, :, 0]) == pytest.approx(50e-6, abs=3e-7)
    azimuth = np.arctan2(ways[0, :, :, 1], ways[0, :, :, 0])
    assert azimuth == pytest.approx(np.repeat(-np.deg2rad(raw.azimuth[0] * 0.01)[:, None], 32, 1), abs=1e-12)
    assert raw.fires(sensor).all()


def test_ranges_and_reflectivities_at_the_limits_of_their_fields() -> None:
    """Steps of 4 mm, from 1 to 65535, rounded; what does not fit is no return, and has no reflectivity either."""
    sensor = load_sensor("xt32")
    frame = made_frame(sensor, 0, share=1.0).select(slice(0, 8))
    reach = np.array([0.0, 0.0019, 0.0021, 0.0059, 262.14, 262.1415, 262.1445, 1e6], np.float32)
    bright = np.array([0.5, 0.5, 0.004, 0.0051, 2.549, 9.0, 0.5, 0.5], np.float32)
    raw = decode_hesai(HesaiEncoder(sensor).encode(replace(frame, range=reach, intensity=bright))["data"].payloads[:1])
    place = frame.laser.astype(int)
    assert raw.distance[0, 0, place, 0].tolist() == [0, 0, 1, 1, 65535, 65535, 0, 0]
    assert raw.reflectivity[0, 0, place, 0].tolist() == [0, 0, 0, 1, 255, 255, 0, 0]
    assert np.count_nonzero(raw.distance) == 4 and np.count_nonzero(raw.reflectivity) == 3


@pytest.mark.parametrize("name", MODELS)
def test_which_bytes_of_a_header_tell_a_model(name: str) -> None:
    """A Pandar64's: flag, lasers, blocks and the step of 4 mm; of others the version too, and what is reserved is passed over."""
    model = MODELS[name]
    told = [0, 1, 2, 3, 5] if name == "pandar-64" else [0, 1, 2, 3, 6, 7, 9]
    packet = np.zeros(model.packet.itemsize, np.uint8)
    head = np.frombuffer(model.head("strongest"), np.uint8)
    packet[: len(head)] = head
    for at in range(len(head) if name == "pandar-64" else 11):
        other = packet.copy()
        other[at] ^= 0x40
        found = hesai_model(other)
        assert (found is None) == (at in told), at
