"""Recordings of a few pulses as they are read: firings, points and their colours, each number worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tussock.errors import InputError
from tussock.files.contents import FARTHEST
from tussock.learn.attributes.knowledge import (
    known_names,
    linear_of_srgb,
    mean_colors,
    most_labels,
    nearest_seen,
    srgb_of_linear,
)
from tussock.learn.range_noise import NO_NOISE, noise_of_model
from tussock.learn.readers import read_pulses
from tussock.learn.readers.captures import pulses_of_firings
from tussock.learn.readers.point_colors import point_colors
from tussock.learn.readers.point_files import _relative, pulses_of_kitti, pulses_of_points
from tussock.learn.readers.read_pulses import load_pulses
from tussock.poses import Pose, Trajectory
from tussock.scene.labels import LABELS
from tussock.wire.firings import Firings

NAN = np.nan


def firings(kinds: tuple[str, ...], ranges: list[list[float]], bright: list[list[float]], **more: Any) -> Firings:
    n = len(ranges)
    way = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [-1.0, 0, 0]])[:n]
    return Firings(
        more.pop("sensor", "vlp-16"), kinds, 100 + np.arange(float(n)), np.arange(n, dtype=np.uint16) + 5,
        np.arange(n, dtype=np.uint16)[::-1], np.arange(n, dtype=np.int32) // 2, np.linspace(0, 3, n), np.tile([0.0, 0, 0.25], (n, 1)),
        way, np.array(ranges), np.array(bright, np.float32), **more,
    )  # fmt: skip


def test_the_strongest_of_two_returns_and_how_far_the_other_is() -> None:
    """Whatever column it stands in; of two that are the same there is one."""
    ranges, bright = [[5.0, 9.0], [6.0, 6.0], [NAN, NAN], [3.0, NAN]], [[0.2, 1.5], [0.3, 0.3], [0, 0], [0.9, 0]]
    one = pulses_of_firings(firings(("strongest", "last"), ranges, bright))
    assert one.ranges == pytest.approx([5, 6, NAN, 3], nan_ok=True) and one.others == pytest.approx(
        [9, NAN, NAN, NAN], nan_ok=True
    )
    assert one.intensity == pytest.approx([0.2, 0.3, 0.0, 0.9]) and one.rings.tolist() == [3, 2, 1, 0]
    assert (
        one.turns.tolist() == [0, 0, 1, 1]
        and one.azimuths.tolist() == [0, 1, 2, 3]
        and one.complete
        and one.reach == 6.0
    )
    assert one.points[0].tolist() == [5.0, 0.0, 0.25] and one.noise == noise_of_model("vlp-16")
    two = pulses_of_firings(firings(("last", "strongest"), ranges, bright, complete=False), reach=70.0)
    assert two.ranges == pytest.approx([9, 6, NAN, NAN], nan_ok=True) and two.others == pytest.approx(
        [5, NAN, NAN, 3], nan_ok=True
    )
    assert two.intensity == pytest.approx([1.0, 0.3, 0.0, 0.0]) and not two.complete and two.reach == 70.0
    only = pulses_of_firings(firings(("last",), [[5.0], [NAN]], [[0.5], [0]], sensor="nobody's"))
    assert (
        only.ranges == pytest.approx([5, NAN], nan_ok=True) and np.isnan(only.others).all() and only.noise == NO_NOISE
    )
    both = pulses_of_firings(firings(("echo", "echo"), ranges, bright))
    assert both.ranges == pytest.approx([5, 6, NAN, 3], nan_ok=True) and both.others[0] == 9


def test_firings_along_a_path() -> None:
    """The times must lie within it, but for a fifth of a second at either end."""
    some = firings(("last",), [[5.0], [5.0], [5.0]], [[0.5]] * 3)
    path = Trajectory.through([100.0, 102.0], [Pose.at(0, 0, 0), Pose.at(8, 0, 0)])
    assert pulses_of_firings(some, trajectory=path).origins[:, 0] == pytest.approx([0, 4, 8])
    near = Trajectory.through([100.19, 101.81], [Pose.at(0, 0, 0), Pose.at(8, 0, 0)])
    assert pulses_of_firings(some, trajectory=near).origins[:, 0] == pytest.approx([0, 4, 8], abs=1e-6)
    for ends in ([100.21, 102.0], [100.0, 101.79]):
        with pytest.raises(InputError, match="trajectory: must cover the times of a capture"):
            pulses_of_firings(some, trajectory=Trajectory.through(ends, [Pose(), Pose.at(1, 0, 0)]), name="a capture")


@pytest.mark.parametrize(
    ("names", "values", "wanted"),
    [
        (("red", "green", "blue"), np.array([10, 200, 255], np.uint8), [10, 200, 255]),
        (("R", "G", "B"), np.array([10, 200, 255], np.uint16), [10, 200, 255]),
        (("red", "green", "blue"), np.array([257, 25700, 65535], np.uint16), [1, 100, 255]),
        (("red", "green", "blue"), np.array([0, 128, 256], np.uint16), [0, 0, 1]),
        (("r", "g", "b"), np.array([0.1, 0.5, 1.0], np.float32), [26, 128, 255]),
        (("r", "g", "b"), np.array([0.6, 1.4, 1.6], np.float32), [1, 1, 2]),
        (("r", "g", "b"), np.array([-5.0, 254.5, 255.0], np.float64), [0, 254, 255]),
        (("r", "g", "b"), np.array([0, 1, 1], np.uint8), [0, 1, 1]),
    ],
)
def test_colours_of_any_scale(names: tuple[str, ...], values: np.ndarray, wanted: list[int]) -> None:
    """Bytes, 16 bits where a value is above 255, shares where numbers with a point are at most 1."""
    found = point_colors({name: values[k : k + 1] for k, name in enumerate(names)} | {"x": np.zeros(1)})
    assert found is not None and found.tolist() == [[*wanted, 255]]


def test_packed_colours_and_colours_that_are_none() -> None:
    for dtype in (np.uint32, np.int32, np.int64):
        found = point_colors({"RGBA": np.array([0x010203], dtype)})
        assert found is not None and found.tolist() == [[1, 2, 3, 255]]
    words = np.array(["a"])
    assert point_colors({"red": words, "green": words, "blue": words}) is None and point_colors({"rgb": words}) is None
    assert point_colors({"red": np.zeros(1), "green": np.zeros(1)}) is None
    odd = point_colors({name: np.array([200.0, np.inf, np.nan]) for name in ("red", "green", "blue")})
    assert odd is not None and odd.tolist() == [[200, 200, 200, 255], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_intensities_of_any_scale() -> None:
    assert _relative(np.array([0.0, 0.5, 1.0])).tolist() == [0.0, 0.5, 1.0]
    assert _relative(np.array([0.0, 0.51, 1.02])).tolist() == pytest.approx([0, 0.002, 0.004])
    assert _relative(np.array([51, 255, -4])).tolist() == pytest.approx([0.2, 1.0, 0.0])
    assert _relative(np.array([256.0])).tolist() == pytest.approx([256 / 65535])
    assert _relative(np.array([256, 65535, 13107])).tolist() == pytest.approx([256 / 65535, 1.0, 0.2])
    assert _relative(np.array([NAN, np.inf, -np.inf, 0.5])).tolist() == [0.0, 0.0, 0.0, 0.5] and not len(
        _relative(np.zeros(0))
    )


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table({name: np.asarray(column) for name, column in columns.items()}), path)
    return path


def test_points_of_a_file_pulse_by_pulse(tmp_path: Path) -> None:
    """One at the very origin is none; one that is not there is a pulse only where it is said which way it went."""
    file = parquet(
        tmp_path / "a.parquet", x=[3.0, 0.0, NAN, NAN, NAN, 0.0], y=[4.0, 0.0, 0.0, 0.0, 0.0, 2.0], z=[0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        intensity=[100.0, 9, 9, 9, 9, 200.0], label=[70, 7, 7, 7, 7, 71], red=[1, 2, 3, 4, 5, 6], green=[0] * 6, blue=[9] * 6, ring=[3, 2, 2, 5, 2, 1],
        direction_x=[1.0, 1.0, 0.0, 0.0, NAN, 1.0], direction_y=[0.0, 0.0, 0.0, 2.0, 0.0, 0.0], direction_z=[0.0] * 6,
    )  # fmt: skip
    pulses = pulses_of_points(file)
    assert pulses.ranges == pytest.approx([5, NAN, 2], nan_ok=True) and pulses.complete and pulses.reach == 5.0
    assert (
        pulses.directions == pytest.approx(np.array([[0.6, 0.8, 0], [0, 1, 0], [0, 1, 0]])) and not pulses.origins.any()
    )
    assert pulses.intensity == pytest.approx([100 / 255, 0, 200 / 255]) and pulses.rings.tolist() == [3, 5, 1]
    assert pulses.labels.tolist() == [70, 0, 71] and pulses.label_names == {n: name for name, n in LABELS.items()}
    assert pulses.colors.tolist() == [[1, 0, 9, 255], [0, 0, 0, 0], [6, 0, 9, 255]]
    alone = pulses_of_points(parquet(tmp_path / "b.parquet", x=[3.0, 0.0], y=[4.0, 0.0], z=[0.0, 0.0]), reach=9.0)
    assert (
        alone.ranges.tolist() == [5.0]
        and not alone.complete
        and alone.intensity == pytest.approx([0.3])
        and alone.reach == 9.0
    )
    assert alone.rings.tolist() == [0] and not alone.labels.any() and not alone.colors.any()
    with pytest.raises(InputError, match="holds no point away from where it was measured from"):
        pulses_of_points(parquet(tmp_path / "c.parquet", x=[0.0], y=[0.0], z=[0.0]))


def test_points_must_be_near_where_they_were_measured_from(tmp_path: Path) -> None:
    """The middle one of them: coordinates of a map are far from zero."""
    for far, fits in ((FARTHEST * 0.999, True), (FARTHEST * 1.001, False)):
        file = parquet(tmp_path / "a.parquet", x=[1.0, far, far, far, NAN], y=np.zeros(5), z=np.zeros(5))
        if fits:
            assert len(pulses_of_points(file)) == 4
        else:
            with pytest.raises(
                InputError, match=rf"origin: must be within {FARTHEST:g} m of the points, got '?{far:.0f} m"
            ):
                pulses_of_points(file)
        assert len(pulses_of_points(file, origin=np.array([far, 5.0, 0.0]))) == 4
        aside = far / np.sqrt(2)
        rows = np.array([[1.0, 0, 0, 0.5], [aside, aside, 0, 0.5], [aside, aside, 0, 2.0]], "<f4")
        rows.tofile(tmp_path / "a.bin")
        if fits:
            assert pulses_of_kitti(tmp_path / "a.bin").intensity.tolist() == [0.5, 0.5, 1.0]
        else:
            with pytest.raises(InputError, match="is in world coordinates"):
                pulses_of_kitti(tmp_path / "a.bin")


def test_points_along_a_path_and_with_origins_of_their_own(tmp_path: Path) -> None:
    path = Trajectory.through([0.0, 2.0], [Pose.at(0, 0, 0), Pose.at(4, 0, 0)])
    columns = {"x": [0.0, 2.0], "y": [3.0, 5.0], "z": [0.0, 0.0]}
    timed = parquet(tmp_path / "a.parquet", **columns, time=[0.0, 1.0])
    assert pulses_of_points(timed, trajectory=path).ranges.tolist() == [3.0, 5.0]
    just = parquet(tmp_path / "b.parquet", **columns, time=[-0.9e-6, 2.0 + 0.9e-6])
    assert len(pulses_of_points(just, trajectory=path)) == 2
    for times in ([-2e-6, 1.0], [0.0, 2.0 + 2e-6]):
        with pytest.raises(InputError, match="trajectory: must cover the points' times"):
            pulses_of_points(parquet(tmp_path / "c.parquet", **columns, time=times), trajectory=path)
    with pytest.raises(InputError, match="has no times"):
        pulses_of_points(parquet(tmp_path / "d.parquet", **columns, time=[0.0, NAN]), trajectory=path)
    own = {f"origin_{axis}": [1.0, 2.0] for axis in "xyz"}
    file = parquet(tmp_path / "e.parquet", **columns, **own, time=[0.0, 1.0])
    assert pulses_of_points(file).origins.tolist() == [[1.0] * 3, [2.0] * 3]
    for options, word in (({"trajectory": path}, "trajectory"), ({"origin": np.zeros(3)}, "origin")):
        with pytest.raises(InputError, match=f"{word}: e.parquet has fields origin_x"):
            pulses_of_points(file, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="origin_x, origin_y, origin_z: must be finite"):
        pulses_of_points(parquet(tmp_path / "f.parquet", **columns, **(own | {"origin_y": [1.0, NAN]})))
    for name, values in (("ring", [0.5, 1.0]), ("ring", [-1, 1]), ("ring", [0, 65536]), ("label", [0, 65536])):
        with pytest.raises(InputError, match=f"{name}: must hold whole numbers from 0 to 65535"):
            pulses_of_points(parquet(tmp_path / "g.parquet", **columns, **{name: values}))
    assert pulses_of_points(parquet(tmp_path / "h.parquet", **columns, ring=[0, 65535])).rings.tolist() == [0, 65535]
    for names in (("x", "y"), ("y", "z")):
        with pytest.raises(InputError, match="x, y and z"):
            pulses_of_points(parquet(tmp_path / "i.parquet", **{name: columns[name] for name in names}))


def test_which_reader_a_file_is_given_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the end of its name; what does not go with it is refused first."""
    made = pulses_of_points(parquet(tmp_path / "a.parquet", x=[3.0, 1.0], y=[4.0, 1.0], z=[0.0, 0.0]))
    asked: list[tuple[str, dict[str, Any]]] = []
    for reader in ("pulses_of_capture", "pulses_of_log", "pulses_of_kitti", "pulses_of_points"):
        monkeypatch.setattr(read_pulses, reader, lambda path, reader=reader, **how: asked.append((reader, how)) or made)
    for name in ("a.pcap", "a.PCAPNG", "a.osf", "a.mcap", "a.bag", "a.bin", "a.csv", "empty.pcap"):
        (tmp_path / name).write_bytes(b"" if name.startswith("empty") else b"x")
    path = Trajectory.standing(Pose())
    for name, reader, options in (
        ("a.pcap", "pulses_of_capture", {"model": "m", "unit": "u", "trajectory": path, "reach": 9.0}),
        ("a.PCAPNG", "pulses_of_capture", {}), ("a.osf", "pulses_of_capture", {}),
        ("a.mcap", "pulses_of_log", {"model": "m", "trajectory": path}), ("a.bag", "pulses_of_log", {"unit": "/t"}),
        ("a.bin", "pulses_of_kitti", {"reach": 5.0}), ("a.csv", "pulses_of_points", {"trajectory": path}),
        ("a.csv", "pulses_of_points", {"origin": [1, 2, 3]}),
    ):  # fmt: skip
        assert load_pulses(tmp_path / name, **options) is made  # type: ignore[arg-type]
        found, how = asked.pop()
        assert found == reader
        wanted = {
            "topic" if key == "unit" and reader == "pulses_of_log" else key: value for key, value in options.items()
        }
        assert {key: how[key].tolist() if key == "origin" else how[key] for key in wanted} == wanted
    assert load_pulses(tmp_path / "a.csv", turns=[0]).ranges.tolist() == made.ranges.tolist()
    with pytest.raises(InputError, match=r"turns: must be among the revolutions of a\.csv, 0 to 0, got '?1"):
        load_pulses(tmp_path / "a.csv", turns=[0, 1])
    for name, options, words in (
        ("a.mcap", {"origin": [0, 0, 0]}, "a log is in the sensor's coordinates"),
        ("a.pcap", {"origin": [0, 0, 0]}, "a capture is in the sensor's coordinates"),
        ("a.bin", {"origin": [0, 0, 0]}, "a KITTI scan is in the sensor's coordinates"),
        ("a.bin", {"trajectory": path}, "a KITTI scan is in the sensor's coordinates"),
        ("a.csv", {"unit": "u"}, "unit: goes with a capture"), ("a.csv", {"model": "m"}, "model: goes with a capture"),
        ("empty.pcap", {}, "is empty"), ("a.volumes", {}, "is a file of volumes"),
        ("a.csv", {"origin": [0, 0, NAN]}, "origin: must be three numbers"), ("a.csv", {"reach": np.inf}, "reach: must be a length above 0"),
        ("a.csv", {"reach": -1.0}, "reach: must be a length above 0"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            load_pulses(tmp_path / name, **options)  # type: ignore[arg-type]
    assert load_pulses(tmp_path / "a.csv", reach=1e-9) is made


def test_light_of_srgb() -> None:
    """IEC 61966-2-1: a line up to 0.04045, above it ((s + 0.055)/1.055)^2.4; there and back the same."""
    every = np.arange(256, dtype=np.uint8)
    light = linear_of_srgb(every)
    assert light[[0, 10, 11, 255]] == pytest.approx([0, 10 / 255 / 12.92, ((11 / 255 + 0.055) / 1.055) ** 2.4, 1.0])
    assert light[188] == pytest.approx(0.5029, abs=1e-4) and (np.diff(light) > 0).all()
    assert srgb_of_linear(light).tolist() == every.tolist()
    assert srgb_of_linear(np.array([-1.0, 0.0031, 0.0032, 0.5, 2.0])).tolist() == [0, 10, 11, 188, 255]


def test_names_and_labels_of_volumes() -> None:
    labels = np.array([0, 70, 300, 301], np.uint16)
    assert known_names(labels, {300: "fern", 999: "gone"}) == {"vegetation": 70, "fern": 300}
    assert (
        known_names(labels, {70: "hedge"}) == {"hedge": 70} and known_names(np.zeros(2, np.uint16), {0: "none"}) == {}
    )
    places = np.array([[0.0, 0, 0], [9.0, 0, 0], [2.0, 0, 0], [8.0, 0, 0]])
    assert nearest_seen(places, np.array([False, False, True, True])).tolist() == [0, 1, 0, 1]
    assert (
        nearest_seen(places, np.ones(4, bool)).tolist()
        == nearest_seen(places, np.zeros(4, bool)).tolist()
        == [0, 1, 2, 3]
    )
    none = {
        "label_keys": np.zeros(0, np.int64),
        "label_counts": np.zeros(0, np.int64),
        "light": np.zeros((0, 4), np.int64),
    }
    assert most_labels(none, np.array([3])).shape == (0,) and mean_colors(none).shape == (0, 4)
    # Of volume 0 two of four returns are 7, of volume 1 three of four, of volume 2 as many are 8 as 9.
    told = {
        "label_keys": np.array([7, 65536 + 7, 2 * 65536 + 9, 2 * 65536 + 8]),
        "label_counts": np.array([2, 3, 2, 2]),
    }
    assert most_labels(told, np.array([4, 4, 4])).tolist() == [0, 7, 8]
    light = np.array([[2**20, 0, 2**19, 1], [0, 0, 0, 0], [2**20, 2**20, 0, 2]])
    assert mean_colors({"light": light}).tolist() == [[255, 0, 188, 255], [0, 0, 0, 0], [188, 188, 0, 255]]
