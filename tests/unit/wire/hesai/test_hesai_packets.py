"""Hesai packets: headers and tails byte by byte, and the way there and back over any frame."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_frames import made_frame
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.wire.checksums import mpeg_crc32
from tussock.wire.hesai.decode import decode_hesai, hesai_model
from tussock.wire.hesai.encode import HesaiEncoder
from tussock.wire.hesai.models import MODELS
from tussock.wire.packets import EPOCH, Packets

NAMES = ["xt32", "pandar64", "qt128", "pandar128"]
SIZES = {"xt32": 1080, "pandar64": 1194, "qt128": 1095, "pandar128": 839}


def sensor_of(name: str, mode: str) -> Sensor:
    return load_sensor(name).with_(**{"receiver.mode": mode})


def sent(sensor: Sensor, frames: list, epoch: float = EPOCH) -> Packets:
    encoder = HesaiEncoder(sensor, epoch=epoch)
    return Packets.joined([*(encoder.encode(frame)["data"] for frame in frames), encoder.flush()["data"]])


@pytest.mark.parametrize("name", NAMES)
def test_sizes_and_rates(name: str) -> None:
    sensor = load_sensor(name)
    encoder = HesaiEncoder(sensor)
    packets = encoder.encode(made_frame(sensor))["data"]
    assert packets.payloads.shape[1] == SIZES[name]
    assert encoder.packets_per_second == pytest.approx(len(packets) * 10)
    assert hesai_model(packets.payloads[0]) is MODELS[sensor.packets]


def test_an_xt32_byte_by_byte() -> None:
    sensor = sensor_of("xt32", "strongest+last")
    packet = sent(sensor, [made_frame(sensor, 3, returns="dual")], 1_700_000_000.5).payloads[5].tobytes()
    assert packet[:12].hex() == "eeff06010000" + "200801040201"
    for pair in range(4):
        azimuths = [struct.unpack_from("<H", packet, 12 + 130 * (2 * pair + half))[0] for half in range(2)]
        assert azimuths == [(5 * 4 + pair) * 18] * 2
    assert packet[1052:1062] == bytes(10) and packet[1062] == 0x39 and packet[1075] == 0x42
    assert struct.unpack_from("<H", packet, 1063) == (600,)
    # 0.3 s into the run, cycle 23 is the packet's last; its block's time is 5.632 µs after the packet's.
    assert list(packet[1065:1071]) == [123, 11, 14, 22, 13, 20]
    assert struct.unpack_from("<I", packet, 1071) == (800_000 + 23 * 50 - 6,)
    assert struct.unpack_from("<I", packet, 1076) == (6,)


def test_a_pandar64_byte_by_byte() -> None:
    sensor = sensor_of("pandar64", "last")
    packet = sent(sensor, [made_frame(sensor, 0, returns="last")]).payloads[2].tobytes()
    assert packet[:8].hex() == "eeff400600040000"
    # The rotor's angle at the block's time, the end of the cycle.
    azimuths = [struct.unpack_from("<H", packet, 8 + 194 * block)[0] for block in range(6)]
    assert azimuths == [(12 + block + 1) * 20 for block in range(6)]
    tail = packet[8 + 6 * 194 :]
    assert tail[:8] == bytes(8) and struct.unpack_from("<HI", tail, 8) == (600, round(18 * 1e6 / 18000 + 42.58))
    assert tail[14:16] == bytes([0x38, 0x42]) and list(tail[16:]) == [25, 1, 1, 0, 0, 0]


def test_checksums() -> None:
    assert mpeg_crc32(np.frombuffer(b"123456789", np.uint8)[None]).tolist() == [0x0376E6E7]
    sensor = load_sensor("qt128")
    payloads = sent(sensor, [made_frame(sensor)]).payloads
    damaged = payloads.copy()
    damaged[[3, 7], [100, 1080]] ^= 1
    raw = decode_hesai(damaged)
    assert (raw.damaged, raw.lost, len(raw.stamp_us)) == (2, 2, len(payloads) - 2)
    with pytest.raises(InputError, match="none has a right checksum"):
        decode_hesai(damaged[[3, 7]])


def as_set_up(payloads: np.ndarray, flags: int) -> np.ndarray:
    """Packets of a QT128 or Pandar128 with the parts of other settings: number, inertial readings, safety, signature."""
    size = payloads.shape[1]
    rng = np.random.default_rng(flags)

    def more(count: int) -> np.ndarray:
        return rng.integers(0, 256, (len(payloads), count), np.uint8)

    # From the end: a checksum of four bytes, the number; safety and its checksum are 17 before the last part.
    tail = {839: 26, 1095: 26}[size]
    body, safety = payloads[:, : size - 8 - tail - 17], payloads[:, size - 8 - tail - 17 : size - 8 - tail]
    rest = payloads[:, size - 8 - tail : size - 8]
    parts = [rest, *([payloads[:, size - 8 : size - 4]] if flags & 1 else []), *([more(22)] if flags & 2 else [])]
    ending = np.concatenate(parts, axis=1)
    checked = mpeg_crc32(ending).astype("<u4")[:, None].view(np.uint8)
    whole = [body, *([safety] if flags & 4 else []), ending, checked, *([more(32)] if flags & 8 else [])]
    made = np.concatenate(whole, axis=1)
    made[:, 11] = flags
    return made


@pytest.mark.parametrize("flags", range(16))
@pytest.mark.parametrize("name", ["qt128", "pandar128"])
def test_parts_that_a_units_settings_switch(name: str, flags: int) -> None:
    """A Pandar128 with inertial readings has 861 bytes, one without a number 835: the header's flags say which."""
    sensor = load_sensor(name)
    payloads = sent(sensor, [made_frame(sensor)]).payloads[:50]
    confidence = payloads[0, 11] & 16
    plain, found = decode_hesai(payloads), decode_hesai(as_set_up(payloads, flags | confidence))
    np.testing.assert_array_equal(found.distance, plain.distance)
    np.testing.assert_array_equal(found.stamp_us, plain.stamp_us)
    np.testing.assert_array_equal(found.turn, plain.turn)
    assert found.damaged == 0 and found.mode == plain.mode
    if flags & 1:
        np.testing.assert_array_equal(found.sequence, plain.sequence)
    else:
        assert found.sequence is None


@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
@pytest.mark.parametrize("name", NAMES)
def test_headers_after_other_issues_of_the_manuals(name: str, mode: str) -> None:
    """What is reserved may be anything, and an XT32 may always say that it can have two returns."""
    sensor = sensor_of(name, mode)
    payloads = sent(sensor, [made_frame(sensor, returns="dual" if "+" in mode else "strongest")]).payloads
    plain, other = decode_hesai(payloads), payloads.copy()
    if name == "pandar64":
        other[:, [4, 6, 7]] = 2, 9, 9
    else:
        other[:, [4, 5, 8, 10]] = 7, 7, 2, 2 if mode == "strongest" else 1
    found = decode_hesai(other)
    assert (found.model, found.mode, found.returns) == (plain.model, plain.mode, plain.returns)
    np.testing.assert_array_equal(found.distance, plain.distance)


PAIRS = [
    ("xt32", 0x3B, ("last", "first")), ("xt32", 0x3C, ("first", "strongest")), ("pandar128", 0x3B, ("last", "first")),
    ("qt128", 0x3B, ("first", "last")), ("qt128", 0x3C, ("first", "strongest")),
    ("qt128", 0x3E, ("strongest", "second")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "byte", "returns"), PAIRS)
def test_other_pairs_of_returns_are_read_as_what_they_are(name: str, byte: int, returns: tuple[str, str]) -> None:
    sensor = sensor_of(name, "strongest+last")
    payloads = sent(sensor, [made_frame(sensor, returns="dual")]).payloads
    plain, other = decode_hesai(payloads), payloads.copy()
    record = MODELS[sensor.packets].packet
    other.reshape(-1).view(record)["mode"] = byte
    if plain.model.checked:
        fields = record.fields
        tail = mpeg_crc32(other[:, fields["reserved"][1] : fields["crc_tail"][1]])
        other.reshape(-1).view(record)["crc_tail"] = tail
    found = decode_hesai(other)
    assert found.returns == returns and found.mode == "dual" and found.damaged == 0
    np.testing.assert_array_equal(found.distance, plain.distance)
    np.testing.assert_array_equal(found.turn, plain.turn)


def test_a_pandar128_with_confidence_has_four_bytes_a_channel() -> None:
    sensor = load_sensor("pandar128")
    payloads = sent(sensor, [made_frame(sensor)]).payloads
    plain = decode_hesai(payloads)
    body = payloads[:, 12 : 12 + 2 * 386].reshape(len(payloads), 2, 386)
    units = np.concatenate([body[:, :, 2:].reshape(-1, 2, 128, 3), np.full((len(payloads), 2, 128, 1), 5, np.uint8)], 3)
    wide = np.concatenate([body[:, :, :2], units.reshape(-1, 2, 512)], 2).reshape(len(payloads), -1)
    checked = mpeg_crc32(wide).astype("<u4")[:, None].view(np.uint8)
    other = np.concatenate([payloads[:, :12], wide, checked, payloads[:, 12 + 2 * 386 + 4 :]], 1)
    other[:, 11] |= 16
    found = decode_hesai(other)
    assert found.damaged == 0
    np.testing.assert_array_equal(found.distance, plain.distance)
    np.testing.assert_array_equal(found.reflectivity, plain.reflectivity)
    np.testing.assert_array_equal(found.stamp_us, plain.stamp_us)


def test_settings_that_are_not_read_are_refused() -> None:
    qt, fast = load_sensor("qt128"), load_sensor("pandar128")
    chosen, quick = (sent(sensor, [made_frame(sensor)]).payloads[:9].copy() for sensor in (qt, fast))
    chosen[:, 11] |= 64
    with pytest.raises(InputError, match="must hold all channels, not chosen ones"):
        decode_hesai(chosen)
    quick.reshape(-1).view(MODELS["pandar-128"].packet)["state"] = 0
    with pytest.raises(InputError, match="must be of the standard mode, not of high resolution"):
        decode_hesai(quick)


def test_settings_that_change_on_the_way() -> None:
    sensor = load_sensor("pandar128")
    payloads = sent(sensor, [made_frame(sensor)]).payloads[:9]
    payloads[5, 11] ^= 8
    with pytest.raises(InputError, match="packet 5: its header is not that"):
        decode_hesai(payloads)


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    mode=st.sampled_from(["strongest", "last", "strongest+last"]),
    first=st.sampled_from([0, 1, 7]),
    count=st.integers(1, 3),
    rate=st.sampled_from([10.0, 20.0, 5.0]),
    seed=st.integers(0, 1 << 30),
    share=st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    hole=st.tuples(st.floats(0, 0.3), st.floats(0, 0.3)),
)
def test_there_and_back(name, mode, first, count, rate, seed, share, hole) -> None:
    """Every pulse comes back as it was fired: when, whereto, by which laser, how far; misses stay misses."""
    sensor = sensor_of(name, mode)
    if name == "xt32":
        sensor = sensor.with_(rotation_hz=rate)
    dual = mode == "strongest+last"
    frames = [
        made_frame(sensor, first + k, returns="dual" if dual else mode, seed=seed, share=share) for k in range(count)
    ]
    start = first * sensor.frame_period
    frames = [frame.select(~((frame.time - start > min(hole)) & (frame.time - start < max(hole)))) for frame in frames]
    raw = decode_hesai(sent(sensor, frames).payloads)
    assert raw.mode == ("dual" if dual else mode) and raw.damaged == raw.lost == 0

    # Which pulses were fired: by the number of the cycle since time 0, by laser, and by return.
    cycle = float(sensor.pattern.cycle)
    firing = np.array([turn.firing_us for turn in sensor.pattern.order]) * 1e-6

    def keys(time, laser, turn, slot):
        return (np.rint((time - firing[turn, laser]) / cycle).astype(np.int64) * 128 + laser) * 2 + slot

    wanted, steps, xyz = [], [], []
    for frame in frames:
        turn = np.floor((frame.time + 1e-9) / cycle).astype(int) % len(firing)
        strongest = (frame.return_kind == 1).astype(int) if dual else np.zeros(len(frame), int)
        alone = np.flatnonzero(dual & (frame.return_count == 1))
        rows = np.concatenate([np.arange(len(frame)), alone])
        slot = np.concatenate([strongest, 1 - strongest[alone]])
        wanted.append(keys(frame.time[rows], frame.laser[rows].astype(int), turn[rows], slot))
        steps.append(np.rint(frame.range[rows] / 0.004).astype(int))
        xyz.append(frame.xyz[rows])
    where = np.nonzero(raw.distance)
    packets, cycles, lasers, slots = where
    assert raw.fires(sensor)[packets, cycles, lasers].all()
    found = keys((raw.times(sensor) - EPOCH)[packets, cycles, lasers], lasers, raw.turn[packets, cycles], slots)
    ours, theirs = np.argsort(found), np.argsort(np.concatenate(wanted))
    np.testing.assert_array_equal(found[ours], np.concatenate(wanted)[theirs])
    np.testing.assert_array_equal(raw.distance[where][ours], np.concatenate(steps)[theirs])
    apart = np.linalg.norm(raw.xyz(sensor)[where][ours] - np.concatenate(xyz)[theirs], axis=1)
    assert apart.max(initial=0.0) <= 1e-3 + 4e-3


def test_a_gap_completes_the_packet_begun() -> None:
    sensor = load_sensor("pandar128")
    encoder = HesaiEncoder(sensor)
    parts = [encoder.encode(made_frame(sensor, number))["data"] for number in (0, 5, 6)]
    raw = decode_hesai(Packets.joined([*parts, encoder.flush()["data"]]).payloads)
    assert np.count_nonzero(raw.distance) == sum(len(made_frame(sensor, number)) for number in (0, 5, 6))
    assert np.all(np.diff(raw.stamp_us) > 0)


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("xt32", {"packets": "pandar-xt23"}, "did you mean 'pandar-xt32'"),
        ("xt32", {"receiver.mode": "first"}, "a pandar-xt32 carry strongest, last, strongest\\+last"),
        ("qt128", {"receiver.mode": "all"}, "receiver.mode: packets of a qt128 carry"),
        ("xt32", {"packets": "pandar-64"}, "need a spinning pattern of 64 lasers"),
        ("xt32", {"pattern.clockwise": False}, "turns clockwise"),
    ],
)
def test_what_no_hesai_is(name: str, changes: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        HesaiEncoder(load_sensor(name).with_(**changes))


def test_packets_and_frames_of_something_else() -> None:
    sensor = load_sensor("xt32")
    payloads = sent(sensor, [made_frame(sensor)]).payloads
    with pytest.raises(InputError, match="must be of the sensor xt32 with its settings"):
        HesaiEncoder(sensor).encode(made_frame(load_sensor("pandar64")))
    with pytest.raises(InputError, match="need frames that hold them, got 'last'"):
        HesaiEncoder(sensor).encode(made_frame(sensor, returns="last"))
    with pytest.raises(InputError, match="must be of pandar-xt32, pandar-64, qt128, pandar-128, got '500 bytes"):
        decode_hesai(payloads[:, :500])
    with pytest.raises(InputError, match="with n above 0"):
        decode_hesai(payloads[:0])
    other = payloads.copy()
    other[9, 1062] = 0x38
    with pytest.raises(InputError, match="packet 9: must have the return mode of those before it, 0x37"):
        decode_hesai(other)
    other[:, 1062] = 0x40
    with pytest.raises(InputError, match="must have a return mode of a pandar-xt32"):
        decode_hesai(other)
    with pytest.raises(InputError, match="must have the 32 lasers of a pandar-xt32"):
        decode_hesai(payloads).xyz(load_sensor("pandar64"))
