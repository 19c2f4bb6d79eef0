"""Every lens there and back, and the distorted ones against OpenCV."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tussock.cameras.camera import Camera, load_camera
from tussock.cameras.lenses.equirectangular import Equirectangular
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.lenses.lens import OPTICAL
from tussock.cameras.lenses.orthographic import Orthographic
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.errors import InputError
from tussock.poses import Pose

LENSES = {
    "pinhole": Pinhole(horizontal_fov_deg=90),
    "intrinsics": Pinhole(fx=721.5, fy=719.0, cx=609.6, cy=172.9),
    "barrel": Pinhole(fx=800.0, k1=-0.28, k2=0.07, p1=0.0008, p2=-0.0004, k3=-0.008),
    "rational": Pinhole(fx=900.0, k1=0.4, k2=-0.2, p1=1e-3, p2=2e-3, k3=0.02, k4=0.7, k5=-0.15, k6=0.01),
    "fisheye": Fisheye(horizontal_fov_deg=180),
    "kannala-brandt": Fisheye(fx=330.0, k1=0.05, k2=-0.01, k3=0.004, k4=-0.001),
    "equirectangular": Equirectangular(),
    "panorama": Equirectangular(horizontal_fov_deg=200, vertical_fov_deg=60),
    "orthographic": Orthographic(width_m=40.0),
}


@pytest.mark.parametrize("name", LENSES)
def test_pixels_become_rays_and_pixels_again(name):
    camera = Camera(width=1242, height=376, lens=LENSES[name])
    pixels = np.random.default_rng(1).uniform([-0.5, -0.5], [1241.5, 375.5], (5000, 2))
    starts, directions = camera.rays(pixels)
    there = np.isfinite(directions).all(1)
    assert there.mean() > (0.5 if "fish" in name or name == "kannala-brandt" else 0.999)
    np.testing.assert_allclose(np.linalg.norm(directions[there], axis=1), 1.0, atol=1e-12)
    for distance in (0.3, 50.0):
        back = camera.project((starts + distance * directions)[there])
        assert np.abs(back - pixels[there]).max() < 1e-3


def opencv_points(points: np.ndarray) -> np.ndarray:
    """Points of the camera (x ahead, y left, z up) in the axes of OpenCV."""
    return (points @ OPTICAL).reshape(-1, 1, 3)


@pytest.mark.parametrize("name", ["intrinsics", "barrel", "rational"])
def test_brown_conrady_agrees_with_opencv(name):
    lens = LENSES[name]
    camera = Camera(width=1242, height=376, lens=lens)
    pixels = np.random.default_rng(2).uniform([0, 0], [1241, 375], (2000, 2))
    _, directions = camera.rays(pixels)
    points = directions * np.random.default_rng(3).uniform(0.5, 80, (2000, 1))
    none = np.zeros(3)
    theirs, _ = cv2.projectPoints(opencv_points(points), none, none, camera.matrix, np.array(lens.distortion))
    np.testing.assert_allclose(camera.project(points), theirs[:, 0], atol=1e-6)
    np.testing.assert_allclose(theirs[:, 0], pixels, atol=1e-3)


def test_fisheye_agrees_with_opencv():
    lens = LENSES["kannala-brandt"]
    camera = Camera(width=1242, height=376, lens=lens)
    pixels = np.random.default_rng(4).uniform([200, 0], [1000, 375], (2000, 2))
    _, directions = camera.rays(pixels)
    ahead = directions[:, 0] > 0.05  # OpenCV divides by z
    points = directions[ahead] * 7.0
    none = np.zeros((3, 1))
    coefficients = np.array([lens.k1, lens.k2, lens.k3, lens.k4])
    theirs, _ = cv2.fisheye.projectPoints(opencv_points(points), none, none, camera.matrix, coefficients)
    np.testing.assert_allclose(theirs[:, 0], pixels[ahead], atol=1e-3)


def test_axes_and_corners():
    camera = Camera(width=200, height=100, lens=Pinhole(horizontal_fov_deg=90))
    left_up = camera.project([[10.0, 1.0, 2.0]])[0]
    assert left_up[0] < 99.5 and left_up[1] < 49.5  # to the left and up in the image
    edge = camera.rays([[-0.5, 49.5]])[1][0]  # the left edge looks 45° to the left
    np.testing.assert_allclose(edge, [np.sqrt(0.5), np.sqrt(0.5), 0.0], atol=1e-12)
    assert np.isnan(camera.project([[-1.0, 0.0, 0.0]])).all()  # behind
    around = Camera(width=360, height=180, lens=Equirectangular())
    np.testing.assert_allclose(around.rays([[89.5, 89.5]])[1][0], [0, 1, 0], atol=1e-12)  # a quarter left: y
    above = Camera(width=100, height=100, lens=Orthographic(width_m=10.0))
    pose = Pose.at(3.0, 4.0, 50.0, pitch=np.pi / 2)  # looks down; the top of the image is x
    np.testing.assert_allclose(above.project([[3.0, 4.0, 0.0]], pose), [[49.5, 49.5]], atol=1e-9)
    np.testing.assert_allclose(above.project([[5.0, 4.0, 1.0]], pose), [[49.5, 29.5]], atol=1e-9)


def test_a_fisheye_sees_behind_itself_and_ends_at_its_circle():
    camera = Camera(width=800, height=800, lens=Fisheye(horizontal_fov_deg=220, circle_deg=200))
    pixel = camera.project([[-0.1, 1.0, 0.0]])
    assert np.isfinite(pixel).all() and pixel[0, 0] < 100
    assert np.isnan(camera.project([[-1.0, 1.0, 0.0]])).all()
    assert np.isnan(camera.rays([[0.0, 0.0]])[1]).all()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"width": 0, "height": 0}, ("width", "greater than or equal to 1", "0")),
        ({"lens": {"kind": "pinhole", "fx": 0.0}}, ("fx", "greater than 0")),
        ({"lens": {"kind": "pinhole", "fx": -500.0}}, ("fx", "greater than 0", "-500")),
        ({"lens": {"kind": "fisheye", "fx": -1.0}}, ("fx", "greater than 0")),
        ({"lens": {"kind": "pinhole", "horizontal_fov_deg": 180.0}}, ("horizontal_fov_deg", "less than 180")),
        ({"lens": {"kind": "pinhole"}}, ("fx", "horizontal_fov_deg")),
        ({"lens": {"kind": "pinhole", "fx": 300.0, "k1": -0.9}}, ("distortion", "folds")),
        ({"lens": {"kind": "orthographic", "width_m": 0.0}}, ("width_m", "greater than 0")),
        ({"shutter": {"kind": "rolling"}}, ("readout_s",)),
        ({"sampels": 3}, ("sampels", "samples")),
        ({"samples": 0}, ("samples", "greater than or equal to 1")),
    ],
)
def test_a_camera_that_cannot_be_is_refused_in_one_line(settings, words):
    with pytest.raises(InputError) as error:
        Camera.parse({"width": 640, "height": 480} | settings, "camera.toml")
    text = str(error.value)
    assert "\n" not in text and all(word in text for word in words)


def test_a_camera_file(tmp_path):
    path = tmp_path / "front.toml"
    path.write_text('width = 64\nheight = 48\n[lens]\nkind = "fisheye"\nhorizontal_fov_deg = 150\n')
    camera = load_camera(path)
    assert camera.name == "front" and isinstance(camera.lens, Fisheye)
    with pytest.raises(InputError, match="no such file"):
        load_camera(tmp_path / "none.toml")
