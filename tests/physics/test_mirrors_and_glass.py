"""Mirrors and glass through whole scans, against ray paths drawn on paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.return_modes import KINDS
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.simulate import scan
from tussock.trace.world import World

MILLIMETRE = 1e-3
MIRROR = Material(name="mirror", reflectance=0.0, mirror=0.9)
GREY = Material(name="grey", reflectance=0.5)


def glass(index: float, transmission: float = 1.0, reflectance: float = 0.0) -> Material:
    return Material(name="glass", reflectance=reflectance, transmission=transmission, refractive_index=index)


def directions(frame: object) -> np.ndarray:
    a, e = frame.azimuth.astype(float), frame.elevation.astype(float)
    return np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], 1)


# ---- mirrors ----


def test_a_mirror_at_45_degrees(pencil: Callable, add_wall: Callable) -> None:
    """The mirror x − y = 10 turns the wall y = 5 into the virtual wall x = 15, straight ahead."""
    scene = Scene()
    add_wall(scene, [10, 0, 0], (-1, 1, 0), material=MIRROR, size=6.0, name="mirror")
    wall = add_wall(scene, [10, 5, 0], (0, -1, 0), material=GREY, size=20.0)
    frame = scan(scene, pencil(np.linspace(-8, 8, 33), np.linspace(-5, 5, 11)), keep_misses=True)
    d = directions(frame)
    assert frame.hit.all()
    assert (frame.object_id == wall.id).all()
    assert np.abs(frame.true_range - 15 / d[:, 0]).max() < MILLIMETRE / 10
    assert np.abs(frame.true_xyz[:, 0] - 15).max() < MILLIMETRE / 10, "the virtual wall"
    np.testing.assert_allclose(frame.true_xyz, frame.true_range[:, None] * d, atol=1e-5)
    np.testing.assert_allclose(frame.intensity, 0.9**2 * 0.5 * d[:, 0], atol=1e-6)


def test_a_mirror_alone_returns_nothing(pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    add_wall(scene, [10, 0, 0], (-1, 0, 0), material=MIRROR)
    assert len(scan(scene, pencil(np.linspace(-5, 5, 21)))) == 0


@pytest.fixture(scope="module")
def corridor(add_wall: Callable) -> World:
    """Mirrors at y = ±1 along x, and a wall across at x = 20."""
    scene = Scene()
    long = {"size": 60.0, "material": MIRROR}
    add_wall(scene, [20, 1, 0], (0, -1, 0), **long)
    add_wall(scene, [20, -1, 0], (0, 1, 0), **long)
    add_wall(scene, [20, 0, 0], (-1, 0, 0), material=GREY, size=2.0, name="end")
    return World(scene)


AZIMUTHS = np.linspace(-35.0, 35.0, 141) + 0.013  # no ray meets an edge


def bounces_to_the_end(frame: object) -> np.ndarray:
    """Unfolded, a ray goes straight to x = 20 and crosses mirrors at y = ±1, ±3, ±5 …"""
    y = 20 * np.tan(np.abs(frame.azimuth.astype(float)))
    return np.floor((y + 1) / 2)


def test_a_corridor_of_two_mirrors(corridor: World, pencil: Callable) -> None:
    frame = scan(corridor, pencil(AZIMUTHS, **{"receiver.max_bounces": 16}), keep_misses=True)
    d, bounces = directions(frame), bounces_to_the_end(frame)
    assert bounces.max() == 7
    assert frame.hit.all()
    assert np.abs(frame.true_range - 20 / d[:, 0]).max() < MILLIMETRE
    assert np.abs(frame.true_xyz[:, 0] - 20).max() < MILLIMETRE, "a straight wall, seven virtual copies wide"
    np.testing.assert_allclose(frame.intensity, 0.9 ** (2 * bounces) * 0.5 * d[:, 0], atol=2e-6)


@pytest.mark.parametrize("limit", [0, 1, 3, 6])
def test_the_bounce_limit(limit: int, corridor: World, pencil: Callable) -> None:
    frame = scan(corridor, pencil(AZIMUTHS, **{"receiver.max_bounces": limit}), keep_misses=True)
    bounces = bounces_to_the_end(frame)
    assert np.array_equal(frame.hit, bounces <= limit)
    assert 0 < frame.hit.sum() < len(frame)


def test_the_whole_path_must_lie_within_the_range(corridor: World, pencil: Callable) -> None:
    frame = scan(corridor, pencil(AZIMUTHS, **{"receiver.max_range_m": 22.0}), keep_misses=True)
    assert np.array_equal(frame.hit, (20 / directions(frame)[:, 0] < 22) & (bounces_to_the_end(frame) <= 6))


def test_what_a_mirror_shows_obeys_the_detection_limit_at_the_whole_path(pencil: Callable, add_wall: Callable) -> None:
    for beyond, seen in ((34.0, True), (36.0, False)):  # 45 % is seen to 85 m
        scene = Scene()
        add_wall(scene, [50, 0, 0], (-1, 1, 0), material=MIRROR)
        add_wall(scene, [50, beyond, 0], (0, -1, 0), material=Material(reflectance=0.45))
        assert len(scan(scene, pencil(**{"receiver.detection_limit": {}}))) == seen


# ---- glass ----


@pytest.mark.parametrize("index", [1.0, 1.33, 1.52, 2.4])
@pytest.mark.parametrize("slope", [0.0, 0.6, -0.6])
def test_snell_through_a_slab(index: float, slope: float, pencil: Callable, add_wall: Callable) -> None:
    """0.8 m of glass from x = 5; behind it the wall x = 10 + slope·y, whose range tells where the ray came out."""
    scene = Scene()
    scene.add(box((0.8, 30, 30), material=glass(index)), position=(5.4, 0, 0))
    add_wall(scene, [10, 0, 0], (-1, slope, 0), material=GREY, size=60.0)
    frame = scan(scene, pencil(np.linspace(-40, 40, 81)), keep_misses=True)
    angle = frame.azimuth.astype(float)
    inside = np.arcsin(np.sin(angle) / index)
    y = 5 * np.tan(angle) + 0.8 * np.tan(inside)
    last = (10 + slope * y - 5.8) / (np.cos(angle) - slope * np.sin(angle))
    expected = 5 / np.cos(angle) + index * 0.8 / np.cos(inside) + last
    assert frame.hit.all()
    assert np.abs(frame.true_range - expected).max() < MILLIMETRE / 10
    cosine = (np.cos(angle) - slope * np.sin(angle)) / np.hypot(1, slope)
    np.testing.assert_allclose(frame.intensity, 0.5 * cosine, atol=1e-5)


@pytest.mark.parametrize("index", [1.0, 1.33, 1.52, 2.4])
def test_what_stands_inside_glass_is_further_by_its_index(index: float, pencil: Callable, add_wall: Callable) -> None:
    """Glass from x = 5 to 9 and a wall in it at x = 7: light takes 5/cos θ of air and n times 2/cos θ' of glass."""
    scene = Scene()
    scene.add(box((4, 30, 30), material=glass(index)), position=(7, 0, 0))
    add_wall(scene, [7, 0, 0], (-1, 0, 0), material=GREY, size=20.0)
    frame = scan(scene, pencil(np.linspace(-40, 40, 81)), keep_misses=True)
    angle = frame.azimuth.astype(float)
    inside = np.arcsin(np.sin(angle) / index)
    assert frame.hit.all()
    assert np.abs(frame.true_range - (5 / np.cos(angle) + index * 2 / np.cos(inside))).max() < MILLIMETRE / 10


@pytest.mark.parametrize("angle", [-35.0, 15.0, 50.0])
def test_the_offset_of_a_slab(angle: float, pencil: Callable, add_wall: Callable) -> None:
    """The ray leaves parallel to itself, t·sin(θ − θ')/cos θ' to the side: two walls meet within 0.1 mm of there."""
    theta = np.deg2rad(angle)
    inside = np.arcsin(np.sin(theta) / 1.5)
    aside = 0.8 * np.sin(theta - inside) / np.cos(inside)
    y = 10 * np.tan(theta) - aside / np.cos(theta)
    for seam, expected in ((y - 1e-4, "left"), (y + 1e-4, "right")):
        scene = Scene()
        scene.add(box((0.8, 40, 40), material=glass(1.5)), position=(5.4, 0, 0))
        add_wall(scene, [10, seam + 2, 0], (-1, 0, 0), material=GREY, name="left")
        add_wall(scene, [10, seam - 2, 0], (-1, 0, 0), material=GREY, name="right")
        frame = scan(scene, pencil((angle,)))
        assert frame.object_id.tolist() == [scene[expected].id]


def prism(material: Material) -> Mesh:
    """A right-angled prism: legs x = 5 and y = −0.5, the long side x + y = 5.5, two metres high."""
    corners = [(5, -0.5), (6, -0.5), (5, 0.5)]
    points = [(x, y, z) for z in (-1, 1) for x, y in corners]
    faces = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)]
    return Mesh.of(points, faces, (material,))


def test_total_reflection_inside_a_prism(pencil: Callable, add_wall: Callable) -> None:
    """At 45° glass of 1.5 reflects all (its limit is 41.8°) and the ray leaves downwards; 1.3 lets it out (50.3°)."""
    for index, name, path in (
        (1.5, "below", 5 + 1.5 * (0.5 + 0.5) + 2.5),
        (1.3, "ahead", 5 + 1.3 * 0.5 + 2.5 / np.cos(np.pi / 4 - np.arcsin(1.3 * np.sqrt(0.5)))),
    ):
        scene = Scene()
        scene.add(prism(glass(index)))
        add_wall(scene, [5.5, -3, 0], (0, 1, 0), material=GREY, name="below")
        add_wall(scene, [8, 0, 0], (-1, 0, 0), material=GREY, name="ahead")
        frame = scan(scene, pencil())
        assert frame.object_id.tolist() == [scene[name].id]
        assert frame.true_range[0] == pytest.approx(path, abs=MILLIMETRE / 10)
        assert frame.true_xyz[0] == pytest.approx([path, 0, 0], abs=MILLIMETRE / 10), "straight ahead all the same"


def pane_and_wall(add_wall: Callable, pane: Material, wall: float) -> Scene:
    scene = Scene()
    add_wall(scene, [5, 0, 0], (-1, 0, 0), material=pane, name="pane")
    add_wall(scene, [10, 0, 0], (-1, 0, 0), material=Material(reflectance=wall), name="wall")
    return scene


def test_a_pane_gives_a_weak_return_and_lets_the_rest_through(pencil: Callable, add_wall: Callable) -> None:
    pane = glass(1.0, transmission=0.9, reflectance=0.05)
    scene = pane_and_wall(add_wall, pane, wall=0.5)
    both = scan(scene, pencil(**{"receiver.mode": "all"}))
    np.testing.assert_allclose(both.true_range, [5, 10], atol=1e-5)
    np.testing.assert_allclose(both.intensity, [0.05, 0.9**2 * 0.5], rtol=1e-6)
    assert both.object_id.tolist() == [scene["pane"].id, scene["wall"].id]
    assert both.return_number.tolist() == [1, 2]

    strongest = scan(scene, pencil(**{"receiver.mode": "strongest"}))
    assert strongest.true_range == pytest.approx([10])

    dark = scan(pane_and_wall(add_wall, pane, wall=0.02), pencil(**{"receiver.mode": "strongest+last"}))
    np.testing.assert_allclose(dark.true_range, [5, 10], atol=1e-5)
    np.testing.assert_allclose(dark.intensity, [0.05, 0.9**2 * 0.02], rtol=1e-6)
    assert [KINDS[kind] for kind in dark.return_kind] == ["strongest", "last"]


@pytest.mark.parametrize("panes", [1, 2, 4])
def test_light_pays_at_every_passage_out_and_back(panes: int, pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    for k in range(panes):
        add_wall(scene, [5 + k, 0, 0], (-1, 0, 0), material=glass(1.0, transmission=0.8))
    add_wall(scene, [15, 0, 0], (-1, 0, 0), material=GREY)
    frame = scan(scene, pencil(**{"receiver.mode": "all"}))
    np.testing.assert_allclose(frame.true_range, [15], atol=1e-5)
    np.testing.assert_allclose(frame.intensity, [0.5 * 0.8 ** (2 * panes)], rtol=1e-6)


@pytest.mark.parametrize("rays", [1, 9, 30, 100])
def test_every_sub_ray_passes_a_pane(rays: int, pencil: Callable, add_wall: Callable) -> None:
    """However finely the beam is sampled, the echo behind the pane has the same strength."""
    scene = pane_and_wall(add_wall, glass(1.0, transmission=0.9, reflectance=0.05), wall=0.5)
    beam = {"beam.rays": rays, "beam.divergence_horizontal_mrad": 2.0, "beam.divergence_vertical_mrad": 2.0}
    if rays not in (1, 9):
        beam["beam.sampling"] = "sequence"
    frame = scan(scene, pencil((0.0, 1.0, 2.0), **beam, **{"receiver.mode": "all"}))
    assert frame.return_number.tolist() == [1, 2] * 3
    np.testing.assert_allclose(frame.intensity[0::2], 0.05, rtol=1e-3)
    np.testing.assert_allclose(frame.intensity[1::2], 0.9**2 * 0.5, rtol=1e-3)


def test_a_half_mirror_shows_both_worlds(pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    half = Material(name="half", reflectance=0.1, mirror=0.4, transmission=0.5)
    add_wall(scene, [10, 0, 0], (-1, 1, 0), material=half)
    add_wall(scene, [14, 0, 0], (-1, 0, 0), material=GREY, name="behind")
    add_wall(scene, [10, 8, 0], (0, -1, 0), material=GREY, name="aside")
    frame = scan(scene, pencil(**{"receiver.mode": "all"}))
    np.testing.assert_allclose(frame.true_range, [10, 14, 18], atol=1e-4)
    expected = [0.1 * np.sqrt(0.5), 0.5**2 * 0.5, 0.4**2 * 0.5]
    np.testing.assert_allclose(frame.intensity, expected, rtol=1e-5)


def test_a_scene_without_mirrors_does_not_care_for_the_bounce_limit(pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    add_wall(scene, [10, 0, 0], (-1, 0, 0), material=GREY)
    sensor = pencil(np.linspace(-5, 5, 50))
    assert scan(scene, sensor).identical(scan(scene, sensor.with_(**{"receiver.max_bounces": 0})))
