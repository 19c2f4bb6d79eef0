"""Map coordinates and UNIX times: a scene 5,000 km from zero, 54 years after it, gives what it gives at zero."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import load_frame, save_frame
from tussock.frames.frame import Frame
from tussock.ground.height_field import HeightField
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, sphere
from tussock.scene.scene import Scene
from tussock.scene_files.mesh_files import load_mesh
from tussock.scene_files.mesh_ply import load_ply, save_ply
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.sensors.sensor import Sensor
from tussock.simulate import frames_between, scan, scan_range
from tussock.trace.reference import trace_reference
from tussock.trace.world import World

UTM = np.array([500_000.0, 4_500_000.0, 120.0])
FAR = np.array([5e6 + 0.37, -5e6 + 0.11, 2000.25])
UNIX = 1_700_000_000.0
MM = 1e-3
RISE = np.array([0.0, 0.0, 1.6])


def exact_sensor(name: str = "vlp-16") -> Sensor:
    """No noise, no steps: what it reports is what was traced."""
    plain = {"receiver.range_step_m": 0.0, "noise.ray_sigma_m": 0.0, "noise.bias_sigma_m": 0.0, "beam.rays": 1}
    certain = {"receiver.detects": (), "noise.dropout": 0.0, "noise.pointing_sigma_mrad": 0.0}
    return load_sensor(name).with_(**plain, **certain)


def moved(mesh: Mesh, by: np.ndarray) -> Mesh:
    return Mesh.of(mesh.vertices.astype(float) + by, mesh.triangles, mesh.materials)


def things(by: np.ndarray, *, in_vertices: bool, start: float = 0.0, moving: bool = True) -> Scene:
    """Ground, a wall, copies of a ball and a box that drives, ``by`` off: in the vertices or in the placements."""
    scene = Scene()
    shift = np.zeros(3) if in_vertices else by
    put = (lambda mesh: moved(mesh, by)) if in_vertices else (lambda mesh: mesh)
    scene.add(put(ground((60, 60), cells=(31, 29), heights=lambda x, y: 0.05 * x + 0.3 * np.sin(y))), position=shift)
    scene.add(put(moved(box((0.2, 7.3, 3.1)), np.array([6.0, 1.0, 1.0]))), position=shift)
    places = np.array([[3.0, 3.0, 0.0], [-4.0, 2.0, 1.0], [-3.0, -5.0, 0.3]])
    if in_vertices:
        # The copies turn about zero: the shape's own coordinates carry the map's.
        scene.add(moved(sphere(0.6), by), placements=Placements.of(places))
    else:
        scene.add(sphere(0.6), placements=Placements.of(places + by))
    if not moving:
        return scene
    path = Trajectory.through(
        np.array([0.0, 0.4]) + start,
        [Pose.at(*(np.array([5.0, -4.0, 0.5]) + shift)), Pose.at(*(np.array([5.0, 4.0, 0.5]) + shift))],
    )
    scene.add(put(box((1.0, 0.5, 1.5))), name="car", motion=path)
    return scene


def same_returns(near: Frame, far: Frame, *, shift: float = 0.0) -> None:
    """All but rays at the very rim of something meet the same; what they meet is as far to a millimetre."""
    near, far = near.select(near.return_number == 1), far.select(far.return_number == 1)
    pulses, a, b = np.intersect1d(near.pulse, far.pulse, return_indices=True)
    assert len(pulses) >= max(len(near), len(far)) - 3
    assert len(pulses) > 5000
    same = near.object_id[a] == far.object_id[b]
    assert (~same).sum() <= 3
    assert np.abs(near.true_range[a] - far.true_range[b])[same].max() < MM
    assert np.abs(near.time[a] + shift - far.time[b]).max() < 1e-6


@pytest.mark.parametrize("by", [UTM, FAR])
@pytest.mark.parametrize("in_vertices", [True, False])
def test_a_scene_on_the_map_is_seen_as_at_zero(by: np.ndarray, in_vertices: bool) -> None:
    sensor, rise = exact_sensor(), np.array([0.3, -0.2, 1.6])
    near = scan(things(np.zeros(3), in_vertices=in_vertices), sensor, Pose.at(*rise))
    scene = things(by, in_vertices=in_vertices)
    far = scan(scene, sensor, Pose.at(*(by + rise)))
    same_returns(near, far)
    points = far.world_xyz(true=True)
    assert np.abs(points - (near.world_xyz(true=True) + by))[: min(len(near), 500)].max() < 20  # in the place asked for


@pytest.mark.parametrize("by", [UTM, FAR])
def test_against_a_tracer_in_double_precision(by: np.ndarray) -> None:
    """Vertices on the map, against every ray with every triangle in float64."""
    scene = Scene()
    hills = HeightField(
        (40, 40), 2 * np.sin(np.linspace(0, 9, 41))[:, None] * np.cos(np.linspace(0, 7, 41)), tuple(by[:2])
    )
    scene.add(moved(hills.mesh(Material()), np.array([0, 0, by[2]])), name="hills")
    frame = scan(scene, exact_sensor(), Pose.at(*(by + RISE)))
    way = frame.true_xyz.astype(float) / frame.true_range[:, None]
    rows = np.arange(0, len(frame), 7)
    start = np.repeat((by + RISE)[None], len(rows), 0)
    exact = trace_reference(scene, start, way[rows])
    hit = np.isfinite(exact.range)
    assert hit.sum() > 500
    # A ray at a grazing angle θ turns a micrometre across into 1/θ along; a millimetre is asked everywhere.
    assert np.abs(frame.true_range[rows] - exact.range)[hit].max() < MM


def test_a_height_field_keeps_its_place_to_a_millimetre() -> None:
    """Slope 0.5 at UTM coordinates: the height under a vertical ray is known."""
    x = np.linspace(-50, 50, 101)
    field = HeightField((100, 100), np.repeat(0.5 * x[:, None], 101, 1), (UTM[0] + 0.5, UTM[1] + 0.25))
    mesh = field.mesh(Material())
    assert mesh.vertices.dtype == np.float64
    world = World(_scene_of(mesh))
    from tussock.trace.rays import trace_rays

    places = np.random.default_rng(3).uniform(-45, 45, (2000, 2)) + UTM[:2]
    start = np.column_stack([places, np.full(2000, 100.0)])
    found = 100.0 - trace_rays(world, start, np.tile([0.0, 0.0, -1.0], (2000, 1)), 300.0)
    expected = field(places[:, 0], places[:, 1])
    assert np.abs(expected - 0.5 * (places[:, 0] - UTM[0] - 0.5)).max() < 1e-6
    assert np.abs(found - expected).max() < MM


def test_a_geotiff_keeps_its_place_to_a_millimetre(tmp_path: Path) -> None:
    """A file of slope 0.5 in UTM, in a scene file with keep_place: rays from above, and a scan from a mast."""
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed: pip install 'tussock[geo]'")
    from tussock.scene_files.scene_file import load_scene
    from tussock.trace.rays import trace_rays

    west, north, pixel = 500_000.0, 4_500_000.0, 0.5
    east = west + pixel * (np.arange(200) + 0.5)  # the middles of pixels, where heights are
    band = np.tile(120.0 + 0.5 * (east - west), (160, 1))
    with rasterio.open(
        tmp_path / "slope.tif", "w", driver="GTiff", width=200, height=160, count=1, dtype="float64", crs="EPSG:32632",
        transform=rasterio.Affine(pixel, 0.0, west, 0.0, -pixel, north),
    ) as file:  # fmt: skip
        file.write(band, 1)
    (tmp_path / "scene.toml").write_text(
        'name = "slope"\n[[objects]]\nname = "hill"\nterrain = { geotiff = "slope.tif", keep_place = true }\n'
    )
    scene = load_scene(tmp_path / "scene.toml")
    world = World(scene)
    places = np.random.default_rng(3).uniform(-25, 25, (5000, 2)) + np.array([west + 50, north - 40])
    start = np.column_stack([places, np.full(5000, 300.0)])
    found = 300.0 - trace_rays(world, start, np.tile([0.0, 0.0, -1.0], (5000, 1)), 400.0)
    assert np.abs(found - (120.0 + 0.5 * (places[:, 0] - west))).max() < MM
    mast = np.array([west + 50.3, north - 40.2, 120.0 + 0.5 * 50.3 + 4.0])
    points = scan(world, exact_sensor(), Pose.at(*mast)).world_xyz(true=True)
    assert len(points) > 5000
    off = points[:, 2] - (120.0 + 0.5 * (points[:, 0] - west))
    assert np.abs(off).max() < MM  # across the slope even less


def _scene_of(mesh: Mesh) -> Scene:
    scene = Scene()
    scene.add(mesh)
    return scene


def test_mesh_files_keep_map_coordinates(tmp_path: Path) -> None:
    mesh = moved(sphere(1.0, subdivisions=1), UTM + 0.123456)
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in mesh.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in mesh.triangles.tolist()]
    (tmp_path / "ball.obj").write_text("\n".join(lines) + "\n")
    loaded = load_mesh(tmp_path / "ball.obj")
    assert np.abs(loaded.bounds - mesh.bounds).max() < MM
    save_ply(mesh, tmp_path / "ball.ply")
    again = load_ply(tmp_path / "ball.ply")
    assert again.vertices.dtype == np.float64
    assert np.array_equal(again.vertices, mesh.vertices)


@pytest.mark.parametrize("suffix", [".las", ".laz", ".ply", ".pcd", ".npz", ".csv", ".parquet"])
def test_files_of_frames_keep_map_coordinates(tmp_path: Path, suffix: str) -> None:
    path = Trajectory.standing(Pose.at(*(FAR + RISE)))
    first = frames_between(exact_sensor(), UNIX, UNIX).start
    frame = scan(things(FAR, in_vertices=True, start=UNIX), exact_sensor(), path, frame=first)
    save_frame(frame, tmp_path / f"f{suffix}", coords="world")
    again = load_frame(tmp_path / f"f{suffix}")
    assert np.abs(again.world_xyz() - frame.world_xyz()).max() < MM
    assert np.abs(again.time - frame.time).max() < 1e-6
    assert frame.time.min() >= UNIX


def test_thirty_two_bits_have_a_stated_origin(tmp_path: Path) -> None:
    from tussock.files.kitti import KITTI

    frame = scan(things(UTM, in_vertices=False), exact_sensor(), Pose.at(*(UTM + RISE)))
    save_frame(frame, tmp_path / "f.bin", coords="world")
    assert (tmp_path / "f.origin.json").exists()
    assert KITTI.load is not None
    fields = KITTI.load(tmp_path / "f.bin").fields
    again = np.stack([fields[axis] for axis in "xyz"], 1)
    assert np.abs(again - frame.world_xyz()[frame.hit]).max() < MM
    save_frame(frame, tmp_path / "f.bin", force=True)
    assert not (tmp_path / "f.origin.json").exists(), "points near zero have no origin, and keep none of before"
    assert np.abs(KITTI.load(tmp_path / "f.bin").fields["x"] - frame.xyz[frame.hit, 0]).max() == 0
    (tmp_path / "f.origin.json").write_text('{"x": 1}')
    with pytest.raises(InputError, match="must state x, y and z"):
        KITTI.load(tmp_path / "f.bin")


def test_a_run_at_unix_time_gives_the_frames_of_time_zero() -> None:
    sensor = exact_sensor("os1-32")  # its firings repeat with every revolution
    assert frames_between(sensor, UNIX, UNIX + 0.3) == range(17_000_000_000, 17_000_000_003)

    def frames(start: float) -> list[Frame]:
        ride = Trajectory.through(
            np.array([0.0, 0.2, 0.4]) + start, [Pose.at(0, 0, 1.6), Pose.at(1, 0, 1.6, yaw=0.4), Pose.at(2, 1, 1.7)]
        )
        scene = things(np.zeros(3), in_vertices=False, start=start)
        return list(scan_range(scene, sensor, ride, start=start, end=start + 0.3, seed=5))

    for near, far in zip(frames(0.0), frames(UNIX), strict=True):
        same_returns(near, far, shift=UNIX)


def test_a_sensor_of_any_kind_sees_the_same_at_unix_time() -> None:
    """Frame 0 starts at the epoch: the pulses, the chance and the returns of every frame are those of time 0, bit for bit.

    Without an epoch, frames are counted from time 0. Frame 17,000,000,000 of a sensor whose firings do not fill a
    revolution (a VLP-16, an Avia) then holds other pulses than frame 0: those that it would really fire there.
    """
    scene, others = World(things(np.zeros(3), in_vertices=False, moving=False)), []
    for name in sensor_names():
        sensor = load_sensor(name).with_(**{"beam.rays": 1})
        near = scan(scene, sensor, Pose.at(0, 0, 1.6), frame=3, seed=5)
        far = scan(scene, sensor, Pose.at(0, 0, 1.6), frame=3, seed=5, epoch=UNIX)
        assert len(near) > 50, name
        for column, values in near.columns.items():
            if column == "time":
                assert np.abs(values + UNIX - far.time).max() < 1e-6, name
            else:
                assert np.array_equal(values.view(np.uint8), far.columns[column].view(np.uint8)), (name, column)
        assert far.meta["frame"] == 3 and far.meta["start_s"] == UNIX + near.meta["start_s"]
        late = sensor.pulses(frames_between(sensor, UNIX, UNIX).start)
        if len(late) != len(sensor.pulses(0)) or not np.array_equal(late.directions, sensor.pulses(0).directions):
            others.append(name)
    assert {"vlp-16", "hdl-64e-s3", "livox-avia"} <= set(others)
    assert not {"os1-128", "pandar64", "lms-511", "at128", "livox-mid-360"} & set(others)


@pytest.mark.parametrize("name", ["vlp-16", "hdl-32e", "livox-mid-40"])
def test_rides_and_movers_in_unix_time(name: str) -> None:
    """Firings that take other places in every revolution, a sensor that drives, a box that drives past it."""
    sensor = exact_sensor(name)

    def frames(start: float) -> list[Frame]:
        ride = Trajectory.through(np.array([0.0, 0.4]) + start, [Pose.at(0, 0, 1.6), Pose.at(1, 0.5, 1.6, yaw=0.4)])
        scene = things(np.zeros(3), in_vertices=False, start=start)
        return list(scan_range(scene, sensor, ride, start=start, end=start + 0.3, epoch=start, seed=5))

    for near, far in zip(frames(0.0), frames(UNIX), strict=True):
        same_returns(near, far, shift=UNIX)


def test_an_epoch_that_cannot_be() -> None:
    scene, sensor = things(np.zeros(3), in_vertices=False), exact_sensor()
    for wrong in (np.nan, np.inf, 1e11, "today"):
        with pytest.raises(InputError, match=r"epoch: must be a time \[s\] within 1e\+10 of 0, got"):
            scan(scene, sensor, epoch=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"must be 1700000000 \(epoch\) <= start <= end"):
        frames_between(sensor, 0.0, 1.0, epoch=UNIX)


def test_the_command_line_counts_from_the_epoch(tussock) -> None:
    words = ["scan", "courtyard", "--sensor", "vlp-16", "--pose", "0,0,1", "--rays", "1"]
    assert tussock(*words, "--out", "near.npz")[0] == 0
    assert tussock(*words, "--epoch", "1700000000", "--out", "far.npz")[0] == 0
    assert (
        tussock(*words, "--epoch", "1700000000", "--from", "1700000000", "--to", "1700000000.1", "--out", "run.npz")[0]
        == 0
    )
    near = load_frame("near.npz")
    for name in ("far.npz", "run_000000.npz"):
        far = load_frame(name)
        assert np.array_equal(near.range, far.range) and np.array_equal(near.intensity, far.intensity)
        assert np.abs(far.time - UNIX - near.time).max() < 1e-6
    code, _, err = tussock(*words, "--epoch", "1700000000", "--out", "run.pcap")
    assert code == 2 and "--epoch: does not go with a recording" in err and "--utc" in err


def test_the_command_line_takes_unix_times(tussock) -> None:
    words = [
        "scan",
        "courtyard",
        "--sensor",
        "lms-111",
        "--pose",
        "0,0,1",
        "--from",
        "1700000000",
        "--out",
        "frame.npz",
    ]
    code, _, err = tussock(*words)
    assert code == 0, err
    assert np.abs(load_frame("frame.npz").time - UNIX).max() < 0.03


def test_the_number_of_a_frame_ends_where_the_counters_do() -> None:
    scene, sensor = things(np.zeros(3), in_vertices=False), exact_sensor()
    assert len(scan(scene, sensor, Pose.at(0, 0, 1.6), frame=2**56 - 1))
    with pytest.raises(InputError, match="from 0 to 2\\^56 - 1"):
        scan(scene, sensor, Pose.at(0, 0, 1.6), frame=2**56)


def test_what_no_tracer_can_hold_is_refused() -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1e30, 0]])
    with pytest.raises(InputError, match=r"mesh vertex 2: must be finite and within 1e\+09 m of zero"):
        Mesh.of(corners, [[0, 1, 2]])
    scene = Scene()
    scene.add(box((1, 1, 1)), name="huge", scale=1e30)
    with pytest.raises(InputError, match=r"object 'huge': must lie within 1e\+09 m"):
        World(scene)
    scene = Scene()
    scene.add(box((1, 1, 1)), name="here")
    scene.add(box((1, 1, 1)), name="on the map", position=UTM)
    with pytest.raises(InputError, match=r"must lie within 1e\+06 m of the middle of the scene.*same coordinates"):
        World(scene)
