"""Captures of every make with packets lost, doubled, mixed up and cut off: what is read was fired, what is said is right."""

from __future__ import annotations

import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from gappy_frames import gappy_frame
from made_frames import made_frame
from tussock.frames.frame import Frame
from tussock.return_modes import KINDS
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

CASES = [
    ("vlp-16", "strongest+last"), ("xt32", "strongest+last"), ("pandar64", "strongest"), ("qt128", "strongest"),
    ("os1-32", "strongest"), ("os1-32-rev7", "strongest+last"), ("livox-mid-360", "strongest"), ("livox-avia", "strongest"),
]  # fmt: skip
OTHER_PORTS = (8308, 7503, 56401, 60002)
"""of positions and inertial readings"""
LOST, DOUBLED, SWAPPED = 17, 4, 3


def datagrams_of(raw: bytes) -> list[list[bytes]]:
    """The records of a capture, those of one datagram together."""
    found: list[list[bytes]] = [[]]
    at = 24
    while at < len(raw):
        size = 16 + struct.unpack_from("<I", raw, at + 8)[0]
        found[-1].append(raw[at : at + size])
        if not struct.unpack_from(">H", raw, at + 36)[0] & 0x2000:  # no more fragments
            found.append([])
        at += size
    return found[:-1]


def worn(path: Path, copy: Path, rng: np.random.Generator) -> int:
    """A copy that lacks packets, has some twice, some mixed up, and ends in the middle of a record; parts that came twice."""
    raw = path.read_bytes()
    every = datagrams_of(raw)
    data = [row for row, parts in enumerate(every) if struct.unpack_from(">H", parts[0], 52)[0] not in OTHER_PORTS]
    # Packets of which neighbours are left alone, so that every number is known.
    alone = rng.permutation(np.array(data[4:-4:4]))
    run = int(rng.integers(len(data) // 3, len(data) // 2))
    lost = {*data[run : run + 5], *alone[:40].tolist()}
    lost = set(sorted(lost - set(data[run : run + 5]))[: LOST - 5]) | set(data[run : run + 5])
    near = {row + step for row in lost for step in range(-2, 3)}
    free = [int(row) for row in alone if row not in near and row + 1 in data]
    doubled, swapped = set(free[:DOUBLED]), free[DOUBLED : DOUBLED + SWAPPED]
    order = list(range(len(every)))
    for row in swapped:
        order[row], order[row + 1] = order[row + 1], order[row]
    kept = [part for row in order if row not in lost for part in every[row] * (2 if row in doubled else 1)]
    copy.write_bytes((raw[:24] + b"".join(kept))[:-5])
    return sum(len(every[row]) for row in doubled)


def fired(sensor: Sensor, frames: list[Frame]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, lasers and ranges (n, kinds) of all pulses, as they must be read."""
    kinds = ("strongest", "last") if "+" in str(sensor.receiver.mode) else ("strongest",)
    times, lasers, ranges = [], [], []
    for number, frame in enumerate(frames):
        pulses = sensor.pulses(number)
        reach = np.full((len(pulses), len(kinds)), np.nan)
        for column, kind in enumerate(kinds):
            rows = frame.hit & ((frame.return_kind == KINDS.index(kind)) | (len(kinds) == 1))
            reach[frame.pulse[rows], column] = frame.range[rows]
        if len(kinds) == 2 and not str(sensor.packets).startswith("ouster"):  # one return is told in both places
            reach = np.where(np.isnan(reach), reach[:, ::-1], reach)
        times.append(number * sensor.frame_period + pulses.offsets)
        lasers.append(pulses.lasers.astype(int))
        ranges.append(reach)
    return np.concatenate(times), np.concatenate(lasers), np.concatenate(ranges)


@pytest.mark.parametrize(("name", "mode"), CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_read_was_fired_and_what_is_said_is_right(tmp_path: Path, name: str, mode: str, seed: int) -> None:
    rng = np.random.default_rng([seed, *name.encode()])
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    livox, ouster = name.startswith("livox"), name.startswith("os")
    frames = [made_frame(sensor, k, seed=seed) if livox else gappy_frame(sensor, k, rng)[0] for k in range(3)]
    whole, less = tmp_path / "whole.pcap", tmp_path / "less.pcap"
    with open_recording(whole, sensor) as run:
        for frame in frames:
            run.write(frame)
    parts = worn(whole, less, rng)
    if ouster:
        shutil.copy(whole.with_suffix(".json"), less.with_suffix(".json"))
    notes: list[str] = []
    found = read_firings(less, say=notes.append)

    said = [re.sub(r"^\S*less.pcap: ", "", note) for note in notes]
    assert all(note.startswith(f"{less}: ") for note in notes)
    assert said[0].startswith("ends in the middle of record")
    told = sorted(int(note.split()[0]) for note in said[1:])
    if ouster:
        # Columns, and the fragments of what came twice; the last packet lacks one.
        assert told == sorted([1, SWAPPED, SWAPPED, parts, LOST * 16])
    else:
        assert told == sorted([SWAPPED, SWAPPED, DOUBLED, LOST])

    times, lasers, ranges = fired(sensor, frames)
    seen = found.times - EPOCH
    laser = np.zeros(len(found), int) if livox else found.lasers.astype(int)
    of = np.zeros(len(times), int) if livox else lasers
    for number in np.unique(of):
        rows, mine = np.flatnonzero(of == number), np.flatnonzero(laser == number)
        rows = rows[np.argsort(times[rows])]
        after = np.clip(np.searchsorted(times[rows], seen[mine]), 1, len(rows) - 1)
        nearest = np.where(seen[mine] - times[rows[after - 1]] < times[rows[after]] - seen[mine], after - 1, after)
        pulse = rows[nearest]
        assert np.abs(times[pulse] - seen[mine]).max(initial=0) < 4e-6
        assert len(np.unique(pulse)) == len(pulse)
        step = max(sensor.receiver.range_step_m, 0.001)
        wanted, got = np.nan_to_num(ranges[pulse]), np.nan_to_num(found.ranges[mine])
        room = np.inf if livox or ouster else 65535 * step
        assert np.abs(got - np.where(wanted > room, 0, wanted)).max(initial=0) <= 1.01 * step
