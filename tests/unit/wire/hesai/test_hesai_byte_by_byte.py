"""Hesai's packets with functional safety byte by byte, where channels look and when, turns, and what is missing."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from made_captures import crc32_of_mpeg2
from made_frames import made_frame
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.wire.hesai import encode
from tussock.wire.hesai.decode import decode_hesai, hesai_model
from tussock.wire.hesai.encode import HesaiEncoder, _dates
from tussock.wire.hesai.firings import _along, _in_order, _lasers, _places, _sensor, hesai_datagrams
from tussock.wire.hesai.models import MODELS, mode_of, model_of
from tussock.wire.packets import Packets

EPOCH = datetime(2023, 12, 31, 23, 59, 59, 950_000, UTC).timestamp()


def sent(monkeypatch: pytest.MonkeyPatch, sensor: Sensor, frames: list[Any], *, epoch: float = EPOCH) -> Packets:
    monkeypatch.setattr(encode, "mpeg_crc32", crc32_of_mpeg2)
    encoder = HesaiEncoder(sensor, epoch=epoch)
    return Packets.joined([*(encoder.encode(frame)["data"] for frame in frames), encoder.flush()["data"]])


def checked(data: bytes) -> bytes:
    return crc32_of_mpeg2(np.frombuffer(data, np.uint8)[None]).astype("<u4").tobytes()


@pytest.mark.parametrize("mode", ["strongest", "first", "strongest+last"])
def test_a_qt128_byte_by_byte(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """Two blocks: of two cycles, which take turns, or of one with the last return first."""
    sensor = load_sensor("qt128").with_(**{"receiver.mode": mode})
    dual = "+" in mode
    frame = made_frame(sensor, 1, returns="dual" if dual else mode, share=0.003)  # type: ignore[arg-type]
    packets = sent(monkeypatch, sensor, [frame])
    for number in (0, 7):
        packet = packets.payloads[number].tobytes()
        flags = MODELS["qt128"].flags
        assert len(packet) == 1095 and packet[:12] == bytes([0xEE, 0xFF, 3, 2, 0, 0, 128, 2, dual, 4, 1 + dual, flags])
        assert packet[1040:1044] == checked(packet[12:1040])
        assert packet[1044:1057] == bytes([1, 0x20]) + bytes(11) and packet[1057:1061] == checked(packet[1045:1057])
        assert packet[1061:1066] == bytes(5) and packet[1067:1073] == bytes(6)
        cycle = (1 if dual else 2) * number + sensor.pattern.cycles(1).start
        assert packet[1066] == (cycle % 2 == 0)
        byte = {"strongest": 0x37, "first": 0x33, "strongest+last": 0x39}[mode]
        assert packet[1073] == byte and struct.unpack_from("<H", packet, 1074) == (round(sensor.rotation_hz * 60),)
        last = (cycle + (0 if dual else 1)) * float(sensor.pattern.cycle)
        micro = round(EPOCH * 1e6) + int(np.floor(last * 1e6 - 9.0 + 0.5))
        when = datetime.fromtimestamp(micro // 1_000_000, UTC)
        date = [when.year - 1900, when.month, when.day, when.hour, when.minute, when.second]
        assert list(packet[1076:1082]) == date and struct.unpack_from("<I", packet, 1082) == (micro % 1_000_000,)
        assert packet[1086] == 0x42 and struct.unpack_from("<I", packet, 1087) == (number + 1,)
        assert packet[1091:] == checked(packet[1061:1091])


@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
def test_a_pandar128_byte_by_byte(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    """Which turn each block is of stands in the highest bits of two bytes: 15 and 14, 13 and 12."""
    sensor = load_sensor("pandar128").with_(**{"receiver.mode": mode})
    dual = "+" in mode
    frame = made_frame(sensor, 0, returns="dual" if dual else mode, share=0.003)  # type: ignore[arg-type]
    packets = sent(monkeypatch, sensor, [frame])
    turns = len(sensor.pattern.order)
    for number in (0, 1, 8):
        packet = packets.payloads[number].tobytes()
        assert len(packet) == 839 and packet[:12] == bytes(
            [0xEE, 0xFF, 1, 4, 0, 0, 128, 2, dual, 4, 1 + dual, MODELS["pandar-128"].flags]
        )
        assert packet[784:788] == checked(packet[12:784]) and packet[788:801] == bytes([0, 0x20]) + bytes(11)
        assert packet[801:805] == checked(packet[789:793]) and packet[805:814] == bytes(9)
        cycle = (1 if dual else 2) * number
        blocks = [cycle, cycle] if dual else [cycle, cycle + 1]
        (state,) = struct.unpack_from("<H", packet, 814)
        assert [state >> 14 & 3, state >> 12 & 3, state & 0xFFF] == [block % turns for block in blocks] + [0]
        assert packet[816] == 2 and packet[835:] == checked(packet[805:835])
        for k, block in enumerate(blocks):
            azimuth = block * float(sensor.pattern.cycle) * sensor.rotation_hz * 36000
            assert abs(struct.unpack_from("<H", packet, 12 + 386 * k)[0] - azimuth) <= 0.51
    raw = decode_hesai(packets.payloads[:12])
    assert raw.turn[:3].tolist() == [
        [(k * (1 if dual else 2) + j) % turns for j in range(1 if dual else 2)] for k in range(3)
    ]
    assert raw.lost == 0 and raw.damaged == 0
    few = raw.select(np.array([0, 1, 4, 9]))
    assert few.lost == 6 and len(few.stamp_us) == 4 and few.distance.shape[0] == 4
    assert np.diff(raw.stamp_us) == pytest.approx(float(sensor.pattern.cycle) * 1e6 * (1 if dual else 2), abs=1.01)


@pytest.mark.parametrize(("start", "first"), [(0.0, 0), (0.004, 0), (0.006, 35999), (90.0, 27000), (-10.0, 1000)])
def test_an_azimuth_of_a_hesai_is_never_a_whole_turn(monkeypatch: pytest.MonkeyPatch, start: float, first: int) -> None:
    sensor = load_sensor("xt32").with_(**{"pattern.start_deg": start})
    raw = decode_hesai(sent(monkeypatch, sensor, [made_frame(sensor, 0, share=0.001)]).payloads)
    assert raw.azimuth[0, 0] == first and raw.azimuth.max() <= 35999


def test_where_and_when_channels_fire(monkeypatch: pytest.MonkeyPatch) -> None:
    """azimuth of the block + offset of the channel + rotation until it fires; the packet's time is that of its last block."""
    sensor = load_sensor("pandar64")
    pattern = sensor.pattern
    raw = decode_hesai(sent(monkeypatch, sensor, [made_frame(sensor, 0, share=0.001)]).payloads[:3])
    model = MODELS["pandar-64"]
    times, ways, fires = raw.times(sensor), raw.directions(sensor), raw.fires(sensor)
    assert times.shape == (3, 6, 64) and fires.all()
    for packet, cycle, laser in ((0, 0, 0), (1, 5, 63), (2, 3, 17)):
        late = pattern.order[0].firing_us[laser]
        block = raw.stamp_us[packet] - model.stamp_us - (5 - cycle) * float(pattern.cycle) * 1e6
        assert times[packet, cycle, laser] * 1e6 == pytest.approx(block - model.block_us + late, abs=0.6)
        turned = np.deg2rad(
            raw.azimuth[packet, cycle] * 0.01 + 360 * pattern.rotation_hz * (late - model.block_us) * 1e-6
        )
        azimuth = -turned + np.deg2rad(pattern.azimuth_deg[laser])
        rise = np.deg2rad(pattern.elevation_deg[laser])
        wanted = [np.cos(rise) * np.cos(azimuth), np.cos(rise) * np.sin(azimuth), np.sin(rise)]
        assert ways[packet, cycle, laser] == pytest.approx(wanted, abs=1e-12)
    laser, slot = 9, 0
    hit = np.argwhere(raw.distance[:, :, laser, slot] > 0)
    for packet, cycle in hit[:3]:
        reach = raw.distance[packet, cycle, laser, slot] * 0.004
        assert raw.xyz(sensor)[packet, cycle, laser, slot] == pytest.approx(ways[packet, cycle, laser] * reach)


def test_lasers_that_rest_fire_in_other_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    sensor = load_sensor("pandar128")
    pattern, model = sensor.pattern, MODELS["pandar-128"]
    lasers = _lasers(pattern, model)
    raw = decode_hesai(sent(monkeypatch, sensor, [made_frame(sensor, 0, share=0.001)]).payloads[:4])
    for row, turn in enumerate(pattern.order):
        resting = set(turn.resting)
        fired = lasers.number[row, : lasers.many[row]].tolist()
        assert lasers.many[row] == 128 - len(resting) and set(fired) == set(range(128)) - resting
        assert lasers.fires_us[row, : lasers.many[row]].tolist() == sorted(turn.firing_us[k] for k in fired)
        rank = np.argsort(np.argsort(pattern.elevation_deg, kind="stable"))
        assert lasers.ring[row].tolist() == rank[lasers.number[row]].tolist()
        packet, cycle = np.argwhere(raw.turn == row)[0]
        assert set(np.flatnonzero(raw.fires(sensor)[packet, cycle]).tolist()) == set(fired)
    assert _places(raw).shape == (2, 128, 1) and _places(raw)[1, 5, 0] == 12 + 386 + 2 + 15


def along(azimuth: np.ndarray, cycle_us: float = 50.0, *, gap: int | None = None) -> Any:
    """Packets of some cycles at a time; before one of them the recording rests for 20 ms."""
    count, cycles = azimuth.shape
    when = np.arange(count * cycles, dtype=float).reshape(count, cycles) * cycle_us
    if gap is not None:
        when[gap:] += 20_000
    return _along(SimpleNamespace(azimuth=azimuth.astype(np.uint16)), when, cycle_us)  # type: ignore[arg-type]


@pytest.mark.parametrize("cycles", [1, 4])
@pytest.mark.parametrize("sense", [1, -1])
def test_how_fast_the_rotor_turned(cycles: int, sense: int) -> None:
    """18 steps of 0.01° a cycle of 50 µs, from 359° on: by some packets to either side, over the ends of revolutions."""
    azimuth = (35_900 + sense * 18 * np.arange(2400)) % 36_000
    found = along(azimuth.reshape(-1, cycles))
    assert found.rate == pytest.approx(sense * 18 / 50, abs=1e-9) and found.rate.shape == (2400 // cycles,)
    assert found.turns.ravel().tolist() == (18 * np.arange(2400) // 36_000).tolist()
    slower = np.cumsum(np.where(np.arange(2400) < 1200, 18, 9)) % 36_000
    rate = along(slower.reshape(-1, cycles)).rate * 50
    assert rate[0] == pytest.approx(18) and rate[-1] == pytest.approx(9)
    # 4 ms to either side: 80 cycles.
    changing = np.flatnonzero((rate > 9.001) & (rate < 17.999)) * cycles
    assert changing.min() == pytest.approx(1120, abs=2 * cycles) and changing.max() == pytest.approx(
        1280, abs=2 * cycles
    )


def test_a_rate_is_not_taken_over_a_gap() -> None:
    azimuth = np.concatenate([18 * np.arange(400), 20_000 + 9 * np.arange(400)]) % 36_000
    found = along(azimuth.reshape(-1, 4), gap=100)
    assert found.rate[:100] * 50 == pytest.approx(18) and found.rate[100:] * 50 == pytest.approx(9)
    alone = along(azimuth[:4].reshape(1, 4))
    assert alone.rate.tolist() == [pytest.approx(0.36)] and alone.turns.tolist() == [[0] * 4]
    assert along(azimuth[:1].reshape(1, 1)).rate == pytest.approx(0.36), "as fast as most do, ten times a second"


def test_packets_of_a_clock_that_was_set_keep_their_order() -> None:
    """A step of more than a second is one of the clock; up to that, packets were mixed up."""

    class Stamped:
        damaged, sequence = 0, None

        def __init__(self, stamps: list[int]) -> None:
            self.stamp_us = np.array(stamps)

        def select(self, rows: np.ndarray) -> Stamped:
            return Stamped(self.stamp_us[rows].tolist())

    def ordered(stamps: list[int]) -> tuple[list[int], list[str]]:
        notes: list[str] = []
        raw = np.arange(len(stamps), dtype=np.uint8)[:, None]
        packets, _, _ = _in_order(
            Stamped(stamps), np.arange(len(stamps)) * 1.0, raw, SimpleNamespace(path="a"), notes.append
        )  # type: ignore[arg-type]
        return packets.stamp_us.tolist(), notes

    assert ordered([5_000_000, 5_000_500, 3_000_000, 3_000_500])[0] == [5_000_000, 5_000_500, 3_000_000, 3_000_500]
    assert ordered([2_000_000, 1_000_000, 1_500_000])[0] == [1_000_000, 1_500_000, 2_000_000]
    assert ordered([2_000_001, 1_000_000, 1_500_000])[0] == [2_000_001, 1_000_000, 1_500_000]
    assert ordered([10, 20, 20, 30])[0] == [10, 20, 20, 30], "two of one stamp that differ"


def test_dates_of_a_turn_of_the_year() -> None:
    seconds = np.array(
        [datetime(2023, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp(), datetime(2024, 1, 1, tzinfo=UTC).timestamp()] * 2
    )
    assert _dates(seconds.astype(np.int64), 1900).tolist() == [[123, 12, 31, 23, 59, 59], [124, 1, 1, 0, 0, 0]] * 2


def test_which_model_a_packet_is_of() -> None:
    for model in MODELS.values():
        head = np.frombuffer(model.head("strongest"), np.uint8)
        packet = np.zeros(model.packet.itemsize, np.uint8)
        packet[: len(head)] = head
        found = hesai_model(packet)
        assert found is not None and found.name == model.name and hesai_model(packet[:-1]) is None
        assert hesai_model(np.append(packet, 0)).name == model.name, "what follows is a signature"  # type: ignore[union-attr]
        for at in model.known_head():
            other = packet.copy()
            other[at] ^= 0x40
            assert hesai_model(other) is None, (model.name, at)
        assert hesai_model(packet[:5]) is None
        assert _sensor(model, None).packets == model.name
        with pytest.raises(InputError, match="must send the packets of a"):
            _sensor(model, load_sensor("vlp-16"))


@pytest.mark.parametrize(("mode", "cycles"), [("strongest", 8), ("dual", 4)])
def test_a_model_with_other_settings(mode: str, cycles: int) -> None:
    """Flags: 1 a number, 2 inertial readings of 22 bytes, 4 functional safety, 16 a fourth byte a channel."""
    xt32, pandar128 = MODELS["pandar-xt32"], MODELS["pandar-128"]
    assert xt32.cycles(mode) == cycles and xt32.packet.itemsize == 1080  # type: ignore[arg-type]
    sizes = {flags: pandar128.with_flags(flags).packet.itemsize for flags in (0, 1, 4, 5, 7, 21)}
    assert sizes == {0: 839 - 4 - 17, 1: 839 - 17, 4: 835, 5: 839, 7: 861, 21: 839 + 256}
    assert (
        not pandar128.has_own_order(64) and MODELS["qt128"].has_own_order(64) and not MODELS["qt128"].has_own_order(63)
    )
    assert MODELS["pandar-64"].with_flags(7) is MODELS["pandar-64"] and xt32.with_flags(0).packet.itemsize == 1076
    names = pandar128.with_flags(7).packet.names
    assert names[-3:] == ("sequence", "imu", "crc_tail") and xt32.with_flags(3).packet.names[-1] == "imu"


def test_the_shortest_packet_of_any_setting_is_a_packet() -> None:
    """A Pandar128 without number and safety."""
    short = MODELS["pandar-128"].with_flags(0).packet.itemsize
    sizes = np.array([short - 1, short, 1194])
    found = SimpleNamespace(size=sizes, begins=lambda flag: np.ones(3, bool), select=lambda rows: sizes[rows].tolist())
    assert hesai_datagrams(found) == [short, 1194]  # type: ignore[arg-type]


def test_which_sensors_have_packets() -> None:
    assert mode_of(load_sensor("qt128").with_(**{"receiver.mode": "first"})) == "first"
    assert model_of(load_sensor("xt32")).name == "pandar-xt32"
    frame = made_frame(load_sensor("xt32"), 0, share=0.001)
    odd = replace(frame, meta=frame.meta | {"pulses": frame.pulses - 32})
    with pytest.raises(InputError, match="pulses instead of"):
        HesaiEncoder(load_sensor("xt32")).encode(odd)
