"""Hesai packets of ours, read by a decoder that knows only the vendor's structures: see `hesai_by_hand`."""

from __future__ import annotations

import datetime

import hesai_by_hand as by_hand
import numpy as np
import pytest

from made_frames import made_frame
from tussock.sensors.catalogue import load_sensor
from tussock.wire.hesai.encode import HesaiEncoder

EPOCH = 1_700_000_000.0
MODELS = {
    "xt32": by_hand.XT32, "qt128": by_hand.QT128, "pandar64": by_hand.PANDAR64, "pandar128": by_hand.PANDAR128,
}  # fmt: skip


def packets_of(name: str, mode: str, frames: int = 1) -> tuple[list[by_hand.Decoded], list]:
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    made = [made_frame(sensor, k, returns="dual" if "+" in mode else "strongest", seed=k) for k in range(frames)]
    encoder = HesaiEncoder(sensor, epoch=EPOCH)
    sent = [*(encoder.encode(frame)["data"] for frame in made), encoder.flush()["data"]]
    payloads = [row.tobytes() for packets in sent for row in packets.payloads]
    return [by_hand.decode(payload) for payload in payloads], made


@pytest.mark.parametrize("name", MODELS)
def test_every_laser_reports_its_ranges_in_their_order(name: str) -> None:
    decoded, (frame,) = packets_of(name, "strongest")
    assert {packet.model for packet in decoded} == {MODELS[name]}
    assert {packet.return_mode for packet in decoded} == {0x37}
    ranges = np.concatenate([packet.range_m for packet in decoded])
    bright = np.concatenate([packet.reflectivity for packet in decoded])
    order = np.argsort(frame.time, kind="stable")
    for laser in range(ranges.shape[1]):
        mine = order[frame.laser[order] == laser]
        theirs = ranges[:, laser] > 0
        np.testing.assert_allclose(ranges[theirs, laser], frame.range[mine], atol=1e-4)
        np.testing.assert_allclose(bright[theirs, laser], 100 * frame.intensity[mine], atol=0.51)


@pytest.mark.parametrize("name", MODELS)
def test_two_returns_stand_in_pairs_of_blocks(name: str) -> None:
    decoded, (frame,) = packets_of(name, "strongest+last")
    ranges = np.concatenate([packet.range_m for packet in decoded])
    azimuth = np.concatenate([packet.azimuth_deg for packet in decoded])
    np.testing.assert_array_equal(azimuth[::2], azimuth[1::2])
    assert {packet.return_mode for packet in decoded} == {0x39}
    kinds = {"strongest": 1, "last": 2}
    for laser in range(0, ranges.shape[1], 5):
        rows = np.flatnonzero(frame.laser == laser)
        pulses = np.unique(frame.pulse[rows])
        strongest, last = (dict.fromkeys(pulses.tolist(), 0.0) for _ in range(2))
        for row in rows:
            pulse = int(frame.pulse[row])
            if frame.return_count[row] == 1:
                strongest[pulse] = last[pulse] = float(frame.range[row])
            elif frame.return_kind[row] == kinds["last"]:
                last[pulse] = float(frame.range[row])
            else:
                strongest[pulse] = float(frame.range[row])
        pairs = ranges[:, laser].reshape(-1, 2)
        pairs = pairs[(pairs > 0).any(1)]
        np.testing.assert_allclose(pairs[:, 0], list(last.values()), atol=1e-4)
        np.testing.assert_allclose(pairs[:, 1], list(strongest.values()), atol=1e-4)


def test_points_of_an_xt32_lie_where_the_frame_has_them() -> None:
    """Angles as the manual gives them: channel k at 15° − k, fired 1.512·k + 0.368 µs after its block's time."""
    decoded, (frame,) = packets_of("xt32", "strongest")
    azimuth = np.concatenate([packet.azimuth_deg for packet in decoded])[:, None]
    ranges = np.concatenate([packet.range_m for packet in decoded])
    channel = np.arange(32)[None, :]
    turned = 3600.0 * (1.512 * channel + 0.368) * 1e-6  # [deg] at ten revolutions a second
    azimuth, elevation = -np.deg2rad(azimuth + turned), np.deg2rad(15.0 - channel)
    xyz = np.stack(
        [ranges * np.cos(elevation) * np.cos(azimuth), ranges * np.cos(elevation) * np.sin(azimuth), ranges * np.sin(elevation)],
        -1,
    )  # fmt: skip
    seen = ranges > 0
    order = np.lexsort((frame.laser, np.round(frame.time / 50e-6)))
    mine = frame.xyz[np.lexsort((frame.time, frame.laser))]
    theirs = np.concatenate([xyz[:, k][seen[:, k]] for k in range(32)])
    assert len(order) == len(theirs)
    off = np.linalg.norm(mine - theirs, axis=1)
    # The azimuth of a block has steps of 0.01°: half of one, over the range, and half a millimetre.
    assert (off <= np.linalg.norm(mine, axis=1) * np.deg2rad(0.0051) + 1e-3).all()


@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
@pytest.mark.parametrize("name", MODELS)
def test_speed_is_in_rpm_and_sequences_alternate(name: str, mode: str) -> None:
    decoded, _ = packets_of(name, mode)
    assert {packet.motor_rpm for packet in decoded} == {600}
    if name in ("qt128", "pandar128"):
        turns = [packet.turns for packet in decoded]
        assert turns[:4] == ([(0, 1)] * 4 if mode == "strongest" else [(0, 0), (1, 1), (0, 0), (1, 1)])
    if name == "qt128":  # lasers that rest in a sequence report nothing in it
        for packet in decoded:
            for block, turn in enumerate(packet.turns):
                assert not packet.range_m[block, slice(0, 32) if turn == 0 else slice(32, 64)].any()


def test_times_and_numbers_go_on_through_frames() -> None:
    decoded, _ = packets_of("xt32", "strongest", frames=2)
    numbers = [packet.sequence for packet in decoded]
    assert numbers == list(range(numbers[0] or 0, (numbers[0] or 0) + len(numbers)))
    start = datetime.datetime.fromtimestamp(EPOCH, datetime.UTC)
    passed = np.array([(packet.utc - start).total_seconds() for packet in decoded])
    assert (np.diff(passed) > 0).all()
    assert abs(passed[0]) < 1e-3
    assert abs(passed[-1] - 0.2) < 1e-3
    assert {packet.motor_rpm for packet in decoded} == {600}
