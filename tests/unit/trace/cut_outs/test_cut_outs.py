"""What is see-through in a texture is not there, for any ray."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tussock.cameras.camera import Camera
from tussock.cameras.render import look, render
from tussock.cameras.shading.light import Light
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, card, plane
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.scene.wind import Wind
from tussock.scene_files.scene_file import load_scene
from tussock.simulate import scan
from tussock.trace.embree import Device, host_isas
from tussock.trace.rays import trace_rays
from tussock.trace.world import World

CHECKS = np.zeros((8, 4, 4), np.uint8)
CHECKS[..., :3] = 200
CHECKS[..., 3] = 255 * (np.indices((8, 4)).sum(0) % 2)


def leaf_outline(points: int = 60) -> np.ndarray:
    """A pointed leaf within the unit square, counter-clockwise, shape (n, 2)."""
    t = np.linspace(0, 2 * np.pi, points, endpoint=False)
    return np.stack([0.5 + 0.32 * np.sin(t) * (1 - 0.5 * np.cos(t)), 0.5 - 0.45 * np.cos(t)], 1)


def leaf_picture(size: int) -> Texture:
    """The leaf as the opacity of a picture."""
    from matplotlib.path import Path as Outline

    x, y = np.meshgrid((np.arange(size) + 0.5) / size, 1 - (np.arange(size) + 0.5) / size)
    inside = Outline(leaf_outline()).contains_points(np.stack([x.ravel(), y.ravel()], 1)).reshape(size, size)
    pixels = np.full((size, size, 4), 255, np.uint8)
    pixels[..., 3] = 255 * inside
    return Texture(pixels)


def leaf_triangles() -> Mesh:
    """The leaf as triangles about its middle, where `card` has it."""
    outline = leaf_outline()
    rim = np.stack([outline[:, 0] - 0.5, np.zeros(len(outline)), outline[:, 1]], 1)
    corners = np.concatenate([[[0, 0, 0.5]], rim])
    n = len(rim)
    return Mesh.of(corners, [[0, 1 + k, 1 + (k + 1) % n] for k in range(n)])


def rays_at(size: float, count: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Rays from all around through a square about the middle of an upright card."""
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(count, 3))
    start = 8 * start / np.linalg.norm(start, axis=1, keepdims=True) + [0, 0, size / 2]
    through = np.stack([rng.uniform(-0.5, 0.5, count), np.zeros(count), rng.uniform(0, 1, count)], 1) * size
    way = through - start
    return start, way / np.linalg.norm(way, axis=1, keepdims=True)


def met(scene: Scene, start: np.ndarray, way: np.ndarray) -> np.ndarray:
    return np.isfinite(trace_rays(World(scene), start, way, 100.0))


@pytest.mark.parametrize("copies", [1, 2])
def test_a_picture_of_a_leaf_is_met_as_often_as_the_leaf(copies: int) -> None:
    """As one shape in place, and as copies."""
    places = Placements.of([[0, 0, 0], [500, 0, 0]][:copies])
    cut, solid = Scene(), Scene()
    cut.add(card(material=Material(texture=leaf_picture(256))), placements=places)
    solid.add(leaf_triangles(), placements=places)
    start, way = rays_at(1.0, 200_000)
    one, other = met(cut, start, way), met(solid, start, way)
    assert 0.2 < other.mean() < 0.6
    assert one.mean() == pytest.approx(other.mean(), rel=0.01)
    assert (one != other).mean() < 0.01


def test_the_nearest_texel_decides() -> None:
    """Against the picture itself, repeated and mirrored: each ray looks along y at a known place."""
    uv = np.array([[-0.5, 0.25], [1.75, 0.25], [1.75, 2.0], [-0.5, 2.0]])
    square = card((2.0, 2.0))
    mesh = Mesh.of(square.vertices, square.triangles, (Material(texture=Texture(CHECKS)),), uv=uv)
    rng = np.random.default_rng(3)
    place = rng.uniform([-1, 0], [1, 2], (20_000, 2))
    s, t = (uv[0] + (place - [-1, 0]) / 2 * (uv[2] - uv[0])).T
    x, y = (s % 1) * 4, (1 - t % 1) * 8
    clear = (np.abs(x - np.round(x)) > 1e-4) & (np.abs(y - np.round(y)) > 1e-4)
    wanted = CHECKS[np.minimum(y.astype(int), 7), np.minimum(x.astype(int), 3), 3] > 0
    start = np.stack([place[:, 0], np.full(len(place), -5.0), place[:, 1]], 1)
    for scale in ([1, 1, 1], [-1, 1, 1]):
        scene = Scene()
        scene.add(mesh, placements=Placements.of([[0, 0, 0]], scale=np.array([scale], float)))
        found = met(scene, start * [scale[0], 1, 1], np.tile([0.0, 1.0, 0.0], (len(place), 1)))
        assert np.array_equal(found[clear], wanted[clear]), scale


@pytest.mark.parametrize(("cutoff", "share"), [(0.0, 1.0), (0.2, 0.75), (0.5, 0.5), (1.0, 0.25)])
def test_the_cutoff_says_what_is_there(cutoff: float, share: float) -> None:
    pixels = np.full((2, 2, 4), 255, np.uint8)
    pixels[..., 3] = [[255, 128], [64, 0]]
    scene = Scene()
    scene.add(card(material=Material(texture=Texture(pixels), opacity_cutoff=cutoff)))
    assert met(scene, *rays_at(1.0, 20_000)).mean() == pytest.approx(share, abs=0.015)


def test_without_texture_coordinates_nothing_is_cut_out() -> None:
    scene = Scene()
    scene.add(plane((2, 2), material=Material(texture=Texture(CHECKS))))
    world = World(scene)
    assert np.isfinite(trace_rays(world, np.array([0.1, 0.2, 3.0]), np.array([[0.0, 0, -1]]), 10.0)).all()


def seen_through(scene: Scene, plain_sensor: Callable, **more: object) -> set[str]:
    frame = scan(World(scene), plain_sensor(), Pose.at(0, 0, 0.5), **more)
    return {scene.objects[number - 1].name for number in np.unique(frame.object_id)}


@pytest.mark.parametrize("how", ["placed once", "copies", "moving", "in wind"])
def test_scans_see_through_holes(plain_sensor: Callable, how: str) -> None:
    """Cards all around with nothing on them: whatever they are, only the room behind them is met."""
    clear = CHECKS.copy()
    clear[..., 3] = 0
    around = np.array([[3, 0, 0], [-3, 0, 0], [0, 3, 0], [0, -3, 0]], float)
    yaw = np.array([1, 1, 0, 0]) * np.pi / 2
    for pixels, wanted in ((clear, {"room"}), (CHECKS, {"room", "cards"})):
        scene = Scene("behind cards")
        scene.wind = Wind(speed_m_s=4.0) if how == "in wind" else None
        mesh = card((6.0, 6.0), material=Material(texture=Texture(pixels)))
        scene.add(box((20, 20, 20)), name="room")
        if how == "placed once":
            scene.add(mesh, position=(3, 0, 0), yaw=np.pi / 2, name="cards")
        elif how == "moving":
            path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0), Pose.at(0.1, 0, 0, yaw=0.1)])
            scene.add(mesh, placements=Placements.of(around, yaw=yaw), motion=path, name="cards")
        else:
            scene.add(mesh, placements=Placements.of(around, yaw=yaw), label="vegetation", name="cards")
        assert seen_through(scene, plain_sensor) == wanted


HALF = np.full((1, 2, 4), 255, np.uint8)
HALF[0, 0, 3] = 0  # the left half is open


def test_cameras_see_through_holes() -> None:
    """Labels and ranges of a picture: half a card, and the ground."""
    scene = Scene("half a card")
    scene.add(plane((40, 40)), name="ground", label="terrain")
    scene.add(card((4.0, 4.0), material=Material(texture=Texture(HALF))), position=(0, 0, 1), name="card", label="wall")
    camera = Camera(width=64, height=48, lens={"kind": "orthographic", "width_m": 8.0})
    seen = look(World(scene), camera, Pose.at(0, -6, 3, yaw=np.pi / 2))
    row = seen.object_id[24]
    assert set(row[:32]) == {0}
    assert set(row[33:47]) == {2}
    assert seen.range[24, 40] == pytest.approx(6.0)


def test_light_falls_through_holes() -> None:
    """The ground under half a sheet, with the sun above it."""
    square = plane((4, 4))
    sheet = Mesh.of(
        square.vertices, square.triangles, (Material(texture=Texture(HALF)),), uv=square.vertices[:, :2] / 4 + 0.5
    )
    scene = Scene("half a sheet")
    scene.add(plane((40, 40)), name="ground")
    scene.add(sheet, position=(0, 0, 3))
    camera = Camera(width=32, height=32, samples=4, lens={"kind": "orthographic", "width_m": 3.0})
    down = Pose.at(0, 0, 2, pitch=np.pi / 2)
    light = render(World(scene), camera, down, light=Light(sun_elevation_deg=89.0)).light.sum(2)
    halves = sorted([light[:, :14].mean(), light[:, 18:].mean(), light[:14].mean(), light[18:].mean()])
    assert halves[3] > 2 * halves[0]


def test_the_same_under_every_instruction_set() -> None:
    scene = Scene()
    scene.add(card(material=Material(texture=leaf_picture(64))), placements=Placements.of([[0, 0, 0], [0, 2, 0]]))
    start, way = rays_at(1.0, 50_000)
    found = [trace_rays(World(scene, device=Device(isa)), start, way, 100.0) for isa in host_isas()]
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in itertools.pairwise(found))


def test_files_carry_cut_outs(tmp_path: Path) -> None:
    """A scene file of our own with a card, through TOML, glTF and back."""
    Image.fromarray(CHECKS).save(tmp_path / "checks.png")
    (tmp_path / "cards.toml").write_text(
        '[materials.checks]\ntexture = "checks.png"\nopacity_cutoff = 0.25\nreflectance = 0.4\n'
        '[[objects]]\nname = "card"\ncard = { size_m = [2, 3], crossed = 2 }\nmaterial = "checks"\n'
    )
    scene = load_scene(tmp_path / "cards.toml")
    mesh = scene.objects[0].mesh
    assert len(mesh.triangles) == 4
    assert mesh.materials[0].opacity_cutoff == 0.25
    assert len(World(scene).cut_outs.rows) > 0
    from tussock.scene_files.exchange.gltf_write import save_glb

    save_glb(scene, tmp_path / "cards.glb")
    again = load_scene(tmp_path / "cards.glb").objects[0].mesh.materials[0]
    assert again.opacity_cutoff == 0.25
    assert again.texture == mesh.materials[0].texture


@pytest.mark.parametrize(("mode", "more", "cutoff", "cut"), [
    ("OPAQUE", {}, 0.5, False), ("MASK", {}, 0.5, True), ("MASK", {"alphaCutoff": 0.9}, 0.9, True),
    ("BLEND", {}, 0.5, True), ("BLEND", {"extras": {"opacity_cutoff": 0.1}}, 0.1, True),
])  # fmt: skip
def test_gltf_of_other_programs(tmp_path: Path, mode: str, more: dict, cutoff: float, cut: bool) -> None:
    import json

    import trimesh

    picture = Image.fromarray(CHECKS)
    look = trimesh.visual.material.PBRMaterial(name="leaf", baseColorTexture=picture, alphaMode=mode)
    square = card()
    mesh = trimesh.Trimesh(
        square.vertices,
        square.triangles,
        process=False,
        visual=trimesh.visual.TextureVisuals(uv=square.uv, material=look),
    )
    file = tmp_path / "leaf.gltf"
    for name, data in trimesh.Scene(mesh).export(file_type="gltf").items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "model.gltf").rename(file)
    header = json.loads(file.read_text())
    header["materials"][0] |= more
    file.write_text(json.dumps(header))
    from tussock.scene_files.mesh_files import load_mesh

    for material in (load_mesh(file).materials[0], load_scene(file).objects[0].mesh.materials[0]):
        assert material.opacity_cutoff == cutoff
        assert (material.least_opaque > 0) == cut


def obj_with(folder: Path, mtl: str) -> Path:
    (folder / "leaf.mtl").write_text("newmtl leaf\nKd 0.2 0.6 0.2\n" + mtl)
    (folder / "leaf.obj").write_text(
        "mtllib leaf.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nusemtl leaf\n"
        "f 1/1 2/2 3/3\nf 1/1 3/3 4/4\n"
    )
    return folder / "leaf.obj"


@pytest.mark.parametrize("mtl", ["map_d mask.png\n", "map_Kd leaf.png\nmap_d mask.png\n", "map_Kd leaf_alpha.png\n"])
def test_obj_of_other_programs(tmp_path: Path, mtl: str) -> None:
    """map_d is a grey picture, or the opacity stands in the colour's own."""
    from tussock.scene_files.mesh_files import load_mesh

    Image.fromarray(CHECKS[..., 3]).save(tmp_path / "mask.png")
    Image.fromarray(CHECKS[..., :3]).save(tmp_path / "leaf.png")
    Image.fromarray(CHECKS).save(tmp_path / "leaf_alpha.png")
    mesh = load_mesh(obj_with(tmp_path, mtl))
    assert mesh.uv is not None
    texture = mesh.materials[0].texture
    assert texture is not None
    assert np.array_equal(texture.pixels[..., 3], CHECKS[..., 3])
    assert mesh.materials[0].least_opaque == 128


def test_a_missing_map_d_is_an_error(tmp_path: Path) -> None:
    from tussock.scene_files.mesh_files import load_mesh

    with pytest.raises(
        InputError, match=r"texture of leaf.mtl: must be a file, got 'gone.png'; add it or remove the line"
    ):
        load_mesh(obj_with(tmp_path, "map_d gone.png\n"))
