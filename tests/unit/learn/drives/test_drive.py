"""A drive by hand-made legs: scans numbered on, seconds chosen, times of added pulses, poses that must fit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.drives import drive as module
from tussock.learn.drives.drive import Drive
from tussock.learn.drives.legs import Leg
from tussock.learn.drives.odometry import _revolutions
from tussock.learn.drives.own_vehicle import OwnVehicle
from tussock.learn.fit_voxels import _moved
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.levels import Levelled
from tussock.poses import Pose, Trajectory

AHEAD = [[1.0, 0.0, 0.0]]


def pulses(count: int = 1, turns: list[int] | None = None, reached: float = 3.0) -> MeasuredPulses:
    return MeasuredPulses.of(np.zeros(3), AHEAD * count, np.full(count, reached), turns=turns, reach=9.0)


def driven(monkeypatch: pytest.MonkeyPatch, legs: dict[str, list[Leg]], **how: object) -> Drive:
    def legs_of(file: Path, reading: object) -> Iterator[Leg]:
        yield from legs[file.name]

    monkeypatch.setattr(module, "legs_of", legs_of)
    return Drive(files=[Path(name) for name in legs], **how)  # type: ignore[arg-type]


def test_scans_are_numbered_on_from_file_to_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Revolutions of packets by their own numbers; files of points are one scan each."""
    two = np.array([0.0, 0.1])
    legs = {
        "a": [Leg("a", pulses(2, [0, 1]), two, sensor="s"), Leg("a", pulses(2, [1, 2]), two, sensor="s")],
        "b": [Leg("b", pulses(2, [0, 1]), two, sensor="s")],
        "c": [Leg("c", pulses(2, [4, 9])), Leg("c", pulses(2, [0, 0]), two)],
        "d": [Leg("d", pulses(2, [0, 3]), two, sensor="s")],
    }
    told: list[int] = []
    drive = driven(monkeypatch, legs, told=told.append)
    assert [leg.pulses.turns.tolist() for leg in drive.legs()] == [[0, 1], [1, 2], [3, 4], [5, 5], [6, 6], [7, 10]]
    assert told == [2] * 6


def test_every_other_second(monkeypatch: pytest.MonkeyPatch) -> None:
    times = np.array([9.9, 10.0, 10.99, 11.0, 12.0])
    legs = {"a": [Leg("a", pulses(5), times, sensor="s")]}
    for seconds, wanted in (("even", [1, 2, 4]), ("odd", [0, 3])):
        drive = driven(
            monkeypatch,
            legs,
            seconds=seconds,
            poses=Trajectory.through([9.0, 13.0], [Pose.at(9, 0, 0), Pose.at(13, 0, 0)]),
        )
        (part,) = drive
        assert part.origins[:, 0] == pytest.approx(times[wanted])
    scans = {"a": [Leg("a", pulses())] * 31}
    assert [part.turns[0] for part in driven(monkeypatch, scans, seconds="odd")] == [*range(10, 20), 30]
    assert [part.turns[0] for part in driven(monkeypatch, scans, seconds="even")] == [*range(10), *range(20, 30)]


def test_poses_must_be_of_the_time_of_the_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Trajectory.through([10.0, 11.0], [Pose.at(0, 0, 0), Pose.at(1, 0, 0)])

    def run(start: float, end: float) -> int:
        legs = {"a": [Leg("a", pulses(2), np.array([start, end]), sensor="s")]}
        return sum(len(part) for part in driven(monkeypatch, legs, poses=path))

    assert run(9.81, 11.19) == 2
    for start, end in ((9.79, 10.5), (10.5, 11.21)):
        with pytest.raises(InputError, match="must cover the times of a"):
            run(start, end)
    for start, end in ((11.21, 12.0), (9.0, 9.79)):
        with pytest.raises(InputError, match="must be of the clock of a, which runs from"):
            run(start, end)
    with pytest.raises(InputError, match="a: has no times, so poses do not say"):
        list(driven(monkeypatch, {"a": [Leg("a", pulses())]}, poses=path))
    standing = Trajectory.standing(Pose.at(5, 0, 0))
    legs = {"a": [Leg("a", pulses(), np.array([0.0]), sensor="s")]}
    assert next(iter(driven(monkeypatch, legs, poses=standing))).origins.tolist() == [[5, 0, 0]]


def test_the_vehicle_is_left_out_of_what_the_sensor_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    box = OwnVehicle(box=[2.0, -1.0, -1.0, 4.0, 1.0, 1.0])
    far = pulses(1, reached=8.0)
    legs = {"a": [Leg("a", pulses(2)), Leg("a", far, pose=Pose.at(1, 0, 0)), Leg("a", pulses(3), placed=True)]}
    found = list(driven(monkeypatch, legs, vehicle=box))
    assert [len(part) for part in found] == [1, 3] and found[0].points.tolist() == [[9.0, 0, 0]]


def test_an_added_pulse_has_the_time_of_the_next_point(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = np.setdiff1d(np.arange(360), [100, 101, 102])
    angle = np.deg2rad(taken + 0.5)
    way = np.stack([np.cos(angle), np.sin(angle), np.zeros(357)], 1)
    scan = MeasuredPulses.of(np.zeros(3), way, np.full(357, 9.0), azimuths=angle, complete=False)
    legs = {"a": [Leg("a", scan, taken / 1000.0)]}
    (leg,) = driven(monkeypatch, legs).legs()
    assert leg.times is not None and len(leg.times) == len(leg.pulses) == 360
    assert leg.times[357:] == pytest.approx([0.103] * 3)
    (plain,) = driven(monkeypatch, legs, misses=False).legs()
    assert len(plain.pulses) == 357
    (placed,) = driven(monkeypatch, {"a": [Leg("a", scan, placed=True)]}).legs()
    assert len(placed.pulses) == 357


def test_odometry_is_asked_revolution_by_revolution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a revolution are put together; fewer than 1000 points wait for the next."""

    def leg(turn: int, count: int, at: float) -> Leg:
        return Leg("a", pulses(count, [turn] * count), np.full(count, at), sensor="s")

    legs = {
        "a": [
            leg(0, 600, 0.0),
            leg(0, 500, 0.1),
            leg(1, 999, 0.2),
            leg(2, 10, 0.3),
            leg(3, 1000, 0.4),
            leg(4, 999, 0.5),
        ]
    }
    found = [(len(points), at.min(), at.max()) for points, at in _revolutions(driven(monkeypatch, legs))]
    assert found == [(1100, 0.0, 0.1), (1009, 0.2, 0.3), (1000, 0.4, 0.4)]
    with pytest.raises(InputError, match="has no times or is in the world"):
        list(_revolutions(driven(monkeypatch, {"a": [Leg("a", pulses())]})))


def test_what_moved_was_solid_for_a_short_while_and_is_gone() -> None:
    """Each rule where it turns: returns, pulses that passed meanwhile and otherwise, how long; and rims that touch."""
    cases = {
        # name: voxel, returns, first and last scan, passed within τ, of them before or after
        "moved": ((0, 0, 0), 5, 10, 39, 14, 10),
        "few returns": ((10, 0, 0), 4, 10, 39, 14, 10),
        "seldom seen through": ((20, 0, 0), 5, 10, 39, 13, 9),
        "passed meanwhile": ((30, 0, 0), 5, 10, 39, 15, 10),
        "long": ((40, 0, 0), 5, 10, 40, 14, 10),
        "more returns": ((50, 0, 0), 8, 10, 39, 16, 15),
        "seen through enough": ((60, 0, 0), 8, 10, 39, 23, 16),
        "rim": ((1, 0, 0), 1, 39, 45, 30, 12),
        "rim of another time": ((0, 1, 0), 1, 40, 45, 30, 12),
        "rim before": ((0, 0, 1), 1, 0, 9, 30, 12),
        "rim further": ((2, 0, 0), 1, 20, 25, 30, 12),
    }
    n = len(cases)
    voxels, counts, first, last, passed, otherwise = (np.array(column) for column in zip(*cases.values(), strict=True))
    six, none = np.zeros((n, 6)), np.zeros(n)
    tree = Levelled(
        voxels, np.zeros(n, np.uint8), counts, np.zeros((n, 3)), six, none, six, none, np.stack([first, last], 1), six,
        np.zeros(n, np.bool_),
    )  # fmt: skip
    within = np.stack([passed, np.zeros(n, int)], 1).astype(np.uint32)
    moved = _moved(tree, within, otherwise.astype(np.uint32))
    assert {name for name, gone in zip(cases, moved, strict=True) if gone} == {"moved", "seen through enough", "rim"}
