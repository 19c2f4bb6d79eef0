"""Depth of planes and spheres in closed form, and LIDAR points in the depth image of a camera."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import maximum_filter, minimum_filter

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.equirectangular import Equirectangular
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.lenses.orthographic import Orthographic
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look
from tussock.poses import Pose
from tussock.scene.primitives import box, plane, sphere
from tussock.scene.scene import Scene
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World

LENSES = [
    Pinhole(horizontal_fov_deg=75),
    Pinhole(horizontal_fov_deg=75, k1=-0.1, p1=0.001),
    Fisheye(horizontal_fov_deg=160),
    Equirectangular(),
    Orthographic(width_m=1.5),
]


def world_rays(camera: Camera, pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    v, u = np.mgrid[0 : camera.height, 0 : camera.width]
    starts, directions = camera.rays(np.stack([u.ravel(), v.ravel()], 1))
    return pose.apply(starts), directions @ pose.rotation.T


@pytest.mark.parametrize("lens", LENSES, ids=lambda lens: lens.kind)
def test_depth_of_a_plane(lens):
    camera = Camera(width=160, height=120, lens=lens)
    pose = Pose.at(0.4, -0.2, 2.5, roll=0.1, pitch=0.6, yaw=0.3)
    scene = Scene("plane")
    scene.add(plane((200.0, 200.0)))
    view = look(scene, camera, pose)
    starts, directions = world_rays(camera, pose)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = (-starts[:, 2] / directions[:, 2]).reshape(120, 160)
    reach = (starts + expected.reshape(-1, 1) * directions).reshape(120, 160, 3)
    sees = (expected > 0) & (np.abs(reach[..., :2]).max(-1) < 99.0) & (expected < 60)
    assert sees.sum() > 3000
    np.testing.assert_allclose(view.range[sees], expected[sees], atol=1e-4)
    ahead = directions.reshape(120, 160, 3) @ pose.rotation[:, 0]
    np.testing.assert_allclose(view.depth[sees], (expected * ahead)[sees], atol=1e-4)
    assert np.isinf(view.range[directions[:, 2].reshape(120, 160) > 0]).all()
    np.testing.assert_allclose(view.normal[sees], np.broadcast_to([0, 0, 1], (sees.sum(), 3)), atol=1e-6)


@pytest.mark.parametrize("lens", LENSES, ids=lambda lens: lens.kind)
def test_depth_of_a_sphere(lens):
    camera = Camera(width=160, height=120, lens=lens)
    pose = Pose.at(-2.0, 0.0, 1.0)
    centre, radius = np.array([0.0, 0.1, 1.05]), 0.5
    scene = Scene("ball")
    scene.add(sphere(radius, subdivisions=7), position=centre)
    view = look(scene, camera, pose)
    starts, directions = world_rays(camera, pose)
    away = starts - centre
    along = (away * directions).sum(1)
    root = along**2 - (away**2).sum(1) + radius**2
    # Where rays graze the sphere a facet of any size is off by more.
    hit = (root > (0.35 * radius) ** 2) & (along < 0)
    expected = -along[hit] - np.sqrt(root[hit])
    got = view.range.ravel()[hit]
    assert hit.sum() > 100
    np.testing.assert_allclose(got, expected, atol=1e-4)
    assert np.isinf(view.range.ravel()[(root < -0.01) | (along > 0)]).all()


@pytest.mark.parametrize("name", ["yard", "street"])
def test_lidar_points_lie_on_the_depth_image(name):
    """Projected into a camera at the same place, true points agree to 1 cm wherever both see the same surface."""
    if name == "street":
        scene = Scene("street")
        scene.add(plane((80.0, 80.0)), name="road", label="road")
        for k, at in enumerate([(8, 2), (12, -3), (20, 6), (30, -8)]):
            scene.add(box((4, 1.8, 1.5)), name=f"car{k}", label="car", position=(*at, 0.75), yaw=0.3 * k)
    else:
        scene = ready_scene("yard")
    world = World(scene)
    pose = Pose.at(0.0, 0.0, 2.0, pitch=0.05)
    frame = scan(world, load_sensor("vlp-32c").with_(**{"beam.rays": 1, "noise.stated_at": None}), pose)
    camera = Camera(width=1600, height=900, lens=Pinhole(horizontal_fov_deg=90))
    view = look(world, camera, pose)
    points = frame.world_xyz(true=True)
    pixels = camera.project(points, pose)
    inside = camera.inside(pixels)
    column, line = np.rint(pixels[inside]).astype(int).T
    # The pixel's ray passes up to half a pixel beside the point: on a slope the plane through the pixel says how deep
    # the surface is at the point itself.
    depth, normal = view.range[line, column].astype(float), view.normal[line, column].astype(float)
    _, rays = camera.rays(np.stack([column, line], 1))
    place = pose.position + depth[:, None] * (rays @ pose.rotation.T)
    towards = points[inside] - pose.position
    measured = np.linalg.norm(towards, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = ((place - pose.position) * normal).sum(1) / ((towards / measured[:, None]) * normal).sum(1)
    same = (view.object_id[line, column] == frame.object_id[inside]) & np.isfinite(depth)
    with np.errstate(invalid="ignore"):
        spread = maximum_filter(view.range, 3) - minimum_filter(view.range, 3)
        smooth = (maximum_filter(view.instance, 3) == minimum_filter(view.instance, 3)) & (spread < 0.05 * view.range)
    away = same & smooth[line, column]
    assert away.sum() > (300 if name == "yard" else 2000)
    assert (np.abs(expected - measured)[away] < 0.01).mean() >= 0.99
