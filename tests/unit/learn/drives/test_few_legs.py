"""Recordings made by hand, learned as a drive: logs of points, sequences, frames, poses by odometry, what is kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.files.formats import save_frame
from tussock.learn import learn_drive as module
from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.drives import odometry
from tussock.learn.drives.kept import KeptPasses
from tussock.learn.drives.legs import Leg, Reading, files_of, legs_of
from tussock.learn.drives.sequences import sequence_legs
from tussock.learn.learn_drive import DriveOptions, learn_drive, open_drive
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers import logs
from tussock.learn.readers.read_pulses import load_pulses
from tussock.learn.surface import _averaged, _normals, _thinned
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.ros.read_log import Cloud

NAN = np.nan


def cloud(**fields: list[float]) -> Cloud:
    named = {name: np.array(column) for name, column in fields.items()}
    return Cloud("/points", 5.0, {"time": np.full(len(named["x"]), 5.0)} | named)


def pulses_of(monkeypatch: pytest.MonkeyPatch, *clouds: Cloud, **how: Any) -> list[tuple[MeasuredPulses, np.ndarray]]:
    monkeypatch.setattr(logs, "read_clouds", lambda path, topic=None: list(clouds))
    return list(logs.clouds_as_pulses(Path("a.mcap"), **how))


def test_points_of_a_log_are_pulses_from_the_sensor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place of a pulse without return is the origin, or none; where it went is not said."""
    one = cloud(
        x=[3.0, 0.0, NAN, 0.0], y=[4.0, 0.0, 1.0, -2.0], z=[0.0, 0.0, 1.0, 0.0], intensity=[50.0, 1.0, 1.0, 250.0],
        ring=[3, 1, 1, 2], time=[5.0, 5.1, 5.2, 5.3], label=[70.0, 1.0, 1.0, 99999.0], rgb=[0x010203] * 4,
    )  # fmt: skip
    none = cloud(x=[0.0], y=[0.0], z=[0.0])
    ((pulses, times),) = pulses_of(monkeypatch, one, none, reach=44.0)
    assert pulses.ranges.tolist() == [5.0, 2.0] and pulses.directions.tolist() == [[0.6, 0.8, 0.0], [0.0, -1.0, 0.0]]
    assert times.tolist() == [5.0, 5.3] and pulses.rings.tolist() == [3, 2] and pulses.reach == 44.0
    assert pulses.intensity == pytest.approx([0.5, 1.0]) and pulses.labels.tolist() == [70, 65535]
    assert pulses.azimuths == pytest.approx([np.arctan2(0.8, 0.6), -np.pi / 2]) and not pulses.complete
    assert pulses.colors.tolist() == [[1, 2, 3, 255]] * 2 and not pulses.origins.any()
    bright = cloud(x=[1.0], y=[0.0], z=[0.0], reflectivity=[20.0], intensity=[90.0], line=[4])
    ((other, _),) = pulses_of(monkeypatch, bright)
    assert other.intensity == pytest.approx([0.2]) and other.rings.tolist() == [4] and other.reach == 1.0
    ((plain, _),) = pulses_of(monkeypatch, cloud(x=[1.0], y=[0.0], z=[0.0]))
    assert plain.intensity == pytest.approx([0.3]) and plain.rings.tolist() == [0] and not plain.colors.any()
    with pytest.raises(InputError, match="holds no point away from the sensor"):
        pulses_of(monkeypatch, none)
    flat = Cloud("/flat", 5.0, {"x": np.ones(1), "y": np.ones(1)})
    with pytest.raises(InputError, match="/flat has no field 'z'"):
        pulses_of(monkeypatch, flat)


def test_a_log_is_read_message_by_message_along_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    clouds = [cloud(x=[2.0], y=[0.0], z=[0.0], time=[float(t)]) for t in (0, 1)]
    monkeypatch.setattr(logs, "log_firings", lambda *args, **how: None)
    monkeypatch.setattr(logs, "read_clouds", lambda path, topic=None: clouds)
    path = Trajectory.through([0.0, 1.0], [Pose.at(1, 0, 0), Pose.at(5, 0, 0)])
    still, moved = logs.pulses_of_log(Path("a")), logs.pulses_of_log(Path("a"), trajectory=path)
    assert still.points[:, 0].tolist() == [2.0, 2.0] and moved.points[:, 0] == pytest.approx([3.0, 7.0])
    assert still.turns.tolist() == moved.turns.tolist() == [0, 1]
    short = Trajectory.through([0.0, 0.79], [Pose.at(1, 0, 0), Pose.at(5, 0, 0)])
    with pytest.raises(InputError, match="must cover the times of a"):
        logs.pulses_of_log(Path("a"), trajectory=short)


def frame_file(path: Path, sensor_name: str = "vlp-16", number: int = 0) -> Path:
    frame = made_frame(load_sensor(sensor_name), number, share=0.5, seed=3)
    save_frame(frame.select(frame.pulse % 300 == 5), path)
    return path


def test_a_drive_of_two_frames_by_default(tmp_path: Path) -> None:
    """All voxels alike, nothing of the vehicle looked for, what moved left out, and where it came from told."""
    files = [frame_file(tmp_path / f"{k}.npz", number=k) for k in range(2)]
    notes: list[str] = []
    volumes = learn_drive(files, options=DriveOptions(voxel=20.0), say=notes.append)
    assert volumes.meta["fewest"] == 0.0 and volumes.meta["filled"] == 0 and not volumes.levels.any()
    assert volumes.meta["files"] == ["0.npz", "1.npz"] and volumes.tau == 2.0 and not volumes.meta["plain"]
    both = [load_pulses(file) for file in files]
    assert volumes.meta["returns"] == sum(int(one.hit.sum()) for one in both)
    assert [note[:43] for note in notes] == ["drive: pulses without return are not among "]
    noisy = learn_drive(files, options=DriveOptions(voxel=20.0, range_noise=0.3, regions=True), say=lambda note: None)
    assert noisy.meta["range_noise_m"] == pytest.approx(0.3) and noisy.meta["fewest"] == 3.0
    fewer = learn_drive(files, options=DriveOptions(voxel=20.0, fewest=1.5), say=lambda note: None)
    assert fewer.meta["fewest"] == 1.5
    with pytest.raises(InputError, match="vehicle: must be a box"):
        learn_drive(files, options=DriveOptions(voxel=20.0, vehicle="bus"))
    with pytest.raises(InputError, match="at least one file or folder"):
        open_drive([], None, DriveOptions(), notes.append)


def test_the_vehicle_is_looked_for_where_the_sensor_moved_five_metres(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    looked: list[int] = []
    monkeypatch.setattr(module.Drive, "with_vehicle_found", lambda drive: looked.append(1) or drive)
    file = frame_file(tmp_path / "a.npz")
    for far, found in ((5.1, 1), (4.9, 0)):
        path = Trajectory.through([0.0, 1.0], [Pose(), Pose.at(0, far, 0)])
        open_drive([file], path, DriveOptions(), print)
        assert len(looked) == found
        looked.clear()
    open_drive([file], None, DriveOptions(), print)
    assert not looked
    drive = open_drive([file], None, DriveOptions(vehicle=[0, 0, 0, 1, 1, 1], seconds="odd"), print)
    assert drive.vehicle is not None and drive.vehicle.directions == 0 and drive.seconds == "odd"


def test_the_beginning_chooses_the_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As many parts as three million pulses take, and no more."""
    asked: list[int] = []
    monkeypatch.setattr(module, "_BEGINNING", 60)
    monkeypatch.setattr(module, "choose_voxel", lambda parts, **how: asked.append(sum(map(len, parts))) or 20.0)
    files = [frame_file(tmp_path / f"{k}.npz", number=k) for k in range(3)]
    sizes = [len(load_pulses(file)) for file in files]
    volumes = learn_drive(files, options=DriveOptions(plain=True), say=lambda note: None)
    assert volumes.cell == 20.0 and asked == [sizes[0] + sizes[1]] and sizes[0] < 60 <= sum(sizes[:2])


def test_of_one_place_a_fifth_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n = 400
    pulses = MeasuredPulses.of(np.zeros(3), rng.normal((5, 0, 0), 0.5, (n, 3)), np.full(n, 5.0), reach=9.0)
    learned: list[int] = []

    def fit(training: MeasuredPulses, **how: Any) -> None:
        learned.append(len(training))

    monkeypatch.setattr("tussock.learn.choose_voxel.fit_volumes", fit)
    monkeypatch.setattr("tussock.learn.choose_voxel.log_likelihood", lambda volumes, test, **how: float(len(test)))
    assert choose_voxel(pulses) > 0
    assert set(learned) == {learned[0]} and 0.75 * n < learned[0] < 0.85 * n


def test_folders_are_the_files_in_them(tmp_path: Path) -> None:
    (tmp_path / "scans").mkdir()
    for name in ("b.npz", "a.pcap", "c.txt", "d.csv"):
        (tmp_path / "scans" / name).touch()
    assert [file.name for file in files_of([tmp_path / "scans"])] == ["a.pcap", "b.npz", "d.csv"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no scans"):
        files_of([tmp_path / "empty"])
    with pytest.raises(InputError, match="no such file or folder"):
        files_of([tmp_path / "none"])
    (leg,) = legs_of(frame_file(tmp_path / "f.npz"), Reading(reach=77.0))
    assert leg.placed and leg.times is None and leg.pulses.reach == 77.0 and leg.name == "f.npz"


def test_poses_of_a_sequence(tmp_path: Path) -> None:
    """Of the first camera with Tr: P·Tr, and x ahead, y left, z up; comments and other lines of calib.txt are passed over."""
    (tmp_path / "velodyne").mkdir()
    points = np.array([[3.0, 1.0, 0.5, 0.25], [0.0, 0.0, 0.0, 0.0], [4.0, 0.0, -1.0, 2.0]], "<f4")
    points.tofile(tmp_path / "velodyne" / "000007.bin")
    camera = np.column_stack([np.eye(3), [2.0, 3.0, 5.0]])
    (tmp_path / "poses.txt").write_text(" ".join(map(str, camera.ravel())) + "\n")
    turn = np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])
    tr = np.column_stack([turn, [0.1, 0.2, 0.3]])
    (tmp_path / "calib.txt").write_text("P0: 1 2 3\nnothing\nTr: " + " ".join(map(str, tr.ravel())) + "\n")
    (scan,) = sequence_legs(tmp_path, reach=60.0)
    assert scan.name == "000007.bin" and scan.pulses.reach == 60.0 and len(scan.pulses) == 2
    # In the camera's axes the LIDAR is at (2.1, 3.2, 5.3): x right, y down, z ahead.
    assert scan.pose.position == pytest.approx([5.3, -2.1, -3.2])
    assert scan.pulses.placed(scan.pose).points[0] == pytest.approx([8.3, -1.1, -2.7], abs=1e-6)
    assert scan.pulses.intensity == pytest.approx([0.25, 1.0])
    for text in ("P0: 1 2 3\n", None):
        (tmp_path / "calib.txt").write_text(text) if text else (tmp_path / "calib.txt").unlink()
        (plain,) = sequence_legs(tmp_path)
        assert plain.pose.position == pytest.approx([2.0, 3.0, 5.0])
    (tmp_path / "poses.txt").write_text("1 2 3\n")
    with pytest.raises(InputError, match="not a sequence of KITTI's kind"):
        list(sequence_legs(tmp_path))


def test_poses_by_odometry_hold_for_the_ends_of_revolutions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one a step before; points come with their times from 0 to 1."""
    seen: list[tuple[int, float, float, float]] = []

    class Icp:
        def __init__(self, config: object) -> None:
            self.last_pose = np.eye(4)

        def register_frame(self, points: np.ndarray, since: np.ndarray) -> None:
            seen.append((len(points), since.min(), since.max(), float(np.median(since))))
            self.last_pose = np.eye(4)
            self.last_pose[0, 3] = len(seen)

    fake = SimpleNamespace(KissICP=Icp, load_config=lambda path, max_range: None)
    monkeypatch.setattr(odometry, "load_extra", lambda *args, **how: fake)
    monkeypatch.setattr(odometry, "files_of", lambda paths: paths)

    def legs(drive: object) -> Any:
        for turn in range(count):
            n = 1000
            pulses = MeasuredPulses.of(np.zeros(3), np.tile([1.0, 0, 0], (n, 1)), np.ones(n), turns=np.full(n, turn))
            yield Leg("a", pulses, np.linspace(turn + 10.25, turn + 10.75, n), sensor="s")

    monkeypatch.setattr(odometry.Drive, "legs", legs)
    count = 3
    path = odometry.poses_by_odometry(["a"])
    assert path.times.tolist() == [9.75, 10.75, 11.75, 12.75] and path.positions[:, 0].tolist() == [1, 1, 2, 3]
    assert seen == [(1000, 0.0, 1.0, pytest.approx(0.5))] * 3
    count = 2
    assert odometry.poses_by_odometry(["a"]).times.tolist() == [9.75, 10.75, 11.75]
    count = 1
    with pytest.raises(InputError, match="at least two revolutions"):
        odometry.poses_by_odometry(["a"])


def test_passes_are_kept_for_the_same_drive_alone(tmp_path: Path) -> None:
    notes: list[str] = []
    found: list[int] = []

    def find() -> dict[str, np.ndarray]:
        found.append(1)
        return {"n": np.arange(3)}

    for about, times in (({"voxel": 1}, 1), ({"voxel": 1}, 1), ({"voxel": 2}, 2)):
        keeper = KeptPasses(tmp_path / "out", about, notes.append)
        assert keeper.found("sums", find)["n"].tolist() == [0, 1, 2] and len(found) == times
    assert len(notes) == 2 and "found before" in notes[0] and "begun anew" in notes[1]
    (tmp_path / "out" / "sums.npz").write_bytes(b"")
    keeper.found("sums", find)
    assert len(found) == 3
    keeper.done()
    assert not (tmp_path / "out").exists()


def test_what_a_drive_is_about_tells_every_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What changes the outcome changes the note: a folder of something else is not gone on with."""
    file = frame_file(tmp_path / "a.npz")
    learned = learn_drive([file], options=DriveOptions(voxel=20.0), say=lambda note: None)
    monkeypatch.setattr(module, "fit_voxels", lambda *args, **how: learned)
    told = []
    for options in (
        {}, {"tau": 2.5}, {"fewest": 1.0}, {"regions": True}, {"moving": True}, {"reach": 9.0}, {"range_noise": 0.1},
        {"box": [-500, -500, -500, 500, 500, 500]}, {"vehicle": [0, 0, 0, 1, 1, 1]}, {"vehicle": None}, {"voxel": 21.0},
    ):  # fmt: skip
        given = DriveOptions(**({"voxel": 20.0, "keep": tmp_path / "keep"} | options))  # type: ignore[arg-type]
        learn_drive([file], options=given, say=lambda note: None)
        told.append((tmp_path / "keep" / "learning.json").read_text())
    assert len(set(told)) == len(told)


def test_points_are_averaged_in_cells_and_moved_to_the_mean_around_them() -> None:
    points = np.array([[0.1, 0.1, 0.1], [0.3, 0.1, 0.1], [2.1, 0.1, 0.1]])
    means, weights = _averaged(points, np.array([1.0, 3.0, 2.0]), 1.0)
    assert means == pytest.approx(np.array([[0.25, 0.1, 0.1], [2.1, 0.1, 0.1]])) and weights.tolist() == [4.0, 2.0]
    # Two layers of a sheet become one, half-way between them by their weights; what is alone stays.
    low, high = np.array([[0.5, 0.5, 0.98]]), np.array([[0.5, 0.5, 1.02]])
    alone = np.array([[9.0, 9.0, 9.0]])
    thin = _thinned(np.concatenate([low, high, alone]), np.array([1.0, 3.0, 1.0]), 1.0)
    assert sorted(thin.tolist()) == [pytest.approx([0.5, 0.5, 1.01]), pytest.approx([9.0, 9.0, 9.0])]


@pytest.mark.parametrize("above", [1.0, -1.0])
def test_normals_are_across_a_sheet_and_turned_to_the_viewer(above: float) -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.arange(6) * 0.1, np.arange(6) * 0.1))
    sheet = np.stack([x, y, 0.5 * x], 1)
    sheet += [3.0, -2.0, 1.0]  # far from zero, as a place on a map is
    far = np.array([[9.0, 9.0, 5.0]])
    found = _normals(np.concatenate([sheet, far]), np.array([3.0, -2.0, 1.0 + 9.0 * above]), 0.25)
    wanted = np.array([-0.5, 0.0, 1.0]) / np.sqrt(1.25) * above
    assert found[:36] == pytest.approx(np.tile(wanted, (36, 1)), abs=1e-6)
    assert np.linalg.norm(found[36]) == pytest.approx(1.0)
