"""Labels and colours of volumes: counted however the pulses come, kept in files, reported by scans."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tussock
from tussock.errors import InputError
from tussock.learn.attributes.knowledge import Knowledge, linear_of_srgb, mean_colors, most_labels, srgb_of_linear
from tussock.learn.readers.point_colors import point_colors
from tussock.scene.volumes import Volumes


def pulses_at(points: np.ndarray, labels: np.ndarray, colors: np.ndarray | None = None) -> tussock.MeasuredPulses:
    pulses = tussock.MeasuredPulses.of(np.zeros(3), points, np.linalg.norm(points, axis=1), reach=50)
    more = {} if colors is None else {"colors": np.column_stack([colors, np.full(len(points), 255)]).astype(np.uint8)}
    return replace(pulses, labels=labels.astype(np.uint16), **more)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_most_labels_is_a_plain_vote_however_the_pulses_are_cut(seed: int, parts: int) -> None:
    rng = np.random.default_rng(seed)
    n, volumes = 60, 7
    where, labels = rng.integers(-1, volumes, n), rng.choice([0, 3, 70, 9000], n)
    colors = rng.integers(0, 256, (n, 3))
    pulses = pulses_at(rng.normal(9, 1, (n, 3)), labels, colors)
    knowledge = Knowledge(volumes)
    for rows in np.array_split(np.arange(n), parts):
        knowledge.add(pulses.select(rows), where[rows])
    returns = np.bincount(where[where >= 0], minlength=volumes)
    got, shown = most_labels(knowledge.totals(), returns), mean_colors(knowledge.totals())
    for volume in range(volumes):
        mine = labels[where == volume]
        if len(got):
            votes = {label: int((mine == label).sum()) for label in sorted({0, *mine.tolist()})}
            most = max(votes.values())
            assert got[volume] == (0 if votes[0] == most else min(k for k, v in votes.items() if v == most))
        if len(mine):
            mean = srgb_of_linear(linear_of_srgb(colors[where == volume].astype(np.uint8)).mean(0))
            assert np.abs(shown[volume, :3].astype(int) - mean).max() <= 1
            assert shown[volume, 3] == 255
        else:
            assert not shown[volume].any()


def two_bushes(rng: np.random.Generator) -> tussock.MeasuredPulses:
    points = np.concatenate([rng.normal((8, -2, 0), 0.4, (600, 3)), rng.normal((8, 2, 0), 0.4, (600, 3))])
    labels = np.repeat([104, 71], 600)
    return pulses_at(points, labels, np.repeat([(200, 30, 30), (30, 30, 200)], 600, axis=0))


@pytest.mark.parametrize("method", ["voxels", "two-means"])
def test_what_is_learned_is_kept_and_scanned(tmp_path: Path, method: str) -> None:
    volumes = tussock.learn_volumes(
        two_bushes(np.random.default_rng(1)), voxel=0.5, method=method, say=lambda note: None
    )
    assert volumes.label_names == {"shrub": 104, "trunk": 71}
    right = volumes.means[:, 1] > 0
    np.testing.assert_array_equal(volumes.labels, np.where(right, 71, 104))
    np.testing.assert_array_equal(volumes.colors[:, 0] > 100, ~right)
    tussock.save_volumes(volumes, tmp_path / "b.volumes")
    again = tussock.load_volumes(tmp_path / "b.volumes")
    for name in ("labels", "colors"):
        np.testing.assert_array_equal(getattr(again, name), getattr(volumes, name))
    scene = tussock.Scene("bushes")
    # A second model, without labels and shuffled, stands beside: each keeps its own.
    shuffled = np.random.default_rng(2).permutation(len(volumes))
    rows = {
        name: getattr(again, name)[shuffled] for name in ("means", "precisions", "permeability", "shells", "closure")
    }
    rows |= {name: getattr(again, name)[shuffled] for name in ("pulses", "intensity", "held", "second", "levels")}
    plain = replace(again, **rows, labels=np.zeros(0, np.uint16), colors=np.zeros((0, 4), np.uint8))
    scene.add_volumes(plain, name="plain", position=(0, 12, 0))
    scene.add_volumes(
        replace(again, **rows, labels=again.labels[shuffled], colors=again.colors[shuffled]), name="named"
    )
    frame = tussock.scan(scene, tussock.load_sensor("vlp-32c"), seed=3)
    hit = frame.select(frame.hit)
    plain_id = scene.volumes[0].id
    assert set(hit.label[hit.object_id == plain_id].tolist()) == {70}
    named = hit.select(hit.object_id != plain_id)
    assert set(named.label.tolist()) == {71, 104}
    np.testing.assert_array_equal(named.label == 71, named.true_xyz[:, 1] > 0)


def test_files_of_version_4_are_read(tmp_path: Path) -> None:
    volumes = tussock.learn_volumes(two_bushes(np.random.default_rng(1)), voxel=0.5, say=lambda note: None)
    tussock.save_volumes(volumes, tmp_path / "new.volumes")
    with np.load(tmp_path / "new.volumes") as archive:
        arrays = dict(archive)
    about = json.loads(arrays["about"].tobytes())
    for name in ("labels", "colors"):
        del arrays[name]
    assert "labels" not in arrays
    del about["label_names"]
    about["version"] = 4
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    with (tmp_path / "old.volumes").open("wb") as file:
        np.savez_compressed(file, **arrays)
    old = tussock.load_volumes(tmp_path / "old.volumes")
    assert len(old.labels) == 0
    assert len(old.colors) == 0
    np.testing.assert_array_equal(old.means, volumes.means)


def with_label(number: int, names: dict[str, int]) -> Volumes:
    volumes = tussock.learn_volumes(two_bushes(np.random.default_rng(1)), voxel=0.5, say=lambda note: None)
    return replace(volumes, labels=np.full(len(volumes), number, np.uint16), label_names=names)


def test_labels_that_a_scene_does_not_know_become_its_own() -> None:
    scene = tussock.Scene("s")
    scene.add_volumes(with_label(300, {"fern": 300}))
    scene.add_volumes(with_label(301, {}))
    assert scene.labels["fern"] == 300
    assert scene.labels["label-301"] == 301
    frame = tussock.scan(scene, tussock.load_sensor("vlp-16"))
    assert set(frame.label[frame.hit].tolist()) <= {300, 301}
    other = tussock.Scene("o", labels={"rail": 300})
    with pytest.raises(InputError, match=r"volumes label 300: must be 'rail' as in the scene, got 'fern'"):
        other.add_volumes(with_label(300, {"fern": 300}))
    with pytest.raises(InputError, match=r"volumes label 'fern': must be a whole number"):
        with_label(300, {"fern": -1})


def test_a_labelled_kitti_scan_and_las_classes_and_colours(tmp_path: Path) -> None:
    points = np.random.default_rng(3).normal((9, 0, 0), 0.6, (500, 3))
    rows = np.column_stack([points, np.full(500, 0.4)]).astype("<f4")
    (tmp_path / "velodyne").mkdir()
    (tmp_path / "labels").mkdir()
    rows.tofile(tmp_path / "velodyne" / "000000.bin")
    np.full(500, 71 | 5 << 16, "<u4").tofile(tmp_path / "labels" / "000000.label")
    pulses = tussock.load_pulses(tmp_path / "velodyne" / "000000.bin")
    assert (pulses.labels == 71).all()
    laspy = pytest.importorskip("laspy", reason="needs laspy: pip install 'tussock[las]'")
    header = laspy.LasHeader(point_format=7, version="1.4")
    header.scales = np.full(3, 1e-4)
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = points.T
    cloud.classification = np.full(500, 5, np.uint8)
    cloud.red, cloud.green, cloud.blue = np.full(500, 257 * 10), np.full(500, 257 * 90), np.full(500, 257 * 200)
    cloud.write(str(tmp_path / "a.las"))
    pulses = tussock.load_pulses(tmp_path / "a.las", say=lambda note: None)
    volumes = tussock.learn_volumes(pulses, voxel=0.5, say=lambda note: None)
    assert volumes.label_names == {"vegetation": 70}
    assert volumes.colors[0].tolist() == [10, 90, 200, 255]


def test_colours_of_points_in_all_their_forms() -> None:
    ints = {name: np.array([v, v], np.uint8) for name, v in (("red", 1), ("green", 0), ("blue", 1))}
    assert point_colors(ints)[0].tolist() == [1, 0, 1, 255]
    shares = {name: np.array([0.5, np.nan]) for name in ("Red", "Green", "Blue")}
    assert point_colors(shares).tolist() == [[128, 128, 128, 255], [0, 0, 0, 0]]
    packed = np.array([0x0A5AC8], np.uint32)
    for field in (packed, packed.view(np.float32)):
        assert point_colors({"rgb": field}).tolist() == [[10, 90, 200, 255]]
    assert point_colors({"x": packed}) is None


def test_photographs_colour_what_they_see_and_not_what_is_behind(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    near, far = rng.uniform((5.3, -2, -2), (5.5, 2, 2), (30000, 3)), rng.uniform((9.3, -3, -3), (9.5, 3, 3), (1500, 3))
    volumes = tussock.learn_volumes(
        pulses_at(np.concatenate([near, far]), np.zeros(31500)), voxel=0.4, say=lambda note: None
    )
    camera = tussock.Camera(width=64, height=48)
    red = tussock.Photo(np.full((48, 64, 3), (180, 20, 20), np.uint8), camera, tussock.Pose.at(0, 0, 0))
    blue = tussock.Photo(np.full((48, 64, 3), (20, 20, 180), np.uint8), camera, tussock.Pose.at(14, 0, 0, yaw=np.pi))
    colored = tussock.color_volumes(volumes, [red, blue], threads=2)
    shown = colored.colors[:, 3] > 0
    front, back = colored.means[:, 0] < 7, colored.means[:, 0] > 7
    assert (shown & front).sum() > 50
    assert (shown & back).sum() > 50
    assert (colored.colors[shown & front, 0] > 100).mean() > 0.95, "the near wall is red"
    assert (colored.colors[shown & back, 2] > 100).mean() > 0.95, "behind it, only the camera behind it counts"
    with pytest.raises(InputError, match="none of them shows any volume"):
        tussock.color_volumes(volumes, [replace(red, pose=tussock.Pose.at(0, 0, 0, yaw=np.pi))])
    with pytest.raises(InputError, match="must be bytes of the shape"):
        replace(red, rgb=np.zeros((2, 2, 3), np.uint8))
    (tmp_path / "photos.toml").write_text('[[photos]]\nimage = "no.png"\ncamera = "c.toml"\npose = [0, 0, 1]\n')
    with pytest.raises(InputError, match="no such photograph"):
        tussock.load_photos(tmp_path / "photos.toml")


def test_pulses_that_are_fired_again_have_the_labels_of_what_they_meet() -> None:
    pulses = two_bushes(np.random.default_rng(1))
    volumes = tussock.learn_volumes(pulses, voxel=0.5, say=lambda note: None)
    again = tussock.simulate_volumes(volumes, replace(pulses, labels=np.zeros(len(pulses), np.uint16)), seed=1)
    right = again.points[again.hit, 1] > 0
    np.testing.assert_array_equal(again.labels[again.hit], np.where(right, 71, 104))
    assert not again.labels[~again.hit].any()
