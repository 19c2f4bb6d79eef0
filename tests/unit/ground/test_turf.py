"""Turf: a picture without seams on the ground, which no pulse notices."""

from __future__ import annotations

import numpy as np
import pytest

import tussock
from tussock.ground.turf import TURF, covered, litter_picture, turf_picture, turfed
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import ground
from tussock.scene.surfaces import SURFACES
from tussock.scenes.forest_trail import _field, _floor, trail_line


def test_the_picture_repeats_without_a_seam_and_has_the_colour_of_its_material():
    pixels = turf_picture(3).pixels
    np.testing.assert_array_equal(pixels, turf_picture(3).pixels)
    assert not np.array_equal(pixels, turf_picture(4).pixels)
    assert (pixels[..., 3] == 255).all()
    rgb = pixels[..., :3].astype(float)
    for axis in (0, 1):
        steps = np.abs(rgb - np.roll(rgb, 1, axis)).mean((1 - axis, 2))  # from each line to the next, around the edge
        assert steps[0] < 1.15 * np.median(steps)
    linear = np.where(rgb / 255 <= 0.04045, rgb / 255 / 12.92, ((rgb / 255 + 0.055) / 1.055) ** 2.4)
    np.testing.assert_allclose(linear.mean((0, 1)), TURF.color, rtol=0.1)


def test_to_a_lidar_it_is_soil():
    hills = ground((20, 20), cells=(10, 10), heights=lambda x, y: 0.1 * np.sin(x), material=SURFACES["soil"])
    frames = []
    for mesh in (hills, turfed(hills)):
        scene = tussock.Scene("field")
        scene.add(mesh, name="ground", label="terrain")
        frames.append(tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1), seed=2))
    assert len(frames[0]) > 5000
    np.testing.assert_array_equal(frames[0].xyz, frames[1].xyz)
    np.testing.assert_array_equal(frames[0].intensity, frames[1].intensity)


def test_litter_and_gravel_have_their_colours_and_no_seam():
    for share, name in ((1.0, "litter"), (0.0, "gravel")):
        rgb = litter_picture(share).pixels[..., :3] / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        np.testing.assert_allclose(linear.mean((0, 1)), SURFACES[name].color, rtol=0.2)
        for axis in (0, 1):
            steps = np.abs(rgb - np.roll(rgb, 1, axis)).mean((1 - axis, 2))
            assert steps[0] < 1.15 * np.median(steps)


def test_only_what_has_a_picture_gets_one():
    flat = ground((4, 4), cells=(2, 2), material=SURFACES["asphalt"])
    assert covered(flat) is flat
    soil = ground((4, 4), cells=(2, 2), material=SURFACES["soil"])
    once = covered(soil)
    assert covered(once) is once
    far = Mesh.of(soil.vertices + np.array([2.4 * 200_000, 2.4 * 1_500_000, 0]), soil.triangles, soil.materials)
    np.testing.assert_allclose(covered(far).uv % 1, once.uv % 1, atol=1e-6)
    trail = _floor(_field(30, 0), trail_line(30), 0)
    assert {m.name for m in trail.materials if m.texture} == {"litter", "littered-gravel", "edge-of-trail", "trail"}
    assert len({m.texture for m in trail.materials}) == 4
    assert next(m.reflectance for m in trail.materials) == SURFACES["litter"].reflectance


def test_terrain_of_a_scene_file_is_covered_where_asked(tmp_path):
    text = "[[objects]]\n[objects.terrain]\nsize_m = [10, 10]\nnoise = {height_m = 1}\nmaterial = 'litter'\n"
    for more, shown in (("", False), ("covered = true\n", True)):
        (tmp_path / "a.toml").write_text(text + more)
        (material,) = tussock.load_scene(tmp_path / "a.toml").objects[0].mesh.materials
        assert (material.texture is not None) == shown


@pytest.mark.parametrize("name", ["meadow", "pasture", "yard"])
def test_grassland_is_turfed(name):
    scene = tussock.ready_scene(name)
    mesh = scene["terrain" if name == "meadow" else "ground"].mesh
    assert mesh.materials[0].name == "turf" and mesh.materials[0].texture is not None
    np.testing.assert_allclose(np.ptp(mesh.uv, axis=0) * 2.4, np.ptp(mesh.vertices[:, :2], axis=0), rtol=1e-5)
