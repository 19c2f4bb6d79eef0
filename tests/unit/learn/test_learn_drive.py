"""Drives: several recordings as one, the vehicle and what moved left out, resumed, and one line for each mistake."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tussock.cli.app import app
from tussock.errors import InputError
from tussock.files.formats import save_frame
from tussock.learn.drives.kept import KeptPasses
from tussock.learn.drives.misses import with_misses
from tussock.learn.drives.own_vehicle import OwnVehicle, find_vehicle
from tussock.learn.drives.sequences import sequence_legs
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.fit_voxels import VoxelOptions, fit_voxels
from tussock.learn.learn_drive import DriveOptions, learn_drive
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers.read_pulses import load_pulses
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.volumes import Volumes
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.wire.recording import EPOCH, open_recording

GREY = Material(name="grey", reflectance=0.5)
TURNS = 12


def path_of(shift: float = 0.0) -> Trajectory:
    times = np.linspace(0.0, 0.1 * TURNS + 0.1, 40)
    return Trajectory.through(times + shift, [Pose.at(5 * t, 0.2 * np.sin(t), 1.8, yaw=0.2 * t) for t in times])


def yard() -> Scene:
    scene = Scene("yard")
    scene.add(plane((60, 60), material=GREY), name="ground")
    for x, y in ((6, 4), (9, -5), (14, 3)):
        scene.add(box((1, 1, 2), material=GREY), name=f"crate {x}", position=(x, y, 1))
    return scene


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A VLP-16 drives through a yard: one capture, the same in two, and its poses."""
    folder = tmp_path_factory.mktemp("drive")
    sensor = load_sensor("vlp-16").with_(**{"noise.ray_sigma_m": 0.0, "beam.rays": 1})
    world, way = World(yard()), path_of()
    frames = [scan(world, sensor, way, frame=k, keep_misses=True) for k in range(TURNS)]
    for name, some in (("whole", frames), ("one", frames[:6]), ("two", frames[6:])):
        with open_recording(folder / f"{name}.pcap", sensor) as run:
            for frame in some:
                run.write(frame)
    path_of(EPOCH).save_tum(folder / "path.tum")
    return folder


OPTIONS = DriveOptions(voxel=0.25, vehicle=None)


def arrays_of(volumes: Volumes) -> dict[str, np.ndarray]:
    found = {field.name: getattr(volumes, field.name) for field in fields(Volumes)}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def same(one: Volumes, two: Volumes) -> bool:
    return all(np.array_equal(array, arrays_of(two)[name]) for name, array in arrays_of(one).items())


def test_a_drive_is_as_the_whole_in_memory_and_in_the_world(drive: Path) -> None:
    poses = Trajectory.load(drive / "path.tum")
    whole = learn_drive([drive / "whole.pcap"], poses, replace(OPTIONS, moving=True))
    pulses = load_pulses(drive / "whole.pcap", trajectory=poses)
    reach = np.ceil(1000 * np.nanmax(pulses.ranges)) / 1000
    assert same(whole, fit_volumes(replace(pulses, reach=float(reach)), voxel=0.25))
    ground = whole.means[:, 2] + whole.origin[2] < 0.2
    assert abs(np.median(whole.means[ground, 2])) < 0.03, "de-skewed: the ground is flat"
    walls = np.abs(whole.means[:, 0] - 5.5) < 0.1
    assert walls.sum() > 10, "the near side of the first crate stands where it stands"
    assert whole.meta["complete"] and whole.meta["pulses"] == len(pulses)


def test_parts_and_their_cut_do_not_change_a_bit(drive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Revolutions are numbered on, packets are cut anywhere, and the chunks of a pass are of any size."""
    poses = Trajectory.load(drive / "path.tum")
    by_region = replace(OPTIONS, regions=True)
    parts = learn_drive([drive / "one.pcap", drive / "two.pcap"], poses, by_region)
    assert parts.meta["filled"] > 0 and parts.levels.max() > 0
    monkeypatch.setattr("tussock.learn.drives.legs._PACKETS", 17)
    monkeypatch.setattr("tussock.learn.fit_voxels.CHUNK", 5000)
    assert same(parts, learn_drive([drive / "one.pcap", drive / "two.pcap"], poses, replace(by_region, threads=1)))


def test_stopped_anywhere_and_resumed_it_is_the_same(
    drive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poses, notes = Trajectory.load(drive / "path.tum"), list[str]()
    wanted = learn_drive([drive / "whole.pcap"], poses, OPTIONS)
    rng = np.random.default_rng(5)
    keep = tmp_path / "out.learning"
    for _ in range(5):
        left = int(rng.integers(1, 8 * TURNS))

        def stop(pulses: int) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

        try:
            got = learn_drive([drive / "whole.pcap"], poses, replace(OPTIONS, keep=keep, told=stop), say=notes.append)
            break
        except KeyboardInterrupt:
            assert not list(keep.glob("*.part")), "files are whole or not there"
    got = learn_drive([drive / "whole.pcap"], poses, replace(OPTIONS, keep=keep), say=notes.append)
    assert same(got, wanted)
    (keep / "sums.npz").write_bytes(b"damaged")
    assert same(learn_drive([drive / "whole.pcap"], poses, replace(OPTIONS, keep=keep), say=notes.append), wanted)
    other = learn_drive([drive / "whole.pcap"], poses, replace(OPTIONS, keep=keep, voxel=0.5), say=notes.append)
    assert other.cell == 0.5 and any("begun anew" in note for note in notes)
    KeptPasses(keep, {}, notes.append).done()
    assert not keep.exists()


def test_the_own_vehicle_is_left_out_given_or_found() -> None:
    """A bonnet ahead below the sensor, among ground that changes as the vehicle drives."""
    rng = np.random.default_rng(1)
    azimuth = np.tile(np.linspace(-np.pi, np.pi, 720, endpoint=False), 8)
    rings = np.repeat(np.arange(8), 720)
    elevation = np.deg2rad(-5.0 - 4 * rings)
    way = np.stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], 1)
    bonnet = (np.abs(azimuth) < 0.4) & (rings > 4)
    scans = []
    for _ in range(25):
        ranges = np.where(bonnet, 1.5, (1.8 + rng.uniform(-0.4, 0.4)) / -way[:, 2]) + rng.normal(0, 0.01, len(way))
        scans.append(MeasuredPulses.of(np.zeros(3), way, ranges, rings=rings, azimuths=azimuth))
    found = find_vehicle(scans)
    own = found.met_by(scans[0])
    assert own[bonnet].mean() > 0.95 and own[~bonnet].mean() < 0.01
    given = OwnVehicle(box=[0.5, -1.0, -1.5, 2.0, 1.0, 0.0]).met_by(scans[0])
    assert np.array_equal(given, bonnet)


def test_what_moved_is_left_out_and_what_grows_is_kept() -> None:
    """A crate stands for five of a hundred scans; leaves let most pulses through all the time."""
    rng = np.random.default_rng(2)
    parts = []
    for turn in range(100):
        y, z = rng.uniform(-1, 1, 400), rng.uniform(-1, 1, 400)
        way = np.stack([np.full(400, 10.0), y, z], 1)
        ranges = np.linalg.norm(way, axis=1)
        crate = (np.abs(y + 0.5) < 0.3) & (np.abs(z) < 0.3) & (40 <= turn < 45)
        leaf = (np.abs(y - 0.5) < 0.3) & (rng.random(400) < 0.05)
        ranges = np.where(crate | leaf, ranges * rng.normal(0.5, 0.002, 400), ranges)
        parts.append(MeasuredPulses.of(np.zeros(3), way, ranges, turns=np.full(400, turn), reach=20))
    options = VoxelOptions(
        voxel=0.2, tau=2.0, plain=False, box=None, fewest=0.0, threads=1, still=True, origin=np.zeros(3)
    )
    still, all_of_it = fit_voxels(parts, options), fit_voxels(parts, replace(options, still=False))
    near = [int((np.abs(v.means[:, 0] - 5) < 0.5).sum()) for v in (still, all_of_it)]
    left = [int(((np.abs(v.means[:, 0] - 5) < 0.5) & (v.means[:, 1] > 0)).sum()) for v in (still, all_of_it)]
    assert left[0] == left[1] > 5, "leaves are kept"
    assert near[0] == left[0] < near[1], "the crate is gone"
    assert still.meta["moved"] == near[1] - near[0]


def test_points_alone_get_their_misses_from_their_rings() -> None:
    rng = np.random.default_rng(3)
    azimuth = np.tile(np.linspace(-np.pi, np.pi, 900, endpoint=False), 4)
    rings = np.repeat(np.arange(4), 900)
    elevation = np.deg2rad(np.array([-6.0, -2.0, 2.0, 6.0]))[rings]
    way = np.stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], 1)
    hit = ~((azimuth > 0.5) & (azimuth < 1.5) & (rings > 1)) & (rng.random(3600) > 0.02)
    noisy = azimuth + rng.normal(0, 2e-4, 3600)
    scan_of = MeasuredPulses.of(
        np.zeros(3), way[hit], np.full(hit.sum(), 10.0), rings=rings[hit], azimuths=noisy[hit], complete=False
    )
    whole = with_misses(scan_of)
    assert whole.complete and np.isfinite(whole.ranges).sum() == hit.sum()
    missed = whole.select(~whole.hit)
    gap = (missed.azimuths > 0.5) & (missed.azimuths < 1.5)
    really = (~hit & (azimuth > 0.5) & (azimuth < 1.5) & (rings > 1)).sum()
    assert (gap & (missed.rings > 1)).sum() == pytest.approx(really, rel=0.03)
    assert abs(np.median(np.arcsin(missed.directions[missed.rings == 3, 2])) - np.deg2rad(6)) < 1e-3


@pytest.mark.parametrize("kind", ["velodyne", "os1_cloud_node_kitti_bin"])
def test_a_sequence_of_kitti_stands_where_its_poses_say(kind: str, tmp_path: Path) -> None:
    """Poses of a camera with Tr, or of the LIDAR without calib.txt."""
    folder = tmp_path / "00"
    (folder / kind).mkdir(parents=True)
    rng = np.random.default_rng(4)
    world = np.array([[20.0, 1.0, 0.0], [18.0, -4.0, 1.0]])
    turn = np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])  # x right, y down, z ahead of x ahead, y left, z up
    lines = []
    for k in range(3):
        at = np.array([2.0 * k, 0.0, 0.0])
        points = np.concatenate([world - at, rng.uniform([6, -3, -3], [12, 3, 3], (40, 3))])
        np.column_stack([points, np.full(len(points), 0.5)]).astype("<f4").tofile(folder / kind / f"{k:06d}.bin")
        pose = np.column_stack([np.eye(3), turn @ at if kind == "velodyne" else at])
        lines.append(" ".join(f"{v:.6f}" for v in pose.ravel()))
    (folder / "poses.txt").write_text("\n".join(lines))
    if kind == "velodyne":
        tr = np.column_stack([turn, np.zeros(3)])
        (folder / "calib.txt").write_text("Tr: " + " ".join(f"{v:g}" for v in tr.ravel()))
    classes, beside, ours = (
        (71, "labels", 71) if kind == "velodyne" else (4, "os1_cloud_node_semantickitti_label_id", 118)
    )
    (folder / beside).mkdir()
    np.full(len(points), classes, "<u4").tofile(folder / beside / "000001.label")
    for k, leg in enumerate(sequence_legs(folder)):
        placed = leg.pulses.placed(leg.pose)
        assert np.abs(placed.points[:2] - world).max() < 1e-4
        assert (leg.pulses.labels == (ours if k == 1 else 0)).all()
    assert len(learn_drive([folder], options=replace(OPTIONS, voxel=0.5), say=lambda note: None)) > 2
    (folder / "poses.txt").write_text(lines[0])
    with pytest.raises(InputError, match=r"poses\.txt: must have a line for each of 3 scans, got 1"):
        learn_drive([folder], options=OPTIONS)
    (folder / "poses.txt").unlink()
    with pytest.raises(InputError, match=r"has no poses\.txt"):
        learn_drive([folder], options=OPTIONS)


def test_every_mistake_has_its_line(drive: Path, tmp_path: Path) -> None:
    capture = drive / "whole.pcap"
    with pytest.raises(
        InputError, match=r"poses: must be of the clock of whole\.pcap, which runs from .* got '0\.000 s to"
    ):
        learn_drive([capture], path_of(), OPTIONS)
    short = path_of(EPOCH)
    cut = Trajectory(short.times[:10], short.positions[:10], short.quaternions[:10])
    with pytest.raises(InputError, match=r"must cover the times of whole\.pcap"):
        learn_drive([capture], cut, OPTIONS)
    with pytest.raises(InputError, match="no such file or folder"):
        learn_drive([tmp_path / "none"], None, OPTIONS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no scans, captures, logs or KITTI sequence"):
        learn_drive([tmp_path / "empty"], None, OPTIONS)
    with pytest.raises(InputError, match="at least one file or folder"):
        learn_drive([], None, OPTIONS)
    with pytest.raises(InputError, match="vehicle: must be a box"):
        learn_drive([capture], path_of(EPOCH), replace(OPTIONS, vehicle="bus"))
    sensor = load_sensor("hdl-32e").with_(**{"beam.rays": 1})
    with open_recording(tmp_path / "other.pcap", sensor) as run:
        run.write(scan(yard(), sensor, Pose.at(0, 0, 1.8)))
    with pytest.raises(
        InputError, match=r"was recorded by another sensor \(hdl-32e\) than the files before \(vlp-16\)"
    ):
        learn_drive([capture, tmp_path / "other.pcap"], None, OPTIONS)
    (tmp_path / "out.learning").mkdir()
    with pytest.raises(InputError, match="is not of a drive that is being learned"):
        learn_drive([capture], path_of(EPOCH), replace(OPTIONS, keep=tmp_path / "out.learning"))
    frame = scan(yard(), sensor, Pose.at(0, 0, 1.8))
    save_frame(frame.select(frame.hit), tmp_path / "hits.npz")
    with pytest.raises(InputError, match=r"trajectory: hits\.npz is a frame of Tussock and has its own; leave it out"):
        learn_drive([tmp_path / "hits.npz"], path_of(), OPTIONS)
    notes: list[str] = []
    learn_drive([tmp_path / "hits.npz"], None, OPTIONS, say=notes.append)
    assert any("pulses without return are not among those recorded" in note for note in notes)


def test_the_even_seconds_foretell_the_odd_ones(drive: Path, tmp_path: Path) -> None:
    def tussock(*words: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, [str(word) for word in words])
        return result.exit_code, result.stdout if result.exit_code == 0 else result.output

    common = ("--poses", drive / "path.tum", "--seconds")
    learned, picture = tmp_path / "even.volumes", tmp_path / "scores.png"
    status, said = tussock(
        "learn", drive / "whole.pcap", *common, "even", "--voxel-m", 0.25, "--out", learned, "--json"
    )
    assert status == 0, said
    bins = ("--angle-deg", 1, "--range-m", 0.1)
    status, said = tussock(
        "compare", drive / "whole.pcap", learned, *common, "odd", *bins, "--picture", picture, "--json"
    )
    assert status == 0, said
    found = json.loads(said)
    turns = len({f // 10 % 2 for f in range(TURNS)})
    assert turns == 2
    whole = load_pulses(drive / "whole.pcap", say=lambda note: None)
    assert 0.1 < found["real_pulses"] / len(whole) < 0.9, "some of the seconds"
    assert found["real_pulses"] == found["simulated_pulses"]
    assert abs(found["hit_rate_difference"]) < 0.05, "the last seconds look at ground that none before saw"
    assert found["field"]["all"]["drop_accuracy"] > 0.9
    assert found["field"]["all"]["depth_median_m"] < 0.15
    assert picture.stat().st_size > 20_000
    with pytest.raises(InputError, match="seconds: must be even or odd"):
        learn_drive([drive / "whole.pcap"], options=replace(OPTIONS, seconds="often"))
