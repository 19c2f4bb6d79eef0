"""Colour pictures: light and shadow where they belong, textures, mirrors, noise, and the same bits for a seed."""

from __future__ import annotations

import numpy as np
import pytest
from small_scenes import RED, parked_cars

from tussock.cameras.camera import Camera
from tussock.cameras.development import Development, develop
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look, render
from tussock.cameras.shading.light import Light
from tussock.errors import InputError
from tussock.plots.overlay import overlay_points
from tussock.plots.viewable import depth_rgb, instance_rgb, label_rgb, normal_rgb
from tussock.poses import Pose, Trajectory
from tussock.scene.labels import LABELS
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.trace.world import World

WHITE = Material(name="white", reflectance=0.9, color=(0.9, 0.9, 0.9))
CLEAR = {"clouds": 0.0, "visibility_m": None}
POSE = Pose.at(0.0, 0.0, 1.6, pitch=0.08)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    world = World(parked_cars())
    camera = Camera(width=66, height=38, samples=3, development={"shot_noise": 0.02, "read_noise": 0.005})
    one = render(world, camera, POSE, seed=7, frame=3, threads=1)
    many = render(world, camera, POSE, seed=7, frame=3, threads=3)
    np.testing.assert_array_equal(one.light, many.light)
    np.testing.assert_array_equal(one.rgb, many.rgb)
    other = render(world, camera, POSE, seed=8, frame=3)
    later = render(world, camera, POSE, seed=7, frame=4)
    assert (one.rgb != other.rgb).mean() > 0.2 and (one.rgb != later.rgb).mean() > 0.2


def test_the_sun_shines_through_panes():
    """Ground under one, two and three sheets of glass, seen from below them: τ, τ², τ³ of the sun; a lid stops it."""
    pane = Material(name="pane", reflectance=0.0, transmission=0.8)
    camera = Camera(width=8, height=8, samples=2, lens=Pinhole(horizontal_fov_deg=20))
    below = Pose.at(0.0, 0.0, 1.0, pitch=np.pi / 2)
    light = Light(sun_azimuth_deg=180.0, sun_elevation_deg=60.0, sky=0.0, **CLEAR)
    seen = []
    for roof in ([], [pane], [pane, pane], [pane, pane, pane], [pane, WHITE]):
        scene = Scene("greenhouse")
        scene.add(plane((40.0, 40.0), material=WHITE))
        for level, material in enumerate(roof):
            scene.add(plane((20.0, 20.0), material=material), position=(0.0, 0.0, 2.0 + level))
        seen.append(render(scene, camera, below, light=light).light[..., 0].mean())
    assert seen[-1] < 0.05 * seen[0]
    dark = seen[-1]  # what the ground's own light leaves in any shade
    np.testing.assert_allclose((np.array(seen[1:4]) - dark) / (seen[0] - dark), [0.8, 0.64, 0.512], atol=0.03)


def test_a_car_with_windows_is_light_inside():
    """Seen from above through its panes, a white floor is nearly as bright as in the open; sky and sun reach it."""
    glass = Material(name="pane", reflectance=0.0, transmission=0.9)
    camera = Camera(width=40, height=40, samples=4, lens={"kind": "orthographic", "width_m": 8.0})
    above = Pose.at(0.0, 0.0, 20.0, pitch=np.pi / 2)
    scene = Scene("car park")
    scene.add(plane((40.0, 40.0), material=WHITE))
    scene.add(box((2.0, 2.0, 2.0), material=glass), position=(0.0, 0.0, 1.001))
    picture = render(scene, camera, above, light=Light(sun_elevation_deg=80.0, **CLEAR)).light.mean(2)
    inside, outside = picture[18:22, 18:22].mean(), picture[:8, :8].mean()
    # 0.81 of what is behind two panes to the camera, of a floor that has 0.81 of the sun and all of the sky
    assert 0.81 * 0.81 - 0.03 < inside / outside < 0.81


def test_sun_shade_and_lamberts_cosine():
    """A white plane in full sun, without sky: cosine of the sun's angle; behind a box: nothing."""
    scene = Scene("sundial")
    scene.add(plane((40.0, 40.0), material=WHITE))
    scene.add(box((1.0, 1.0, 4.0), material=WHITE), position=(0.0, 0.0, 2.0))
    camera = Camera(width=80, height=80, lens={"kind": "orthographic", "width_m": 16.0}, samples=4)
    above = Pose.at(0.0, 0.0, 20.0, pitch=np.pi / 2)
    light = Light(sun_azimuth_deg=180.0, sun_elevation_deg=45.0, sky=0.0, **CLEAR)
    picture = render(scene, camera, above, light=light)
    points = np.array([[5.0, 5.0], [2.5, 0.0], [-3.0, 0.0]])  # open ground, in the shadow (away from the sun), open
    column, line = np.rint(camera.project(np.column_stack([points, np.zeros(3)]), above)).astype(int).T
    sun = light.numbers().sun
    bounce = 0.9 * light.numbers().around  # no sky, so nothing
    for k, expected in enumerate((np.cos(np.pi / 4), 0.0, np.cos(np.pi / 4))):
        np.testing.assert_allclose(picture.light[line[k], column[k]], 0.9 * expected * sun + bounce, atol=0.02)
    unshaded = render(scene, camera, above, light=light, shadows=False)
    assert unshaded.light[line[1], column[1]].max() > 0.5


def test_leaves_glow_with_the_sun_behind_them():
    def seen(translucency: float) -> float:
        leaf = Material(name="leaf", reflectance=0.4, color=(0.1, 0.3, 0.05), translucency=translucency)
        scene = Scene("leaf")
        upright = Mesh.of([[5, -2, -2], [5, 2, -2], [5, 2, 2], [5, -2, 2]], [[0, 1, 2], [0, 2, 3]], (leaf,))
        scene.add(upright)
        light = Light(sun_azimuth_deg=0.0, sun_elevation_deg=20.0, sky=0.0, **CLEAR)  # straight ahead, behind the leaf
        return float(render(scene, Camera(width=16, height=16, lens=Pinhole(fx=40.0)), light=light).light[8, 8, 1])

    assert seen(0.0) == pytest.approx(0.0, abs=0.01)
    assert seen(0.6) > 0.1


def test_the_sky_is_above_and_blue():
    scene = Scene("empty")
    scene.add(box(), position=(-50.0, 0.0, 0.0))
    picture = render(scene, Camera(width=32, height=32), light=Light(**CLEAR))
    top, horizon = picture.light[0].mean(0), picture.light[15].mean(0)
    assert top[2] > 2 * top[0] and horizon.sum() > top.sum()
    night = render(scene, Camera(width=32, height=32), light=Light(sun_elevation_deg=-30.0, **CLEAR))
    assert night.light.mean() < 0.05 * picture.light.mean()


def textured_wall(texture: Texture, *, mirrored: bool = False) -> Scene:
    material = Material(name="poster", reflectance=0.5, texture=texture)
    corners = [[5, 2, -2], [5, -2, -2], [5, -2, 2], [5, 2, 2]]  # the left of the picture is y
    mesh = Mesh.of(corners, [[0, 1, 2], [0, 2, 3]], (material,), uv=[[0, 0], [1, 0], [1, 1], [0, 1]])
    scene = Scene("wall")
    scene.add(mesh, scale=(1.0, -1.0, 1.0) if mirrored else 1.0)
    return scene


@pytest.mark.parametrize("mirrored", [False, True])
def test_textures_are_the_right_way_round(mirrored):
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[0, 0], pixels[0, 1], pixels[1, 0], pixels[1, 1] = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
    scene = textured_wall(Texture(np.kron(pixels, np.ones((8, 8, 1), np.uint8))), mirrored=mirrored)
    light = Light(sun_azimuth_deg=180.0, sun_elevation_deg=30.0, **CLEAR)
    camera = Camera(width=64, height=64, lens=Pinhole(fx=75.0), samples=1)
    got = render(scene, camera, light=light).light
    corners = {"red": got[16, 16], "green": got[16, 48], "blue": got[48, 16], "white": got[48, 48]}
    if mirrored:
        corners = {"red": got[16, 48], "green": got[16, 16], "blue": got[48, 48], "white": got[48, 16]}
    for channel, name in enumerate(("red", "green", "blue")):
        assert corners[name][channel] > 0.3 and np.delete(corners[name], channel).max() < 0.01
    assert corners["white"].min() > 0.3


def test_a_mirror_shows_what_is_in_front_of_it_and_a_pane_what_is_behind():
    scene = Scene("mirror")
    shine = Material(name="mirror", reflectance=0.0, mirror=1.0, color=(0.0, 0.0, 0.0))
    scene.add(box((0.2, 6.0, 6.0), material=shine), position=(8.0, 0.0, 0.0))
    scene.add(box((1.0, 6.0, 6.0), material=RED), position=(-6.0, 0.0, 0.0))
    camera = Camera(width=16, height=16, lens=Pinhole(fx=40.0))
    light = Light(sun_azimuth_deg=0.0, sun_elevation_deg=50.0, **CLEAR)
    seen = render(scene, camera, Pose.at(0, 0, 0), light=light).light[8, 8]
    assert seen[0] > 3 * seen[1]
    pane = Material(name="pane", reflectance=0.0, transmission=1.0, color=(0.0, 0.0, 0.0))
    behind = Scene("window")
    behind.add(box((0.2, 6.0, 6.0), material=pane), position=(8.0, 0.0, 0.0))
    behind.add(box((1.0, 6.0, 6.0), material=RED), position=(16.0, 0.0, 0.0))
    seen = render(behind, camera, light=light).light[8, 8]
    assert seen[0] > 3 * seen[1]


def test_motion_blur_and_defocus():
    scene = Scene("post")
    path = Trajectory.through([0.0, 1.0], [Pose.at(10.0, 0.0), Pose.at(10.0, -20.0)])
    scene.add(box((1.0, 0.5, 20.0), material=WHITE), motion=path)
    sharp = Camera(width=64, height=8, lens=Pinhole(fx=64.0), samples=16)
    blurred = sharp.changed(shutter={"exposure_s": 0.1})
    light = Light(sun=1.0, sky=0.0, sun_azimuth_deg=180, **CLEAR)
    edge = [np.abs(np.diff(render(scene, c, light=light).light[4, :, 0])).max() for c in (sharp, blurred)]
    assert edge[1] < 0.6 * edge[0]
    soft = render(scene, sharp.changed(development={"blur_px": 2.0}), light=light).rgb[4].astype(int)
    hard = render(scene, sharp, light=light).rgb[4].astype(int)
    assert np.abs(np.diff(soft, axis=0)).max() < np.abs(np.diff(hard, axis=0)).max()


@pytest.mark.parametrize("light", [0.002, 0.18, 7.0])
def test_a_meter_makes_any_grey_middle_grey(light):
    """sRGB of 0.18 is 118; twice the light of a picture changes nothing, a stop on top of the meter does."""
    grey = np.full((20, 20, 3), light, np.float32)
    metered = Development(auto_exposure=True, exposure_ev=0.0)
    assert develop(grey, metered).mean() == pytest.approx(117.9, abs=0.6)
    assert develop(grey, Development(auto_exposure=True, exposure_ev=1.0)).mean() == pytest.approx(161.5, abs=0.8)
    half = grey.copy()
    half[:10] *= 0.25  # the middle of the logarithms of a quarter and one is a half
    assert develop(half, metered)[10:].mean() == pytest.approx(161.5, abs=0.8)
    assert (develop(np.zeros((4, 4, 3), np.float32), metered) <= 1).all()


def test_development():
    grey = np.full((200, 200, 3), 0.18, np.float32)
    plain = develop(grey, Development(exposure_ev=0.0))
    assert plain.mean() == pytest.approx(118, abs=1) and np.ptp(plain) <= 1  # sRGB of 18 % grey
    assert develop(grey, Development(exposure_ev=1.0)).mean() == pytest.approx(162, abs=1)
    noisy = develop(grey, Development(exposure_ev=0.0, read_noise=0.02), seed=3)
    assert noisy.std() > 3 and np.array_equal(noisy, develop(grey, Development(exposure_ev=0, read_noise=0.02), seed=3))
    bright = develop(np.full((4, 4, 3), 50.0, np.float32), Development())
    assert bright.min() >= 254


def test_points_are_drawn_where_they_project():
    camera = Camera(width=100, height=60, lens=Pinhole(fx=50.0))
    rgb = np.zeros((60, 100, 3), np.uint8)
    points = np.array([[10.0, 0.0, 0.0], [10.0, 5.0, 0.0], [-10.0, 0.0, 0.0], [10.0, 0.0, 3.0]])
    colors = np.array([[255, 0, 0], [0, 255, 0], [9, 9, 9], [0, 0, 255]], np.uint8)
    out = overlay_points(rgb, camera, Pose(), points, colors=colors, size=1)
    drawn = {tuple(out[r, c]): (c, r) for r, c in np.argwhere(out.any(2))}
    assert len(drawn) == 3 and drawn[0, 255, 0][0] == 24 and drawn[0, 0, 255][1] in (14, 15)
    ranges = np.full((60, 100), 5.0, np.float32)  # a wall in front of all of them
    assert not overlay_points(rgb, camera, Pose(), points, colors=colors, ranges=ranges).any()
    with pytest.raises(InputError, match="picture"):
        overlay_points(rgb[:10], camera, Pose(), points)


def test_images_for_people():
    view = look(parked_cars(), Camera(width=64, height=36), POSE)
    nothing = view.object_id == 0
    for image in (
        depth_rgb(view.range),
        label_rgb(view.label, LABELS, ~nothing),
        instance_rgb(view.instance),
        normal_rgb(view.normal),
    ):
        assert image.shape == (36, 64, 3) and image.dtype == np.uint8
        assert not image[nothing].any() and image[~nothing].any(1).all()
    assert len(np.unique(instance_rgb(view.instance).reshape(-1, 3), axis=0)) == len(np.unique(view.instance))
