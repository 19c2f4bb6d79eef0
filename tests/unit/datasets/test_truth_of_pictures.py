"""What data sets know beside points and pictures: classes, instances, depth and boxes, of a forest too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tussock.cameras.boxes import boxes_in
from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look
from tussock.datasets.boxes import object_line
from tussock.datasets.labeller import LABEL_SCHEMES, Labeller
from tussock.datasets.write import write_dataset
from tussock.drive.site.kinds import faces_of
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig
from tussock.scene.label_map import load_label_map
from tussock.scene.labels import LABELS, STUFF
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scenes.forest_trail import forest_trail, trail_path
from tussock.sensors.catalogue import load_sensor
from tussock.trace.world import World

EYE = Camera(width=96, height=48, samples=1, lens=Pinhole(fx=60.0))
FOREST = {"rock", "deadwood", "pole", "shrub", "tree"}


def rig_at(pose: Pose, camera: Camera = EYE) -> Rig:
    return Rig(
        body=Trajectory.standing(pose),
        lidars=[MountedLidar("top", load_sensor("vlp-16"), Pose.at(0.0, 0.0, 1.8))],
        cameras=[MountedCamera("eye", camera, Pose.at(0.3, 0.0, 1.5))],
    )


def written(scene: Scene, folder: Path, **changes) -> Path:
    pose = changes.pop("pose", Pose())
    write_dataset(rig_at(pose), scene, folder, end=0.1, seed=1, **changes)
    return folder / "sequences" / "00"


def read(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path))


@pytest.fixture(scope="module")
def forest() -> tuple[Scene, Pose]:
    scene = forest_trail(side=40, triangles=20_000)
    place = trail_path(side=40).pose(6.0)
    return scene, Pose.at(*(place.position - [0, 0, 2.0]), yaw=0.2)


def test_the_forest_has_classes_instances_and_boxes(forest, tmp_path):
    """Three classes, no instances and no boxes were all that there was."""
    scene, pose = forest
    folder = written(scene, tmp_path / "set", pose=pose, classes="goose")
    labels = np.fromfile(folder / "labels" / "000000.label", "<u4")
    goose = {number: name for name, number in load_label_map("goose").classes.items()}
    classes = {goose[number] for number in np.unique(labels & 0xFFFF).tolist()}
    assert classes >= {"soil", "gravel", "high_grass", "tree_crown", "tree_trunk", "bush"}
    boxes = json.loads((folder / "boxes" / "000000.json").read_text())
    assert {"tree", "shrub", "pole"} <= {box["label"] for box in boxes} <= FOREST
    numbers = [box["instance"] for box in boxes]
    assert len(set(numbers)) == len(numbers) and min(numbers) >= 1
    assert set(np.unique(labels >> 16).tolist()) == {0, *numbers}
    for one in boxes:
        assert one["returns"] == (labels >> 16 == one["instance"]).sum()
    # pixels have the classes and the instances that points have
    assert set(np.unique(read(folder / "semantic_2" / "000000.png")).tolist()) <= set(goose)
    seen = json.loads((folder / "boxes_2" / "000000.json").read_text())
    lines = (folder / "label_2" / "000000.txt").read_text().splitlines()
    assert len(seen) == len(lines) > 10
    instances = read(folder / "instance_2" / "000000.png")
    assert {one["instance"] for one in seen} | {0} == set(np.unique(instances).tolist())
    for one, line in zip(seen, lines, strict=True):
        rows, columns = np.nonzero(instances == one["instance"])
        assert one["visible_px"] == [columns.min(), rows.min(), columns.max(), rows.max()]
        assert line.split()[0] == one["label"].capitalize()
        assert [float(word) for word in line.split()[4:8]] == one["whole_px"]


def test_trees_and_the_trail_in_the_other_numbers(forest):
    scene, _ = forest
    world = World(scene)
    ids = np.zeros(len(LABELS), np.uint32)
    numbers = np.array(list(LABELS.values()), np.uint16)
    for scheme in LABEL_SCHEMES:
        found = dict(zip(LABELS, Labeller(world, scheme).classes(numbers, ids).tolist(), strict=True))
        assert (found["trail"] == found["terrain"]) == (scheme == "rellis-3d")  # which has dirt for both
        assert found["rock"] not in (found["terrain"], found["trail"]), scheme
        assert found["tree"] == {"semantickitti": 70, "rellis-3d": 4, "goose": 27, "tussock": 118}[scheme]
    with pytest.raises(
        InputError, match="classes: must be one of tussock, semantickitti, goose, rellis-3d, got 'kitti'"
    ):
        Labeller(world, "kitti")


def test_the_leaves_of_a_shrub_are_a_bush(forest):
    scene, _ = forest
    world = World(scene)
    leaf = np.full(2, LABELS["leaf"], np.uint16)
    ids = np.array([scene["shrubs-low-1"].id, scene["spruces-old-1"].id], np.uint32)
    for scheme, wanted in (
        ("semantickitti", [70, 70]),
        ("rellis-3d", [19, 4]),
        ("goose", [17, 27]),
        ("tussock", [101] * 2),
    ):
        assert Labeller(world, scheme).classes(leaf, ids).tolist() == wanted


def test_a_vehicle_may_drive_on_the_trail(forest):
    scene, _ = forest
    labels = {material.label for material in scene["ground"].mesh.materials}
    assert "trail" in labels and "trail" in STUFF
    assert faces_of(scene["ground"]).ground.all()
    assert not faces_of(scene["deadwood"]).ground.any() and faces_of(scene["way-marks"]).solid.all()
    plants = [one for one in scene.objects if one.name.startswith(("spruces", "beeches", "saplings", "shrubs"))]
    assert len(plants) > 12
    for one in plants:
        faces = faces_of(one)
        assert (faces.plants | faces.trunk).all()


def one_box(**placed) -> Scene:
    scene = Scene("one")
    scene.add(plane((80.0, 80.0)), name="ground", label="terrain")
    scene.add(box((4.0, 1.8, 1.5)), name="car", label="car", **placed)
    return scene


@pytest.mark.parametrize(
    ("yaw", "turn"), [(0.0, -np.pi / 2), (np.pi / 2, np.pi), (-np.pi / 2, 0.0), (0.4, -np.pi / 2 - 0.4)]
)
def test_a_line_of_kittis_object_benchmark(yaw, turn):
    """A car 12 m ahead and 2 m to the left of a camera 1.5 m up: where the benchmark's readme says that it is."""
    scene = one_box(position=(12.0, 2.0, 0.75), yaw=yaw)
    world, pose = World(scene), Pose.at(0, 0, 1.5)
    (found,) = boxes_in(look(world, EYE, pose), world, pose)
    kind, truncated, occluded, *words = object_line(found, EYE).split()
    alpha, left, top, right, bottom, height, width, length, x, y, z, rotation = map(float, words)
    assert (kind, float(truncated), occluded) == ("Car", 0.0, "0")
    assert (height, width, length) == (1.5, 1.8, 4.0)
    assert (x, y, z) == (-2.0, 1.5, 12.0)  # the underside is on the ground, 1.5 m below the camera
    assert np.cos(rotation - turn) == pytest.approx(1.0, abs=1e-4)
    assert alpha == pytest.approx((rotation - np.arctan2(x, z) + np.pi) % (2 * np.pi) - np.pi, abs=0.011)
    # the corners, by the benchmark's own formula, lie where the picture shows the car
    at = np.array([[sx * length / 2, sy, sz * width / 2] for sx in (-1, 1) for sy in (0, -height) for sz in (-1, 1)])
    turned = np.stack([np.cos(rotation) * at[:, 0] + np.sin(rotation) * at[:, 2], at[:, 1],
                       -np.sin(rotation) * at[:, 0] + np.cos(rotation) * at[:, 2]], 1) + np.array([x, y, z])  # fmt: skip
    pixels = 60.0 * turned[:, :2] / turned[:, 2:] + np.array([47.5, 23.5])
    np.testing.assert_allclose([*pixels.min(0), *pixels.max(0)], [left, top, right, bottom], atol=1.0)


def test_what_reaches_beyond_the_image_is_truncated():
    pose = Pose.at(0, 0, 1.5)
    for place, wanted in (((12.0, 9.5, 0.75), (0.2, 0.8)), ((1.0, 0.0, 0.3), (-1.0, -1.0))):
        world = World(one_box(position=place))
        (found,) = boxes_in(look(world, EYE, pose), world, pose)
        assert wanted[0] <= float(object_line(found, EYE).split()[1]) <= wanted[1]


def test_depth_is_that_of_the_depth_benchmark(tmp_path):
    folder = written(one_box(position=(12.3, 0.0, 0.75)), tmp_path / "set")
    depth = read(folder / "depth_2" / "000000.png")
    assert depth.dtype in (np.uint16, np.int32) and depth.shape == (48, 96)
    assert depth[24, 47] / 256 == pytest.approx(12.3 - 2.0 - 0.3, abs=1 / 256)  # its back, from the camera
    assert (depth[:20] == 0).all()  # the sky
    assert read(folder / "semantic_2" / "000000.png")[24, 47] == 10
    assert read(folder / "instance_2" / "000000.png")[24, 47] == 1


def test_without_truth_it_is_kittis_own_files_alone(tmp_path):
    folder = written(one_box(position=(12.0, 0.0, 0.75)), tmp_path / "set", truth=False)
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["image_2", "labels", "velodyne"]
    with pytest.raises(InputError, match="classes: must be one of"):
        write_dataset(rig_at(Pose()), one_box(), tmp_path / "other", end=0.1, classes="cityscapes")


def test_a_forest_of_more_things_than_there_are_numbers():
    scene = one_box(position=(12.0, 0.0, 0.75))
    many = Placements.of(np.stack([np.linspace(20, 30, 65_500), np.zeros(65_500), np.zeros(65_500)], 1))
    scene.add(box((0.1, 0.1, 0.1)), name="shrubs", label="shrub", placements=many)
    scene.add(box((0.1, 0.1, 0.1)), name="stones", label="rock", placements=Placements(many.matrices[:100]))
    scene.add(box((0.1, 0.1, 0.1)), name="posts", label="pole", placements=Placements(many.matrices[:3]))
    labeller = Labeller(World(scene))
    first = {thing.name: int(labeller.instances(thing.id, 0)) for thing in scene.objects}
    assert first == {"ground": 0, "car": 1, "posts": 2, "shrubs": 5, "stones": 0}
    scene.add(box((0.1, 0.1, 0.1)), name="cars", label="car", placements=Placements(np.tile(many.matrices, (2, 1, 1))))
    with pytest.raises(InputError, match="at most 65535 things"):
        Labeller(World(scene))
