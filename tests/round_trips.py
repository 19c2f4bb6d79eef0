"""There and back over every model and every mode of packets: written to a capture and read, exactly the pulses fired.

`cases` are all models × modes; `check_round_trip` makes a frame by chance, with gaps of any shape or of a scene of boxes by
chance, writes it, reads it and compares every pulse. Run alone it does as many as it is told:

    PYTHONPATH=src:tests python tests/round_trips.py 9
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gappy_frames import gappy_frame
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.return_modes import KINDS
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.families import family_of
from tussock.wire.livox.decode import decode_livox
from tussock.wire.livox.firings import livox_datagrams
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

MODES = {
    "velodyne": ["strongest", "last", "strongest+last"],
    "ouster": ["strongest", "strongest+last"],
    "hesai": ["strongest", "last", "strongest+last"],
    "livox": ["strongest", "last", "first"],
    "livox-1": ["strongest", "last", "first"],
}
LIVOX = {
    "livox-mid-360": ["livox-cartesian32", "livox-cartesian16", "livox-spherical"],
    "livox-mid-40": ["livox1-cartesian", "livox1-spherical"],
    "livox-horizon": ["livox1-cartesian-tagged"],
    "livox-avia": ["livox1-cartesian-tagged", "livox1-spherical-tagged"],
}


def cases() -> list[tuple[str, str, str]]:
    """Name, packets and mode of everything that has packets."""
    found = []
    for name in sensor_names():
        sensor = load_sensor(name)
        if sensor.packets is None:
            continue
        family = family_of(sensor).name
        for packets in LIVOX.get(name, [sensor.packets]):
            for mode in MODES[family]:
                if not (packets == "ouster-legacy" and mode == "strongest+last"):  # has room for one
                    found.append((name, packets, mode))
    return found


def sensor_by_chance(name: str, packets: str, mode: str, rng: np.random.Generator) -> Sensor:
    sensor = load_sensor(name).with_(packets=packets, **{"receiver.mode": mode})
    family = family_of(sensor).name
    if family == "velodyne":
        high = sensor.pattern.rotation_hz_limits[1]
        rate = float(rng.choice([high / 2, high, round(float(rng.uniform(high / 2, high)), 2)]))
        return sensor.with_(rotation_hz=rate, **{"pattern.start_deg": float(rng.choice([0.0, 90.0, -33.3]))})
    if family.startswith("livox"):
        return sensor.with_(**{"pattern.frame_hz": float(rng.choice([10.0, 20.0, 13.0]))})
    if name == "xt32":
        return sensor.with_(rotation_hz=float(rng.choice([5.0, 10.0, 20.0])))
    return sensor


def scene_by_chance(rng: np.random.Generator) -> Scene:
    """A few boxes anywhere around, some out of reach, with sky between."""
    scene = Scene("boxes")
    for number in range(int(rng.integers(1, 12))):
        reach, angle = rng.uniform(2, 150), rng.uniform(-np.pi, np.pi)
        place = (reach * np.cos(angle), reach * np.sin(angle), rng.uniform(-3, 3))
        scene.add(box(rng.uniform(0.2, 20, 3)), name=f"box {number}", position=place, yaw=rng.uniform(-3, 3))
    return scene


def truth_of(frame: Frame, kinds: tuple[str, ...], *, alone_twice: bool) -> NDArray[np.float64]:
    """[m] what a pulse must read back as, NaN without return, shape (pulses, kinds)."""
    wanted = np.full((frame.pulses, len(kinds)), np.nan)
    hit = frame.hit
    for column, kind in enumerate(kinds):
        rows = hit & (frame.return_kind == KINDS.index(kind))
        wanted[frame.pulse[rows], column] = frame.range[rows]
    if alone_twice:  # a pulse with one return reports it in both places
        for a, b in ((0, 1), (1, 0)):
            alone = np.isnan(wanted[:, a])
            wanted[alone, a] = wanted[alone, b]
    return wanted


def check_round_trip(path: Path, name: str, packets: str, mode: str, seed: int) -> int:
    """One case; how many pulses were compared. Wrong ones are an AssertionError."""
    rng = np.random.default_rng([seed, *name.encode(), *packets.encode(), *mode.encode()])
    sensor = sensor_by_chance(name, packets, mode, rng)
    first = int(rng.integers(0, 3))
    numbers = range(first, first + int(rng.integers(1, 3)))
    if rng.random() < 0.3:
        scene = scene_by_chance(rng)
        frames = [
            scan(scene, sensor.with_(**{"beam.rays": 1}), Pose.at(0, 0, 1.5), frame=k, seed=seed) for k in numbers
        ]
    elif family_of(sensor).name.startswith("livox"):
        frames = [_livox_frame(sensor, number, rng) for number in numbers]
    else:
        frames = [gappy_frame(sensor, number, rng)[0] for number in numbers]
    with open_recording(path, sensor, force=True) as run:
        for frame in frames:
            run.write(frame)
    if family_of(sensor).name.startswith("livox"):
        return _check_livox(path, sensor, frames, numbers)
    return _check(path, sensor, frames, numbers)


def _check(path: Path, sensor: Sensor, frames: list[Frame], numbers: range) -> int:
    notes: list[str] = []
    family, mode = family_of(sensor).name, str(sensor.receiver.mode)
    # Short captures of an HDL-64E do not tell their model, and sensors of one kind of packets differ in their angles.
    named = sensor.name if family == "hesai" or sensor.name.startswith(("hdl-64e", "vlp-32mr", "vls-128")) else None
    found = read_firings(path, model=named, say=notes.append)
    assert notes == [], notes
    pulses = [sensor.pulses(number) for number in numbers]
    fired = sum(len(part) for part in pulses)
    before = 0
    if family == "hesai" and len(sensor.pattern.order) > 1:
        # A packet begins with the first turn: what is missing before the frame saw nothing.
        skipped = sensor.pattern.cycles(numbers[0]).start % len(sensor.pattern.order)
        before = sum(sensor.pattern.firings[:skipped])
    assert len(found) >= before + fired
    assert not np.isfinite(found.ranges[:before]).any() and not np.isfinite(found.ranges[before + fired :]).any()
    found = found.select(slice(before, before + fired))
    kinds = ("strongest", "last") if mode == "strongest+last" else (mode,)
    wanted = np.concatenate([truth_of(f, kinds, alone_twice=len(kinds) == 2 and family != "ouster") for f in frames])
    # Within a cycle the order of lasers that fire at the same moment is nobody's business.
    order = np.concatenate([_by_firing(part, at) for part, at in zip(pulses, _starts(pulses), strict=True)])
    mine = _by_firing_found(found, sensor)
    lasers = np.concatenate([part.lasers for part in pulses])[order]
    np.testing.assert_array_equal(found.lasers[mine], lasers)
    step = sensor.receiver.range_step_m
    got, wanted = found.ranges[mine], wanted[order]
    if family == "ouster":
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(wanted))
        assert np.nanmax(np.abs(got - wanted), initial=0) <= step / 2 + 0.00051 + 1e-5
    else:
        # As many steps as the format has room for.
        steps = np.rint(np.nan_to_num(wanted) / np.float32(step))
        steps = np.where((steps < 1) | (steps > 65535), 0, steps)
        np.testing.assert_array_equal(np.rint(np.nan_to_num(got) / step), steps)
    azimuth = np.concatenate([part.azimuths for part in pulses])[order]
    assert np.rad2deg(np.abs(np.angle(np.exp(1j * (found.azimuths[mine] - azimuth))))).max() < 0.0051 + 0.003
    elevation = np.concatenate([part.elevations for part in pulses])[order]
    np.testing.assert_allclose(np.arcsin(found.directions[mine, 2]), elevation, atol=1e-5)
    times = np.concatenate([n * sensor.frame_period + p.offsets for n, p in zip(numbers, pulses, strict=True)])[order]
    assert np.abs(found.times[mine] - EPOCH - times).max() < 3e-6
    return fired


def _starts(pulses: list) -> NDArray[np.int64]:
    sizes = [len(part) for part in pulses]
    return np.cumsum([0, *sizes[:-1]])


def _by_firing(part, start: int) -> NDArray[np.int64]:  # type: ignore[no-untyped-def]
    """Pulses by time and then by laser."""
    return start + np.lexsort((part.lasers, np.round(part.offsets * 1e8)))


def _by_firing_found(found, sensor: Sensor) -> NDArray[np.int64]:  # type: ignore[no-untyped-def]
    """The same of what was read: by cycle and firing time, as far as the clock on the wire tells."""
    if family_of(sensor).name != "hesai":
        return np.arange(len(found))
    pattern = sensor.pattern
    fires = np.array([turn.firing_us or (0.0,) * pattern.lasers for turn in pattern.order])
    size = np.array(pattern.firings)
    # Rows come cycle by cycle; which turn a cycle is of follows from how many fire.
    rows, cycle, at = np.empty(len(found), np.int64), 0, 0
    first = pattern.cycles(0).start
    keys = []
    turn = _first_turn(found, pattern)
    while at < len(found):
        n = size[turn]
        lasers = found.lasers[at : at + n]
        keys.append(at + np.lexsort((lasers, np.round(fires[turn, lasers] * 100))))
        at, turn, cycle = at + n, (turn + 1) % len(size), cycle + 1
    rows = np.concatenate(keys)
    assert first == 0
    return rows


def _first_turn(found, pattern) -> int:  # type: ignore[no-untyped-def]
    """Which turn the first cycle is of: the one whose lasers these are."""
    for turn, row in enumerate(pattern.order):
        there = set(range(pattern.lasers)) - set(row.resting)
        if set(found.lasers[: len(there)].tolist()) == there:
            fires = np.array(row.firing_us or (0.0,) * pattern.lasers)[found.lasers[: len(there)]]
            if (np.diff(fires) >= 0).all():
                return turn
    raise AssertionError("the lasers of the first cycle are those of no turn")


def _livox_frame(sensor: Sensor, number: int, rng: np.random.Generator) -> Frame:
    from made_frames import made_frame

    frame = made_frame(sensor, number, seed=int(rng.integers(1 << 30)), share=float(rng.choice([0.0, 0.01, 0.5, 1.0])))
    frame = frame.select(~np.isin(frame.pulse // int(rng.integers(1, 400)), rng.integers(0, 60, 12)))
    return replace(frame, return_kind=np.full_like(frame.return_kind, KINDS.index(str(sensor.receiver.mode))))


def _check_livox(path: Path, sensor: Sensor, frames: list[Frame], numbers: range) -> int:
    told = decode_livox(livox_datagrams(read_datagrams(path)).payloads())
    pulses = [sensor.pulses(number) for number in numbers]
    fired = sum(len(part) for part in pulses)
    wanted = np.zeros((fired, 3))
    kind = KINDS.index(str(sensor.receiver.mode))
    for frame, start in zip(frames, _starts(pulses), strict=True):
        rows = frame.hit & (frame.return_kind == kind)
        wanted[start + frame.pulse[rows]] = frame.xyz[rows]
    points = told.xyz.reshape(-1, 3)
    step = {"livox-cartesian16": 0.01}.get(str(sensor.packets), 0.001)
    inside = np.abs(wanted).max(axis=1) < 327.67 if step == 0.01 else np.ones(fired, bool)
    hit = wanted.any(axis=1) & inside
    np.testing.assert_array_equal(points[:fired].any(axis=1), hit)
    assert not points[fired:].any()
    reach = np.linalg.norm(wanted[hit], axis=1)
    # Half a step; for angles, half of 0.01° to either side.
    bound = step * 0.87 + 1e-4 + (reach * np.deg2rad(0.0075) if "spherical" in str(sensor.packets) else 0)
    assert (np.linalg.norm(points[:fired][hit] - wanted[hit], axis=1) <= bound).all()
    notes: list[str] = []
    if not hit.any():
        return fired
    found = read_firings(path, say=notes.append, model=None)
    assert notes == [] and not found.complete
    np.testing.assert_allclose(found.origins + found.directions * found.ranges, points[:fired][hit], atol=1e-9)
    times = np.concatenate([n * sensor.frame_period + p.offsets for n, p in zip(numbers, pulses, strict=True)])
    assert np.abs(found.times - EPOCH - times[hit]).max() < 2e-6
    return fired


def main(each: int) -> None:
    every = [case for case in cases() if not sys.argv[2:] or case[0] in sys.argv[2:]]
    done = pulses = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, packets, mode in every:
            for seed in range(each):
                try:
                    pulses += check_round_trip(Path(folder, "run.pcap"), name, packets, mode, seed)
                except AssertionError as error:
                    wrong += 1
                    sys.stdout.write(f"{name} {packets} {mode} {seed}: {' '.join(str(error).split())[:300]}\n")
                done += 1
            sys.stdout.write(f"{name} {packets} {mode}: {done} cases, {pulses:,} pulses, {wrong} wrong\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
