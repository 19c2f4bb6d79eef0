"""Packets of a Velodyne put in order, told apart and timed, without computing a single pulse: what their headers say."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from made_captures import Record, Sent, frames_of, pcap, records_of
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.read_firings import firings_in_parts, read_firings
from tussock.wire.velodyne.firings import _cycles, _lasers
from tussock.wire.velodyne.models import MODELS
from tussock.wire.velodyne.packet_stream import PacketStream, order_packets, stream_of
from tussock.wire.velodyne.recognise import (
    check_timing,
    nearest_timing,
    no_model,
    recognise_bytes,
    recognise_mode,
    sensor_named,
)

HDL = 552.96
"""[µs] from packet to packet of an HDL-32E: twelve cycles of 46.08 µs"""
FIRST, HOUR = 1000.0, 3_600_000_000
HUNDREDTHS = 46.08e-6 * 10 * 36000
"""[0.01°] that the head turns in a cycle, ten times a second"""


def packet(stamp: int, azimuths: list[float], *, factory: bytes = b"\x37\x21", flag: bytes = b"\xff\xee") -> bytes:
    blocks = b"".join(flag + struct.pack("<H", round(azimuth) % 36000) + bytes(96) for azimuth in azimuths)
    return blocks + struct.pack("<I", stamp % HOUR) + factory


def row(number: int, *, step: float = HUNDREDTHS, begin: float = 0.0, start_us: float = 0.0, **how: bytes) -> bytes:
    """The packet of an HDL-32E with this place in its stream."""
    azimuths = [begin + (12 * number + k) * step for k in range(12)]
    return packet(round(start_us + number * HDL), azimuths, **how)


def stream(
    rows: list[bytes], recorded: list[float] | None = None, model: str | None = None
) -> tuple[PacketStream, list[str]]:
    notes: list[str] = []
    when = FIRST + HDL * 1e-6 * np.arange(len(rows)) if recorded is None else np.array(recorded)
    payloads = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    found = order_packets(Path("a"), payloads, when, model=model, say=notes.append)
    return found, [note.removeprefix("a: ") for note in notes]


def test_a_stream_as_it_was_sent() -> None:
    found, notes = stream([row(k) for k in range(20)])
    assert (
        notes == []
        and len(found) == 20
        and (found.model.name, found.mode, found.name) == ("hdl-32e", "strongest", "hdl-32e")
    )
    assert found.stamps.tolist() == [round(k * HDL) for k in range(20)] and found.numbers.tolist() == list(range(20))
    assert found.interval_us == pytest.approx(HDL, abs=0.06) and found.follows.all() and not found.late_us.any()
    assert found.recorded == pytest.approx(FIRST + HDL * 1e-6 * np.arange(20), abs=1e-12)
    assert found.calibration.elevation == pytest.approx(np.deg2rad(load_sensor("hdl-32e").pattern.elevation_deg))


def test_packets_are_put_in_order_and_doubles_are_left_out() -> None:
    order = [0, 2, 1, 3, 3, 5, 4, 6, 7, 9, 10, 11]
    found, notes = stream([row(k) for k in order])
    assert notes == [
        "1 packets were recorded twice", "2 packets came out of order and are put in order", "1 packets are missing, of 12",
    ]  # fmt: skip
    kept = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11]
    assert found.stamps.tolist() == [round(k * HDL) for k in kept] and found.numbers.tolist() == kept
    assert np.flatnonzero(~found.follows).tolist() == [8]
    came = [0, 2, 1, 3, 6, 5, 7, 8, 9, 10, 11]
    assert found.recorded == pytest.approx(FIRST + HDL * 1e-6 * np.array(came), abs=1e-12)
    # Two of one stamp that differ are two.
    other = row(3)[:4] + b"\x01" + row(3)[5:]
    assert len(stream([row(0), row(1), row(2), row(3), other, row(4)])[0]) == 6


def test_stamps_go_on_where_the_hour_ends() -> None:
    start = HOUR - 3 * HDL
    found, notes = stream([row(k, start_us=start) for k in range(8)])
    assert notes == [] and found.stamps.tolist() == [round(start + k * HDL) for k in range(8)]
    back, notes = stream([row(k, start_us=start) for k in (0, 1, 2, 4, 3, 5, 6, 7)])
    assert (
        notes == ["1 packets came out of order and are put in order"] and back.stamps.tolist() == found.stamps.tolist()
    )


@pytest.mark.parametrize(
    ("ahead_us", "waited_s", "jumps"),
    [
        (1_000_000, 0.0, 0),  # to a second packets are mixed up or missing
        (1_000_001, 0.0, 1),
        (-1_000_001, 0.0, 1),
        (5_000_000, 5.0, 0),  # both clocks know of a pause
        (5_000_000, 4.5, 0),
        (5_000_000, 5.5, 0),
        (5_000_000, 4.4999, 1),
        (5_000_000, 5.5001, 1),
    ],
)
def test_a_clock_that_was_set_is_told_from_a_pause(ahead_us: int, waited_s: float, jumps: int) -> None:
    """Between packets nine and ten the stamp leaps, and the recorder waits."""
    begin = HOUR // 2
    rows = [row(k, start_us=begin) for k in range(10)]
    last = begin + round(9 * HDL)
    rows += [
        packet(last + ahead_us + round(k * HDL), [(12 * (10 + k) + j) * HUNDREDTHS for j in range(12)])
        for k in range(10)
    ]
    recorded = [FIRST + k * HDL * 1e-6 for k in range(10)]
    recorded += [recorded[-1] + waited_s + k * HDL * 1e-6 for k in range(10)]
    found, notes = stream(rows, recorded)
    assert ("1 times the sensor's clock jumped" in notes) == bool(jumps)
    stamps = found.stamps - found.stamps[0]
    if jumps:
        # After it the stream goes on by one packet, and none is taken for lost.
        assert stamps[10] == pytest.approx(10 * HDL, abs=1.0) and stamps[19] == pytest.approx(19 * HDL, abs=1.6)
        assert not any("missing" in note for note in notes)
    else:
        assert stamps[10] == round(9 * HDL) + ahead_us
        assert any("packets are missing" in note for note in notes)


def test_packets_with_other_blocks_are_left_out() -> None:
    rows = [row(k) for k in range(12)]
    rows[4] = row(4, flag=b"\xff\xdd")
    found, notes = stream(rows)
    assert notes == ["1 packets do not have the blocks of a hdl-32e and are left out", "1 packets are missing, of 12"]
    assert found.numbers.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]
    with pytest.raises(InputError, match="a: its blocks are not those of a hdl-32e in mode strongest; name another"):
        stream([row(k, flag=b"\xff\xdd") for k in range(12)])


def test_one_packet_has_the_times_of_its_model() -> None:
    found, notes = stream([row(7)])
    assert notes == [] and found.interval_us == pytest.approx(HDL) and found.numbers.tolist() == [0]
    two, _ = stream([row(7), row(8)])
    assert two.interval_us == pytest.approx(HDL)


@pytest.mark.parametrize(("share", "fits"), [(1.049, True), (1.051, False), (0.951, True), (0.949, False)])
def test_times_within_a_twentieth_are_those_of_a_model(share: float, fits: bool) -> None:
    sensor, notes = load_sensor("hdl-32e"), []
    for named in (False, True):
        if fits or named:
            check_timing(Path("a"), sensor, "strongest", share * HDL, named=named, say=notes.append)
        else:
            with pytest.raises(
                InputError, match="contradict each other: packets of a hdl-32e in mode strongest leave every 553 µs"
            ):
                check_timing(Path("a"), sensor, "strongest", share * HDL, named=named, say=notes.append)
    assert len(notes) == (0 if fits else 1)
    notes.clear()
    check_timing(Path("a"), sensor, "dual", 1327.104, named=True, say=notes.append)
    assert notes == [
        "a: packets of a hdl-32e in mode dual leave every 276 µs, but these every 1327 µs, as those of a vlp-16 in mode "
        "strongest or last or a puck-hi-res in mode strongest or last do; read as a hdl-32e, as told"
    ]
    check_timing(Path("a"), sensor, "dual", 9000.0, named=True, say=notes.append)
    assert "as those of no known model do" in notes[1]


@pytest.mark.parametrize(
    ("byte", "name"),
    [(0x21, "hdl-32e"), (0x22, "vlp-16"), (0x23, "vlp-16"), (0x24, "puck-hi-res"), (0x28, "vlp-32c"), (0x63, "vls-128"), (0xA1, "vls-128")],
)  # fmt: skip
def test_models_by_their_byte(byte: int, name: str) -> None:
    factory = np.array([[0x37, byte], [0x38, byte]], np.uint8)
    assert recognise_bytes(Path("a"), factory) is MODELS[name]
    for odd in ([0x36, byte], [0x3A, byte], [0x37, 0x20], [0x37, 0x25]):
        assert recognise_bytes(Path("a"), np.array([[0x37, byte], odd], np.uint8)) is None
    # A Puck LITE among VLP-16 is of the same model, anything else is not.
    other = np.array([[0x37, byte], [0x37, 0x23]], np.uint8)
    if name == "vlp-16":
        assert recognise_bytes(Path("a"), other) is MODELS[name]
    else:
        with pytest.raises(InputError, match=r"a: must be of one sensor, got '.*vlp-16.*'; separate them first"):
            recognise_bytes(Path("a"), other)


def test_why_no_model_is_known() -> None:
    good, mode, model = [0x37, 0x22], [0x11, 0x22], [0x39, 0x77]
    assert "factory bytes of packet 1: the first, return mode, must be 37, 38 or 39, got 11 22" in str(
        no_model(Path("a"), np.array([good, mode, model], np.uint8))
    )
    said = str(no_model(Path("a"), np.array([good, good, model, mode], np.uint8)))
    assert (
        "factory bytes of packet 2: the second must be 21 hdl-32e, 22 vlp-16, 23 vlp-16, 24 puck-hi-res, 28 vlp-32c, 63 vls-128, a1 vls-128, got 39 77"
        in said
    )


def test_modes_by_their_byte() -> None:
    for byte, mode in ((b"\x37", "strongest"), (b"\x38", "last"), (b"\x39", "dual")):
        rows = np.frombuffer(b"".join(row(k, factory=byte + b"\x21") for k in range(3)), np.uint8).reshape(3, -1)
        packets = rows.view(stream([row(0)])[0].packets.dtype)[:, 0]
        assert recognise_mode(Path("a"), MODELS["hdl-32e"], packets) == mode
    with pytest.raises(
        InputError, match="a: the return mode changes from strongest to last at packet 2; cut the capture"
    ):
        stream([row(k, factory=(b"\x37\x21", b"\x38\x21")[k >= 2]) for k in range(5)])


@pytest.mark.parametrize(("pairs", "mode"), [(12, "dual"), (7, "dual"), (6, "strongest"), (0, "strongest")])
def test_the_mode_of_an_hdl_64e_by_azimuths_that_come_in_pairs(pairs: int, mode: str) -> None:
    """Four blocks of a cycle in dual mode have one azimuth; of one return two have it, whatever a few packets say."""
    flags = (b"\xff\xee", b"\xff\xdd")
    rows = []
    for k in range(12):
        step = 4 if k < pairs else 2
        rows.append(
            b"".join(flags[j % 2] + struct.pack("<H", 100 * k + j // step * 9) + bytes(96) for j in range(12))
            + bytes(6)
        )
    packets = np.frombuffer(b"".join(rows), np.uint8).reshape(12, -1).view(stream([row(0)])[0].packets.dtype)[:, 0]
    assert recognise_mode(Path("a"), MODELS["hdl-64e-s3"], packets) == mode
    still = packets.copy()
    still["blocks"]["azimuth"] = 5
    assert recognise_mode(Path("a"), MODELS["hdl-64e-s3"], still) == "strongest", "a head that stands tells nothing"


def test_names_that_people_call_models_by() -> None:
    for text, own, model in (
        ("VLP 16", "vlp-16", "vlp-16"), ("vlp_32a", "vlp-32a", "vlp-32c"), ("HDL64E-S1", "hdl-64e-s1", "hdl-64e-s2"),
        ("Puck Lite", "puck-lite", "vlp-16"), ("alphaprime", "alpha-prime", "vls-128"),
    ):  # fmt: skip
        kind, sensor, name = sensor_named(text)
        assert (name, kind.name, sensor.packets) == (own, model, model)
    with pytest.raises(InputError, match="model 'vlp-17': no such model; did you mean 'vlp-16'"):
        sensor_named("vlp-17")


def test_what_a_capture_holds_beside_data_packets(tmp_path: Path) -> None:
    rows = [row(k) for k in range(6)]
    sents = [Sent(payload, 10**18 + round(k * HDL) * 1000) for k, payload in enumerate(rows)]

    def told(records: list[Record]) -> list[str]:
        (tmp_path / "a.pcap").write_bytes(pcap(records, nano=True))
        notes: list[str] = []
        found = stream_of(read_datagrams(tmp_path / "a.pcap"), say=notes.append)
        return [f"{len(found)}", *(note.partition("a.pcap: ")[2] for note in notes)]

    assert told(records_of(sents)) == ["6"]
    short = [Sent(rows[3][:1205], sents[3].time_ns), Sent(rows[4] + b"x", sents[4].time_ns), Sent(b"\xff\xef" * 603, 5)]
    assert told(records_of([*sents[:3], *short[:2], sents[5]])) == [
        "4", "2 of 6 data packets do not have 1206 bytes and are left out", "2 packets are missing, of 6",
    ]  # fmt: skip
    with pytest.raises(
        InputError, match="must hold Velodyne packets of 1206 bytes, but holds only 2 of 1205 or 1207 bytes"
    ):
        told(records_of(short[:2]))
    with pytest.raises(InputError, match="but holds only 1 other datagrams"):
        told(records_of(short[2:]))
    with pytest.raises(InputError, match="but holds none"):
        told([])
    cut = [Record(frames_of(sents[0])[0], 5, recorded=300)]
    with pytest.raises(InputError, match="but holds none; 1 datagrams were recorded in part and are left out"):
        told(cut)


def heads(found: PacketStream) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    cycles = _cycles(found)
    return np.rad2deg(-cycles.head) * 100, cycles.times, cycles.turns, np.rad2deg(-cycles.rate) * 100


@pytest.mark.parametrize("sense", [1, -1])
def test_where_the_head_is_in_each_cycle_and_when(sense: int) -> None:
    """Sixteen hundredths of a degree a cycle either way; a packet leaves 552.96 µs after its first firing."""
    found, notes = stream([row(k, step=16.0 * sense, begin=35_990.0) for k in range(400)])
    head, times, turns, rate = heads(found)
    flat = 35_990 + 16 * sense * np.arange(4800)
    assert notes == [] and head.ravel() % 36000 == pytest.approx(flat % 36000, abs=1e-6)
    assert rate == pytest.approx(sense * 16 / 46.08, rel=2e-4) and rate.shape == (400,)
    assert turns.ravel().tolist() == (16 * np.arange(4800) // 36000).tolist()
    wanted = FIRST - HDL * 1e-6 + 46.08e-6 * np.arange(4800)
    assert times.ravel() == pytest.approx(wanted, abs=2e-6)


def test_two_cycles_of_sixteen_lasers_share_a_block() -> None:
    """The azimuth is that of the first; the second is 55.296 µs later."""
    rows = [
        packet(round(k * 1327.104), [40.0 * (12 * k + j) for j in range(12)], factory=b"\x38\x22") for k in range(30)
    ]
    found, _ = stream(rows, [FIRST + k * 1327.104e-6 for k in range(30)])
    head, times, turns, rate = heads(found)
    assert found.mode == "last" and head.shape == (30, 24)
    assert head.ravel() == pytest.approx(20.0 * np.arange(720), abs=0.02) and rate == pytest.approx(
        20 / 55.296, rel=1e-3
    )
    assert np.diff(times.ravel()) == pytest.approx(55.296e-6, abs=1e-6) and not turns.any()


def test_how_fast_the_head_turns_is_taken_from_two_milliseconds_to_either_side() -> None:
    """Four packets; and never over a packet that is missing, where the head may have changed its pace."""
    slow = [packet(round(k * HDL), [12.0 * (12 * k + j) for j in range(12)]) for k in range(20)]
    fast = [packet(round(k * HDL), [12.0 * 240 + 18.0 * (12 * (k - 20) + j) for j in range(12)]) for k in range(20, 40)]
    rate = heads(stream(slow + fast)[0])[3] * 46.08
    assert rate[:16] == pytest.approx(12, rel=1e-3) and rate[24:] == pytest.approx(18, rel=1e-3)
    assert rate[16:25] == pytest.approx([12 + 6 * max(k, 0) / 8 for k in range(9)], rel=1e-3)
    kept = slow + fast[1:]
    rate = heads(stream(kept, [FIRST + k * HDL * 1e-6 for k in range(40) if k != 20])[0])[3] * 46.08
    assert rate[:20] == pytest.approx(12, rel=1e-3) and rate[20:] == pytest.approx(18, rel=1e-3)
    # A packet on its own has its own blocks, and one that stands still among none the usual ten turns a second.
    alone = heads(stream(slow[:1])[0])[3] * 46.08
    assert alone == pytest.approx([12.0], rel=1e-3)


def test_times_follow_the_recorders_clock_over_five_hundred_packets() -> None:
    """An offset for each window, and on a straight line between their middles; held still beyond them."""
    count = 1500
    late = np.repeat([0.0, 0.010, 0.030], 500)
    recorded = FIRST + HDL * 1e-6 * np.arange(count) + late
    recorded[::7] += 0.001  # of one in seven the recorder was busy
    found, _ = stream([row(k) for k in range(count)], recorded.tolist())
    times = heads(found)[1][:, 0] - (FIRST - HDL * 1e-6 + HDL * 1e-6 * np.arange(count))
    assert times[:240] == pytest.approx(0.0, abs=2e-6) and times[1260:] == pytest.approx(0.030, abs=2e-6)
    middles = np.array([249.5, 749.5, 1249.5])
    wanted = np.interp(np.arange(count), middles, [0.0, 0.010, 0.030])
    assert times == pytest.approx(wanted, abs=3e-6)
    short, _ = stream([row(k) for k in range(999)], (FIRST + HDL * 1e-6 * np.arange(999) + late[:999]).tolist())
    times = heads(short)[1][:, 0] - (FIRST - HDL * 1e-6 + HDL * 1e-6 * np.arange(999))
    assert np.ptp(times) < 3e-6, "fewer than a thousand are one window"


def test_lasers_in_the_order_of_firing() -> None:
    found, _ = stream([row(k) for k in range(4)])
    lasers, sensor = _lasers(found), load_sensor("hdl-32e")
    order = np.argsort(sensor.pattern.firing_us, kind="stable")
    assert lasers.many.tolist() == [32] and lasers.number[0].tolist() == order.tolist()
    assert lasers.fires_us[0].tolist() == sorted(sensor.pattern.firing_us)
    rise = np.deg2rad(sensor.pattern.elevation_deg)[order]
    assert lasers.level[0] == pytest.approx(np.cos(rise)) and lasers.rise[0] == pytest.approx(np.sin(rise))
    assert lasers.above[0] == pytest.approx(np.array(sensor.pattern.axis_height_m)[order]) and not lasers.back.any()
    assert lasers.ring[0].tolist() == np.argsort(np.argsort(rise, kind="stable"), kind="stable").tolist()


def test_a_packet_of_one_cycle_alone_turns_ten_times_a_second() -> None:
    """Nothing tells how fast: as most do. Of a VLS-128 in dual mode, whose packets hold one cycle each."""
    flags = [b"\xff\xee", b"\xff\xdd", b"\xff\xcc", b"\xff\xbb"]
    blocks = b"".join(flag + struct.pack("<H", 4321) + bytes(96) for flag in flags for _ in range(2)) + bytes(400)
    found, notes = stream([blocks + struct.pack("<I", 77) + b"\x39\xa1"])
    head, _, turns, rate = heads(found)
    assert notes == [] and (found.mode, found.model.name) == ("dual", "vls-128")
    assert rate.tolist() == [pytest.approx(0.36, abs=1e-9)] and turns.tolist() == [[0]]
    assert head.ravel() == pytest.approx([4321.0])
    assert found.stamps.tolist() == [77]


def test_of_sensors_whose_times_agree_to_a_per_cent_the_first_is_taken() -> None:
    first, second = load_sensor("hdl-32e"), load_sensor("hdl-32e").with_(**{"pattern.cycle_us": 46.08 * 1.004})
    for share in (0.9995, 1.0, 1.002, 1.004):
        assert nearest_timing([first, second], "strongest", share * HDL)[0] is first, share
        assert nearest_timing([second, first], "strongest", share * HDL)[0] is second, share
    far = load_sensor("hdl-32e").with_(**{"pattern.cycle_us": 46.08 * 1.02})
    assert nearest_timing([far, first], "strongest", HDL)[0] is first
    assert nearest_timing([first, far], "strongest", 1.02 * HDL)[0] is far


def test_a_capture_is_read_some_packets_at_a_time(tmp_path: Path) -> None:
    """Of a Velodyne; the parts are those of the whole."""
    path = tmp_path / "a.pcap"
    sents = [Sent(row(k), 10**18 + round(k * HDL) * 1000) for k in range(5)]
    path.write_bytes(pcap(records_of([*sents, Sent(b"\xff\xee" * 99, 10**18 + 9)]), nano=True))
    notes: list[str] = []
    whole = read_firings(path, say=notes.append)
    assert len(whole) == 5 * 384 and notes == [
        f"{path}: 1 of 6 data packets do not have 1206 bytes and are left out",
        f"{path}: 1 datagrams were recorded with a time before that of an earlier one",
    ]
    for packets, sizes in ((2, [2, 2, 1]), (5, [5]), (9, [5]), (1, [1] * 5)):
        for model in (None, "hdl-32e"):
            parts = list(firings_in_parts(path, packets=packets, model=model, say=lambda note: None))
            assert [len(part) for part in parts] == [384 * size for size in sizes]
            for name in ("times", "azimuths", "lasers", "turns"):
                assert np.array_equal(np.concatenate([getattr(part, name) for part in parts]), getattr(whole, name)), (
                    name
                )
    with pytest.raises(InputError, match="holds no packets of it"):
        list(firings_in_parts(path, packets=2, model="xt32", say=notes.append))


@pytest.mark.parametrize("sense", [1, -1])
def test_revolutions_of_a_sensor_that_sends_a_part_of_the_circle(sense: int) -> None:
    """A hundred degrees of each: the head goes on for 260° in the middle of a packet, and the time that it takes counts."""
    every = np.arange(6 * 2170)
    azimuth = 16 * every  # 2250 cycles a revolution
    kept = every[(azimuth % 36000 >= 3000) & (azimuth % 36000 < 13_000)]
    kept = kept[: len(kept) // 12 * 12].reshape(-1, 12)
    rows = [packet(round(cycles[0] * 46.08), [sense * 16.0 * cycle for cycle in cycles]) for cycles in kept]
    found, notes = stream(rows, [FIRST + (cycles[-1] + 1) * 46.08e-6 for cycles in kept])
    head, times, turns, rate = heads(found)
    assert notes == [] and head.ravel() % 36000 == pytest.approx(sense * 16 * kept.ravel() % 36000, abs=1e-3)
    assert turns.ravel().tolist() == ((16 * (kept.ravel() - kept[0, 0])) // 36000).tolist()
    assert rate == pytest.approx(sense * 16 / 46.08, rel=1e-3) and (found.late_us > 0).any()
    assert times.ravel() == pytest.approx(FIRST + kept.ravel() * 46.08e-6, abs=4e-6)
