"""The parts of a drive as a sensor saw them: pulses in its own coordinates, with the time of each where that is known.

    captures (.pcap, .pcapng)   packet by packet, a few thousand packets at a time
    ROS logs (.mcap, .bag)      their packets, or their messages of points
    a KITTI or RELLIS sequence  scan by scan (`tussock.learn.drives.sequences`)
    files of frames and points  one by one; what has a trajectory or origins of its own stands where it says

Nothing is put into the world here (`tussock.learn.drives.drive`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.formats import FORMATS
from tussock.learn.drives.sequences import is_sequence, sequence_legs
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers.captures import pulses_of_firings
from tussock.learn.readers.logs import clouds_as_pulses
from tussock.learn.readers.read_pulses import load_pulses
from tussock.poses import Pose, Trajectory
from tussock.wire.read_firings import CAPTURE_SUFFIXES, firings_in_parts
from tussock.wire.ros.read_log import is_log, log_firings

__all__ = ["Leg", "Reading", "files_of", "legs_of"]

_PACKETS = 2048
_ROWS = 1 << 19


@dataclass(frozen=True)
class Leg:
    """Pulses that were measured one after the other."""

    name: str
    pulses: MeasuredPulses
    """in the sensor's coordinates, or in the world's where they are ``placed``"""
    times: NDArray[np.float64] | None = None
    """[s] of each pulse, shape (n,)"""
    pose: Pose | None = None
    """of all of them, where that is known"""
    placed: bool = False
    sensor: str = ""
    """name of the model, where it is known"""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How recordings are read."""

    model: str | None = None
    unit: str | None = None
    reach: float | None = None
    trajectory: Trajectory | None = None
    """where points of files from elsewhere were measured from"""
    say: Callable[[str], None] = lambda note: None


def files_of(paths: list[Path]) -> list[Path]:
    """The recordings that are meant: sequences and logs as they are, other folders as the files in them, by name."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        if path.is_dir() and not is_sequence(path) and not is_log(path):
            suffixes = (*FORMATS, *CAPTURE_SUFFIXES)
            inside = sorted(file for file in path.iterdir() if file.suffix.lower() in suffixes or is_log(file))
            if not inside:
                raise InputError(f"{path}: holds no scans, captures, logs or KITTI sequence")
            found += inside
        else:
            found.append(path)
    return found


def legs_of(path: Path, reading: Reading) -> Iterator[Leg]:
    """The parts of one recording, in the order of time."""
    if is_sequence(path):
        for scan in sequence_legs(path, reach=reading.reach):
            yield Leg(scan.name, scan.pulses, pose=scan.pose)
    elif path.suffix.lower() in CAPTURE_SUFFIXES:
        for firings in firings_in_parts(
            path, model=reading.model, unit=reading.unit, packets=_PACKETS, say=reading.say
        ):
            pulses = pulses_of_firings(firings, reach=reading.reach)
            yield Leg(path.name, pulses, firings.times, sensor=firings.sensor)
    elif is_log(path):
        yield from _log_legs(path, reading)
    else:
        # Poses say where points of a map were measured from; what has poses of its own refuses others.
        pulses = load_pulses(path, reach=reading.reach, trajectory=reading.trajectory, say=reading.say)
        yield Leg(path.name, pulses, placed=True)


def _log_legs(path: Path, reading: Reading) -> Iterator[Leg]:
    firings = log_firings(path, topic=reading.unit, model=reading.model, say=reading.say)
    if firings is None:
        for pulses, times in clouds_as_pulses(path, topic=reading.unit, reach=reading.reach):
            yield Leg(path.name, pulses, times)
        return
    for first in range(0, len(firings), _ROWS):
        some = firings.select(slice(first, first + _ROWS))
        yield Leg(path.name, pulses_of_firings(some, reach=reading.reach), some.times, sensor=firings.sensor)
