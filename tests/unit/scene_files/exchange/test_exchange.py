"""Scenes as USD and glTF: what is written is read back, and gives the same scan as the scene itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

FORMATS = ["scene.usd", "scene.usda", "scene.usdc", "scene.glb"]


@pytest.fixture(autouse=True)
def _usd(request: pytest.FixtureRequest) -> None:
    """Skips what needs USD where it is not installed."""
    if "usd" in str(request.node.name):
        pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")


def made_scene(*, texture: bool = False) -> Scene:
    rng = np.random.default_rng(3)
    scene = Scene("a yard")
    wood = Material(name="wood", reflectance=0.42, specular=0.1, shininess=30.0, color=(0.4, 0.3, 0.1), label="trunk")
    leaf = Material(name="leaf", reflectance=0.55, transmission=0.2, color=(0.1, 0.5, 0.1))
    ground = Material(name="ground", reflectance=0.2)
    if texture:
        picture = rng.integers(0, 255, (8, 8, 3), dtype=np.uint8)
        ground = ground.changed(texture=Texture(picture))
    floor = plane((60, 60), material=ground)
    corners = floor.vertices[:, :2] / 60 + 0.5
    scene.add(Mesh(floor.vertices, floor.triangles, floor.materials, None, corners), name="floor", label="terrain")
    tree = Mesh.joined([box((0.2, 0.2, 2.0), material=wood), sphere(0.7, subdivisions=2, material=leaf)])
    n = 40
    places = Placements.of(
        rng.uniform(-20, 20, (n, 3)) * (1, 1, 0.05), yaw=rng.uniform(-3, 3, n), scale=rng.uniform(0.5, 2, (n, 3))
    )
    scene.add(tree, name="trees", label="vegetation", tags=["vegetation"], placements=places,
              response=VegetationResponse(mean_m=0.1, sigma_m=0.2))  # fmt: skip
    scene.add(tree, name="one more", label="vegetation", position=(3.1, 0.2, 0.7), yaw=0.3, scale=1.3)
    scene.add(box((1, 2, 3), material=wood), name="größe 1/2", position=(5, 5, 1))
    return scene


def check_same(read: Scene, scene: Scene) -> None:
    assert read.name == scene.name
    assert [o.name for o in read.objects] == [o.name for o in scene.objects]
    for mine, theirs in zip(read.objects, scene.objects, strict=True):
        assert (mine.label, mine.tags, mine.response) == (theirs.label, theirs.tags, theirs.response)
        np.testing.assert_array_equal(mine.placements.matrices, theirs.placements.matrices)
        assert set(mine.mesh.materials) == set(theirs.mesh.materials)
        sides = [m.vertices[m.triangles].reshape(-1, 9) for m in (mine.mesh, theirs.mesh)]
        np.testing.assert_array_equal(*(rows[np.lexsort(rows.T)] for rows in sides))


@pytest.mark.parametrize("name", FORMATS)
def test_a_scene_comes_back_and_scans_alike(name: str, tmp_path: Path) -> None:
    scene = made_scene()
    save_scene(scene, tmp_path / name)
    save_scene(scene, tmp_path / "same.toml")
    read = load_scene(tmp_path / name)
    check_same(read, scene)
    assert read.objects[1].mesh is read.objects[2].mesh, "a shape is in memory once"
    sensor, pose = load_sensor("vlp-16"), Pose.at(0, 0, 1.5)
    frames = [scan(s, sensor, pose, seed=5) for s in (read, load_scene(tmp_path / "same.toml"))]
    assert len(frames[0]) == len(frames[1]) > 10_000
    for column in ("range", "intensity", "object_id", "label", "pulse"):
        np.testing.assert_array_equal(getattr(frames[0], column), getattr(frames[1], column), column)


@pytest.mark.parametrize("name", FORMATS)
def test_textures_come_back(name: str, tmp_path: Path) -> None:
    scene = made_scene(texture=True)
    save_scene(scene, tmp_path / name)
    read = load_scene(tmp_path / name)
    check_same(read, scene)
    uv = read.objects[0].mesh.uv
    assert uv is not None and scene.objects[0].mesh.uv is not None
    np.testing.assert_allclose(np.sort(uv, axis=0), np.sort(scene.objects[0].mesh.uv, axis=0), atol=1e-6)


@pytest.mark.parametrize("name", FORMATS)
def test_copies_that_are_mirrored_or_skewed(name: str, tmp_path: Path) -> None:
    scene = Scene("askew")
    mirrored = np.tile(np.eye(3, 4), (3, 1, 1))
    mirrored[:, 0, 0], mirrored[:, 0, 3] = -1.5, [1, 2, 3]
    scene.add(sphere(0.5, subdivisions=1), name="mirrored", placements=Placements(mirrored))
    skewed = mirrored.copy()
    skewed[:, 0, 1] = 0.5
    save_scene(scene, tmp_path / name)
    check_same(load_scene(tmp_path / name), scene)
    scene.add(box(), name="skewed", placements=Placements(skewed))
    if name.endswith(".glb"):
        with pytest.raises(OutputError, match=r"'skewed': placements with a skew cannot be instances in glTF"):
            save_scene(scene, tmp_path / name, force=True)
        return
    save_scene(scene, tmp_path / name, force=True)
    check_same(load_scene(tmp_path / name), scene)


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_formats_have_no_words_for_is_refused(name: str, tmp_path: Path) -> None:
    scene = Scene()
    path = Trajectory.through([0.0, 1.0], [Pose(), Pose.at(1)])
    scene.add(box(), name="car", motion=path)
    if name.endswith(".glb"):  # USD has words for motion
        with pytest.raises(
            InputError, match=r"object 'car': motion cannot be written as glTF; save the scene as .toml"
        ):
            save_scene(scene, tmp_path / name)
        assert not list(tmp_path.iterdir())
    with pytest.raises(OutputError, match=r"ends in .toml, .usd, .usda, .usdc or .glb"):
        save_scene(made_scene(), tmp_path / "scene.obj")
    save_scene(made_scene(), tmp_path / name)
    with pytest.raises(OutputError, match=r"exists already"):
        save_scene(made_scene(), tmp_path / name)


@pytest.mark.parametrize("name", ["a.usd", "a.usda", "a.usdc", "a.usdz", "a.glb", "a.gltf"])
@pytest.mark.parametrize("content", [b"", b"glTF but not really", b"#usda 1.0\n(", b'{"asset": {"version": "2.0"}}'])
def test_damaged_files_are_one_line(name: str, content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        load_scene(tmp_path / name)
    assert str(error.value).startswith(str(tmp_path / name)) and "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_cut_anywhere_is_refused_or_read(name: str, tmp_path: Path) -> None:
    save_scene(made_scene(texture=True), tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for share in (0.02, 0.1, 0.3, 0.6, 0.9, 0.99):
        (tmp_path / name).write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(InputError):
            load_scene(tmp_path / name)


def test_no_such_file(tmp_path: Path) -> None:
    for name in ("no.usd", "no.glb"):
        if name == "no.usd":
            pytest.importorskip("pxr", reason="needs usd-core: pip install 'tussock[usd]'")
        with pytest.raises(InputError, match="no such scene file"):
            load_scene(tmp_path / name)
