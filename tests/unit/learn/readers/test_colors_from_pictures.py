"""Colours of points by each convention, and pulses that end elsewhere or nowhere, which have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.contents import FARTHEST
from tussock.learn.readers.captures import pulses_of_firings
from tussock.learn.readers.point_colors import point_colors
from tussock.learn.readers.point_files import _from_elsewhere, _relative
from tussock.poses import Pose, Trajectory
from tussock.wire.firings import Firings


def channels(dtype: str, *rows: tuple[float, float, float]) -> dict[str, np.ndarray]:
    return {
        name: np.array(column, dtype)
        for name, column in zip(("red", "green", "blue"), zip(*rows, strict=True), strict=True)
    }


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        (channels("u1", (255, 3, 0), (0, 0, 9)), [[255, 3, 0, 255], [0, 0, 9, 255]]),
        (channels("u2", (255, 3, 0)), [[255, 3, 0, 255]]),
        (channels("u2", (256, 65535, 0)), [[1, 255, 0, 255]]),
        (channels("f4", (1.0, 0.5, 0.0)), [[255, 128, 0, 255]]),
        (channels("f4", (1.01, 200.0, 255.0)), [[1, 200, 255, 255]]),
        (channels("f4", (1.4, 0.6, 0.0)), [[1, 1, 0, 255]]),
        (channels("f4", (np.nan, 0.5, 0.0), (1.0, 0.0, 0.2)), [[0, 0, 0, 0], [255, 0, 51, 255]]),
        (channels("i2", (1, 0, 1)), [[1, 0, 1, 255]]),
        ({"R": np.array([1.0]), "G": np.array([0.0]), "B": np.array([0.2])}, [[255, 0, 51, 255]]),
        ({"rgb": np.array([0x010203], "u4")}, [[1, 2, 3, 255]]),
        ({"rgba": np.array([0xFF0A0B0C], "u4")}, [[10, 11, 12, 255]]),
        ({"rgb": np.array([0x0A0B0C], "u4").view("f4")}, [[10, 11, 12, 255]]),
        ({"rgb": np.array([-1], "i4")}, [[255, 255, 255, 255]]),
    ],
)  # fmt: skip
def test_each_way_to_say_a_colour(fields: dict[str, np.ndarray], wanted: list[list[int]]) -> None:
    found = point_colors(fields)
    assert found is not None and found.tolist() == wanted


def test_none_where_there_are_none() -> None:
    assert point_colors({"red": np.zeros(1), "green": np.zeros(1)}) is None
    assert point_colors({name: np.array(["a"]) for name in ("red", "green", "blue")}) is None


def cloud(points: list[list[float]], **fields: object) -> dict[str, np.ndarray]:
    xyz = {axis: np.array(column, np.float64) for axis, column in zip("xyz", np.transpose(points), strict=True)}
    return xyz | {name: np.asarray(column) for name, column in fields.items()}


NAN = [np.nan] * 3
FILE = Path("a.csv")


def test_pulses_without_return_have_neither_colour_nor_label() -> None:
    """They are kept where the file says which way they went, and are not complete without them."""
    way = {f"direction_{axis}": np.array([0, 0, 1.0, np.nan, 0.0]) for axis in "xy"}
    way["direction_z"] = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    fields = cloud(
        [[1, 0, 0], [0, 0, 0], NAN, NAN, NAN], label=[70, 71, 72, 73, 74], red=[9] * 5, green=[8] * 5, blue=[7] * 5,
        ring=[0, 1, 2, 3, 4], intensity=[51, 0, 255, 255, 255], **way,
    )  # fmt: skip
    pulses = _from_elsewhere(FILE, fields, None, None, 30.0)
    assert pulses.rings.tolist() == [0, 2] and pulses.hit.tolist() == [True, False] and pulses.complete
    assert pulses.colors.tolist() == [[9, 8, 7, 255], [0, 0, 0, 0]] and pulses.labels.tolist() == [70, 0]
    assert pulses.directions[1] == pytest.approx([1 / np.sqrt(2), 1 / np.sqrt(2), 0]) and pulses.reach == 30.0
    assert pulses.intensity == pytest.approx([0.2, 0.0])
    plain = _from_elsewhere(FILE, cloud([[1, 0, 0], [0, 2, 0]]), None, None, None)
    assert not plain.complete and plain.reach == 2.0 and plain.intensity == pytest.approx([0.3, 0.3])
    assert not plain.colors.any() and not plain.labels.any() and not plain.rings.any()


def test_where_points_were_measured_from() -> None:
    points = [[4.0, 0, 0], [4.0, 3.0, 0]]
    named = {f"origin_{axis}": np.array([1.0, 4.0]) * (axis == "x") for axis in "xyz"}
    path = Trajectory.through([0.0, 1.0], [Pose.at(1, 0, 0), Pose.at(4, 0, 0)])
    for fields, origin, trajectory in (
        (cloud(points, **named), None, None),
        (cloud(points, time=[0.0, 1.0]), None, path),
    ):
        pulses = _from_elsewhere(FILE, fields, origin, trajectory, None)
        assert pulses.ranges == pytest.approx([3.0, 3.0]) and pulses.origins[:, 0].tolist() == [1.0, 4.0]
    alone = _from_elsewhere(FILE, cloud(points), np.array([4.0, 0, -1.0]), None, None)
    assert alone.ranges == pytest.approx([1.0, np.sqrt(10)])
    for fields, origin, trajectory, words in (
        (cloud(points, **named), np.zeros(3), None, "^origin: a.csv has fields origin_x"),
        (cloud(points, **named), None, path, "^trajectory: a.csv has fields origin_x"),
        (cloud(points, **(named | {"origin_y": np.array([0, np.inf])})), None, None, "must be finite"),
        (cloud(points), None, path, "has no times"),
        (cloud(points, time=[0.0, np.nan]), None, path, "has no times"),
        (cloud(points, time=[0.0, 1.1]), None, path, "must cover the points' times"),
        (cloud([[0.0, 0, 0], NAN]), None, None, "holds no point away from where it was measured from"),
        (cloud([[1.01 * FARTHEST, 0, 0]]), None, None, "must be within 100000 m of the points"),
        (cloud(points, ring=[0.5, 1]), None, None, "ring: must hold whole numbers from 0 to 65535"),
        (cloud(points, ring=[-1, 1]), None, None, "ring: must hold whole numbers"),
        (cloud(points, ring=[65536, 1]), None, None, "ring: must hold whole numbers"),
        (cloud(points, label=[-1.0, 2]), None, None, "label: must hold whole numbers"),
    ):
        with pytest.raises(InputError, match=words):
            _from_elsewhere(FILE, fields, origin, trajectory, None)
    far = _from_elsewhere(FILE, cloud([[0.99 * FARTHEST, 0, 0]], ring=[65535]), None, None, None)
    assert far.rings.tolist() == [65535]


def test_intensities_of_any_scale() -> None:
    assert _relative(np.array([0.0, 1.0, np.nan, -2.0, np.inf])).tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert _relative(np.array([0, 51, 255])).tolist() == [0.0, 0.2, 1.0]
    assert _relative(np.array([256, 65535])).tolist() == pytest.approx([256 / 65535, 1.0])
    assert _relative(np.array([1.5])).tolist() == pytest.approx([1.5 / 255])
    assert _relative(np.array([])).tolist() == []


def test_of_two_returns_the_strongest_counts_and_the_other_is_how_far() -> None:
    """Where both are the same there is no other; of one kind alone that is taken, whichever it is."""
    nan = np.nan
    ranges = np.array([[5.0, 9.0], [6.0, 6.0], [nan, nan], [8.0, 4.0]])

    def firings(kinds: tuple[str, ...], columns: list[int]) -> Firings:
        bright = np.array([[0.5, 0.1], [1.7, 0.2], [0, 0], [0.4, 0.9]], np.float32)[:, columns]
        return Firings(
            "vlp-16", kinds, np.linspace(0.0, 1.0, 4), np.arange(4, dtype=np.uint16), np.arange(4, dtype=np.uint16)[::-1],
            np.array([0, 0, 1, 1], np.int32), np.linspace(0, 1, 4), np.zeros((4, 3)), np.tile([1.0, 0, 0], (4, 1)),
            ranges[:, columns], bright,
        )  # fmt: skip

    for kinds, columns in ((("strongest", "last"), [0, 1]), (("last", "strongest"), [1, 0])):
        both = pulses_of_firings(firings(kinds, columns), reach=50.0)
        assert both.ranges == pytest.approx([5, 6, nan, 8], nan_ok=True)
        assert both.others == pytest.approx([9, nan, nan, 4], nan_ok=True)
        assert both.intensity == pytest.approx([0.5, 1.0, 0.0, 0.4]) and both.rings.tolist() == [3, 2, 1, 0]
        assert both.turns.tolist() == [0, 0, 1, 1] and both.reach == 50.0 and both.complete
    one = pulses_of_firings(firings(("last",), [1]))
    assert one.ranges == pytest.approx([9, 6, nan, 4], nan_ok=True) and np.isnan(one.others).all()
    path = Trajectory.through([0.0, 1.0], [Pose.at(1, 0, 0), Pose.at(4, 0, 0)])
    assert pulses_of_firings(firings(("last",), [1]), trajectory=path).points[:, 0] == pytest.approx(
        [10, 8, nan, 8], nan_ok=True
    )
    with pytest.raises(InputError, match="must cover the times of the firings"):
        pulses_of_firings(
            firings(("last",), [1]), trajectory=Trajectory.through([0.0, 0.7], [Pose(), Pose.at(1, 0, 0)])
        )
