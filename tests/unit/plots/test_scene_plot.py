"""Pictures of scenes: in colour, and from a place where nothing is in the way."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tussock.errors import InputError
from tussock.plots.scene import ROOM, free_place, plot_scene
from tussock.poses import Pose
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.trace.world import World

VIEW = Pose.at(0.0, 0.0, 2.0, yaw=0.5)


def lawn(*, blocked: bool) -> World:
    scene = Scene("lawn")
    scene.add(plane((60.0, 60.0), material=SURFACES["grass"]), name="lawn")
    if blocked:
        scene.add(box((3.0, 3.0, 4.0)), name="crate", position=(1.0, 0.5, 2.0))
    return World(scene)


def test_a_free_place_stays() -> None:
    np.testing.assert_array_equal(free_place(lawn(blocked=False), VIEW).position, VIEW.position)


def test_out_of_the_way_of_a_crate() -> None:
    place = free_place(lawn(blocked=True), VIEW)
    moved = place.position - VIEW.position
    assert moved[2] == 0 and 1.0 <= np.linalg.norm(moved) <= 5.0
    np.testing.assert_array_equal(place.quaternion, VIEW.quaternion)
    # The crate is 3 m wide about (1, 0.5).
    away = place.position[:2] - np.clip(place.position[:2], [-0.5, -1.0], [2.5, 2.0])
    assert np.linalg.norm(away) >= ROOM - 1e-3


def test_the_picture_is_green_below_and_blue_above(tmp_path) -> None:
    plot_scene(lawn(blocked=False), tmp_path / "lawn.jpg", VIEW, size=(64, 48))
    with Image.open(tmp_path / "lawn.jpg") as image:
        pixels = np.asarray(image).astype(float)
    above, below = pixels[:8].mean((0, 1)), pixels[-8:].mean((0, 1))
    assert pixels.shape == (48, 64, 3)
    assert above[2] > above[0] and below[1] > max(below[0], below[2])


def test_only_pictures(tmp_path) -> None:
    with pytest.raises(InputError, match=r"must be one of \.png, \.jpg"):
        plot_scene(lawn(blocked=False), tmp_path / "lawn.gif", VIEW)
