"""Scene files: what each key means, the way there and back, and each mistake in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, card, sphere
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.scene_files.mesh_files import save_mesh
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.scenes.ready import ready_scene


@pytest.fixture
def write(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "scene.toml"
        path.write_text(text)
        return path

    return write


EVERYTHING = """
name = "corner"

[labels]
moss = 200

[materials.wall]
reflectance = 0.4
color = [0.5, 0.5, 0.5]

[materials.leaf]
reflectance = 0.5

[[objects]]
name = "ground"
label = "terrain"
ground = {size_m = [20, 10], cells = [4, 2], relief_m = 0.2, wavelength_m = 15, seed = 3}
material = "soil"

[[objects]]
name = "house"
label = "building"
tags = ["solid"]
box = {size_m = [2, 4, 6]}
material = "wall"
position_m = [1, 2, 3]
yaw_deg = 90
scale = [1, 2, 3]

[[objects]]
name = "pole"
cylinder = {radius_m = 0.1, height_m = 3, sides = 8}
rotation_deg = [90, 0, 0]

[[objects]]
name = "tree"
grow = {kind = "tree", height_m = 6, crown_radius_m = 2, triangles = 5000, leaf_area_m2 = 40, seed = 2}

[[objects]]
name = "lawn"
label = "moss"
grow = {kind = "grass", blades = 10, lean_deg = 10, height_m = 0.2}
[objects.placements]
positions_m = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
yaw_deg = [0, 90, 180]
scale = [1, 2, [1, 2, 3]]

[[objects]]
name = "more-lawn"
like = "lawn"
placements = {file = "places.csv"}

[[objects]]
name = "ball"
sphere = {radius_m = 0.5, subdivisions = 2}
[objects.motion]
times_s = [0, 2]
positions_m = [[0, 0, 0], [4, 0, 0]]
yaw_deg = [0, 90]

[[objects]]
name = "board"
plane = {size_m = [1, 2]}
motion = {file = "path.csv"}
"""


@pytest.fixture
def corner(write, tmp_path):
    (tmp_path / "places.csv").write_text("x,y,z,yaw_deg,scale\n1,2,3,90,2\n4,5,6,0,1\n")
    (tmp_path / "path.csv").write_text("time_s,x,y,z,yaw_deg\n0,0,0,1,0\n1,5,0,1,90\n")
    return load_scene(write(EVERYTHING))


def test_names_labels_tags_and_shapes(corner):
    assert corner.name == "corner"
    names = ["ground", "house", "pole", "tree", "lawn", "more-lawn", "ball", "board"]
    assert [thing.name for thing in corner.objects] == names
    assert corner.labels["moss"] == 200
    assert corner["house"].label == "building" and corner["house"].tags == {"solid"}
    assert len(corner["ground"].mesh.triangles) == 16
    assert np.ptp(corner["ground"].mesh.vertices[:, 2]) > 0.01
    assert len(corner["pole"].mesh.triangles) == 32
    assert len(corner["ball"].mesh.triangles) == 320
    assert corner["more-lawn"].mesh is corner["lawn"].mesh


def test_materials_of_the_file(corner):
    assert corner["house"].mesh.materials == (Material(name="wall", reflectance=0.4, color=(0.5, 0.5, 0.5)),)
    (soil,) = corner["ground"].mesh.materials
    assert soil.name == "soil" and soil.label == "terrain"
    # An override changes the fields that it names and no others.
    leaf = corner.materials["leaf"]
    assert leaf.reflectance == 0.5 and leaf.label == "leaf"
    assert {m.name for m in corner["tree"].mesh.materials} == {"bark", "branch", "leaf"}


def test_placements_of_the_file(corner):
    house = corner["house"].placements.matrices[0]
    np.testing.assert_allclose(house[:, :3] @ [1, 1, 1] + house[:, 3], [1 - 2, 2 + 1, 3 + 3], atol=1e-12)
    pole = corner["pole"].placements.matrices[0]
    np.testing.assert_allclose(pole[:, :3] @ [0, 0, 1], [0, -1, 0], atol=1e-12)
    lawn = corner["lawn"].placements.matrices
    np.testing.assert_allclose(np.linalg.norm(lawn[:, :, :3], axis=1), [[1, 1, 1], [2, 2, 2], [1, 2, 3]])
    np.testing.assert_allclose(lawn[1, :, :3] @ [1, 0, 0], [0, 2, 0], atol=1e-12)
    more = corner["more-lawn"].placements.matrices
    np.testing.assert_array_equal(more[:, :, 3], [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_allclose(more[0, :, :3] @ [1, 0, 0], [0, 2, 0], atol=1e-12)


def test_motion_of_the_file(corner):
    half = corner["ball"].motion.pose(1.0)
    np.testing.assert_allclose(half.position, [2, 0, 0])
    np.testing.assert_allclose(half.rotation @ [1, 0, 0], [np.sqrt(0.5), np.sqrt(0.5), 0])
    np.testing.assert_allclose(corner["board"].motion.pose(0.5).position, [2.5, 0, 1])


def test_meshes_and_npz_placements_are_found_beside_the_file(write, tmp_path):
    (tmp_path / "parts").mkdir()
    save_mesh(box((1, 2, 3)), tmp_path / "parts" / "crate.ply")
    np.savez(tmp_path / "parts" / "p.npz", positions_m=np.arange(6.0).reshape(2, 3), scale=[1.0, 2.0])
    text = '[[objects]]\nname = "a"\nmesh = "parts/crate.ply"\n[objects.placements]\nfile = "parts/p.npz"\n'
    again = text.replace('"a"', '"b"') + '[[objects]]\nmesh = "parts/crate.ply"\nup_axis = "z"\n'
    scene = load_scene(write(text + again))
    assert scene["a"].mesh is scene["b"].mesh
    np.testing.assert_array_equal(scene["a"].placements.matrices[1, :, 3], [3, 4, 5])


def test_heights_from_a_file(write, tmp_path):
    np.save(tmp_path / "h.npy", np.arange(6.0).reshape(3, 2))
    scene = load_scene(write('[[objects]]\nground = {size_m = [2, 1], heights = "h.npy"}\n'))
    np.testing.assert_array_equal(scene.objects[0].mesh.vertices[:, 2], np.arange(6.0))


BOX = "[[objects]]\nbox = {size_m = [1, 1, 1]}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "objects: is required"),
        ("objects = []", "the scene is empty"),
        ("nam = 1\n" + BOX, "nam: unknown key; did you mean 'name'"),
        (BOX + "positon_m = [0, 0, 0]", "objects.0.positon_m: unknown key; did you mean 'position_m'"),
        (BOX + "yaw = 3", "did you mean 'yaw_deg'"),
        (BOX.replace("size_m", "size"), "unknown key; did you mean 'size_m'|is required"),
        ("[[objects]]\nbox = {size_m = [1, 0, 1]}", "box size y: must be above 0"),
        ("[[objects]]\nname = 'a'", "needs exactly one of mesh, terrain, ground"),
        (BOX + "plane = {size_m = [1, 1]}", "has plane and box"),
        (BOX + "scale = 0", "must not have zero scale"),
        (BOX + "scale = [1, 1, 0]", "must not have zero scale"),
        (BOX + "position_m = [0, nan, 0]", "finite number"),
        (BOX + "label = 'bulding'", "unknown label; did you mean 'building'"),
        (BOX + "material = 'concret'", "no such material; did you mean 'concrete'"),
        (BOX + "up_axis = 'y'", "up_axis goes with mesh only"),
        (BOX + "yaw_deg = 1\nrotation_deg = [0, 0, 1]", "either yaw_deg or rotation_deg"),
        (BOX + "position_m = [0, 0, 0]\nplacements = {positions_m = [[0, 0, 0]]}", "either placements or position_m"),
        (BOX + "placements = {}", "positions_m: is required"),
        (BOX + "placements = {positions_m = [[0, 0, 0]], yaw_deg = [1, 2]}", "placement yaw"),
        (BOX + "placements = {positions_m = [[0, 0, 0]], scale = [1, 2]}", "scale: must be one number or 1"),
        (BOX + "placements = {file = 'no.csv'}", "no such file of placements"),
        (BOX + "placements = {file = 'bad.csv'}", "unknown column 'yaw'; did you mean 'yaw_deg'"),
        (BOX + "placements = {file = 'text.csv'}", "not a CSV of numbers"),
        (BOX + "placements = {file = 'bad.npz'}", "not a readable NPZ file"),
        (BOX + "motion = {times_s = [0, 1]}", "positions_m: is required"),
        (
            BOX + "motion = {times_s = [1, 0], positions_m = [[0, 0, 0], [1, 0, 0]]}",
            "trajectory times: must increase",
        ),
        (BOX + "motion = {times_s = [0, 1], positions_m = [[0, 0, 0]]}", "trajectory"),
        (BOX + "motion = {file = 'no.tum'}", "no such file"),
        (BOX + "name = 'a'\n" + BOX + "name = 'a'", "must be unique"),
        (BOX + "name = 'a'\n[[objects]]\nlike = 'b'", "no such object"),
        ("[materials.x]\nreflectance = 0.5\n" + BOX, "materials.x: nothing uses it"),
        ("[materials.default]\nreflectance = 1.5\n" + BOX, "materials.default.reflectance.*got 1.5"),
        ("[materials.default]\nreflectence = 0.5\n" + BOX, "did you mean 'reflectance'"),
        ("[materials.default]\nname = 'other'\n" + BOX, "key is the name"),
        ("[labels]\nmoss = 70000\n" + BOX, "labels.moss"),
        ("[[objects]]\nmesh = 'no.obj'", "no such mesh file"),
        ("[[objects]]\nmesh = 'bad.obj'", "must be finite"),
        ("[[objects]]\ngrow = {kind = 'gras'}", "grow.*'gras'"),
        ("[[objects]]\ngrow = {kind = 'tree', heigth_m = 3}", "did you mean 'height_m'"),
        ("[[objects]]\ngrow = {kind = 'grass', blades = 0}", "grass blades: must be at least 1"),
        ("[[objects]]\nground = {size_m = [1, 1], heights = 'no.npy'}", "no such file"),
        ("[[objects]\n", "not valid TOML"),
    ],
)
def test_each_mistake_is_one_line_that_names_the_file(write, tmp_path, text, said):
    (tmp_path / "bad.csv").write_text("x,y,z,yaw\n1,2,3,4\n")
    (tmp_path / "text.csv").write_text("x,y,z\n1,2,three\n")
    (tmp_path / "bad.npz").write_bytes(b"PK nonsense")
    (tmp_path / "bad.obj").write_text("v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    path = write(text)
    with pytest.raises(InputError, match=said) as caught:
        load_scene(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_missing_scene_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_scene(tmp_path / "no.toml")


def assert_same(first: Scene, second: Scene) -> None:
    assert (second.name, second.labels) == (first.name, first.labels)
    assert len(second.objects) == len(first.objects)
    for a, b in zip(first.objects, second.objects, strict=True):
        assert (b.id, b.name, b.label, b.tags) == (a.id, a.name, a.label, a.tags)
        assert b.mesh.vertices.tobytes() == a.mesh.vertices.tobytes()
        np.testing.assert_array_equal(b.mesh.triangles, a.mesh.triangles)
        np.testing.assert_array_equal(b.mesh.material_of_triangles, a.mesh.material_of_triangles)
        assert b.mesh.materials == a.mesh.materials
        np.testing.assert_array_equal(b.placements.matrices, a.placements.matrices)
        assert (a.motion is None) == (b.motion is None)
        if a.motion is not None and b.motion is not None:
            np.testing.assert_array_equal(b.motion.times, a.motion.times)
            np.testing.assert_array_equal(b.motion.positions, a.motion.positions)
            # A trajectory makes its quaternions unit length again when it is read.
            np.testing.assert_allclose(b.motion.quaternions, a.motion.quaternions, rtol=0, atol=3e-16)


def test_there_and_back_bit_for_bit(corner, tmp_path):
    (tmp_path / "out").mkdir()
    save_scene(corner, tmp_path / "out" / "again.toml")
    back = load_scene(tmp_path / "out" / "again.toml")
    assert_same(corner, back)
    assert back["more-lawn"].mesh is back["lawn"].mesh
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"again.toml", "again"}
    (tmp_path / "out").rename(tmp_path / "moved")
    assert_same(corner, load_scene(tmp_path / "moved" / "again.toml"))


def test_awkward_placements_come_back_bit_for_bit(tmp_path):
    rng = np.random.default_rng(1)
    scene = Scene("odd", {"moss": 300})
    ball = sphere(subdivisions=1)
    mirrored = np.eye(4)[None, :3] * [[[-1], [1], [1]]]
    scene.add(ball, placements=Placements(mirrored), name="mirrored")
    scene.add(ball, placements=Placements(rng.standard_normal((3, 3, 4))), name="sheared / odd name")
    scene.add(ball, placements=Placements(rng.standard_normal((1000, 3, 4))), name="many")
    scene.add(ball, placements=Placements.of(rng.uniform(size=(5, 3)), yaw=rng.uniform(size=5)), name="turned")
    scene.add(ball, position=(0.1, 0.2, 0.3), yaw=0.123, scale=1 / 3, name="one", label="moss")
    path = Trajectory.through([0, 0.1, 1 / 3], [Pose.at(x, yaw=x) for x in (0.1, 0.7, 1.9)])
    scene.add(ball, motion=path, name="runner", tags=("a  b", "[ 1, ]", 'x",\n"y'))
    other = Material(name="default", reflectance=0.9)
    scene.add(Mesh.of(ball.vertices, ball.triangles, (other,)), name="same-name-other-material")
    save_scene(scene, tmp_path / "odd.toml")
    assert_same(scene, load_scene(tmp_path / "odd.toml"))


def test_simple_placements_stay_readable(tmp_path):
    scene = Scene("plain")
    scene.add(box(), name="a", position=(1, 2, 3), yaw=np.deg2rad(30), scale=2, label="building")
    save_scene(scene, tmp_path / "plain.toml")
    text = (tmp_path / "plain.toml").read_text()
    assert "yaw_deg = 30.0" in text and "scale = 2.0" in text and "matrices" not in text
    assert_same(scene, load_scene(tmp_path / "plain.toml"))


def test_a_yard_there_and_back(tmp_path):
    yard = ready_scene("yard")
    save_scene(yard, tmp_path / "yard.toml")
    assert_same(yard, load_scene(tmp_path / "yard.toml"))
    assert len((tmp_path / "yard.toml").read_text().splitlines()) < 100


def test_a_scene_with_pictures_as_toml_and_as_usd_beside_each_other(tmp_path):
    pytest.importorskip("pxr", reason="USD is not installed: pip install 'tussock[usd]'")
    pixels = np.random.default_rng(2).integers(0, 255, (4, 4, 3), np.uint8)
    scene = Scene("pictured")
    scene.add(card((1, 1), material=Material(name="leaf", texture=Texture(pixels))), name="card")
    for ending in ("toml", "usda"):
        save_scene(scene, tmp_path / f"it.{ending}")
    assert {p.name for p in tmp_path.iterdir()} == {"it", "it.toml", "it_textures", "it.usda"}
    for ending in ("toml", "usda"):
        (material,) = load_scene(tmp_path / f"it.{ending}")["card"].mesh.materials
        assert material.texture == Texture(pixels)


def test_saving_overwrites_only_when_asked_and_leaves_no_rest(tmp_path):
    scene = Scene()
    scene.add(box(), name="a")
    save_scene(scene, tmp_path / "s.toml")
    with pytest.raises(OutputError, match="exists already"):
        save_scene(scene, tmp_path / "s.toml")
    scene.add(sphere(), name="b")
    save_scene(scene, tmp_path / "s.toml", force=True)
    assert_same(scene, load_scene(tmp_path / "s.toml"))
    assert {p.name for p in tmp_path.iterdir()} == {"s.toml", "s"}
    (tmp_path / "s.toml").unlink()
    with pytest.raises(OutputError, match="s: exists already"):
        save_scene(scene, tmp_path / "s.toml")


def test_nothing_is_left_where_saving_fails(tmp_path, monkeypatch):
    scene = Scene()
    scene.add(box(), name="a")
    save_scene(scene, tmp_path / "s.toml")
    before = (tmp_path / "s.toml").read_bytes()

    def full_disk(*_args: object, **_options: object) -> None:
        raise OSError(28, "No space left on device")

    scene.add(sphere(), name="b")
    monkeypatch.setattr("tussock.scene_files.scene_save.save_mesh", full_disk)
    with pytest.raises(OutputError, match="no space left"):
        save_scene(scene, tmp_path / "s.toml", force=True)
    assert {p.name for p in tmp_path.iterdir()} == {"s.toml", "s"}
    assert (tmp_path / "s.toml").read_bytes() == before
    assert len(load_scene(tmp_path / "s.toml").objects) == 1


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(InputError, match="scene: is empty"):
        save_scene(Scene(), tmp_path / "s.toml")
    scene = Scene()
    scene.add(box())
    with pytest.raises(OutputError, match=r"ends in \.toml, .* or \.glb; name it s\.toml"):
        save_scene(scene, tmp_path / "s.json")
    with pytest.raises(OutputError, match="no such folder"):
        save_scene(scene, tmp_path / "no" / "s.toml")
