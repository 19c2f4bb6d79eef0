"""Cameras see learned volumes by the law of pulses: shares that shine through, shadows, labels, the same bytes by seed."""

from __future__ import annotations

import numpy as np
import pytest

import tussock
from tussock.cameras.shading.veil import leaf_cosine
from tussock.scene.volumes import WHOLE, Volumes


def slab(passes: float, *, label: int = 0, color: tuple[int, int, int] | None = None, flat: bool = False) -> Volumes:
    """One voxel of 8 m that every ray passes with the same probability, whatever its way through."""
    spread = (
        np.array([[400.0, 0, 0, 0.01, 0, 0.01]], np.float32) if flat else np.array([[1.0, 0, 0, 1, 0, 1]], np.float32)
    )
    return Volumes(
        np.full((1, 3), 4.0, np.float32), spread, np.array([passes], np.float32),
        np.full((1, 1), round(passes * WHOLE), np.uint16), np.zeros(1, np.uint16), np.ones(1, np.uint32),
        np.array([0.3], np.float32), 8.0, np.array([np.inf], np.float32),
        labels=np.full(1, label, np.uint16) if label else np.zeros(0, np.uint16),
        colors=np.zeros((0, 4), np.uint8) if color is None else np.array([[*color, 255]], np.uint8),
    )  # fmt: skip


CAMERA = tussock.Camera(width=96, height=64, samples=4, lens=tussock.Pinhole(horizontal_fov_deg=30))
PIXELS = 96 * 64
AHEAD = tussock.Placements.of([[6, -4, -4]])


@pytest.mark.parametrize("passes", [0.0, 0.3, 0.85])
def test_as_many_pixels_end_in_a_volume_as_pulses_would(passes: float) -> None:
    scene = tussock.Scene("slab")
    scene.add_volumes(slab(passes, label=104), placements=AHEAD)
    wall = scene.add(tussock.box((1, 60, 60)), name="wall", label="wall", position=(30, 0, 0))
    view = tussock.look(scene, CAMERA, seed=7)
    shares = {label: float((view.label == label).mean()) for label in (104, 111)}
    sigma = np.sqrt(max(passes * (1 - passes), 1e-9) / PIXELS)
    assert abs(shares[104] - (1 - passes)) <= 4.5 * sigma
    assert sum(shares.values()) == 1
    assert (view.range[view.label == 104] < 14.5).all()
    assert (view.object_id[view.label == 111] == wall.id).all()
    np.testing.assert_array_equal(view.range, tussock.look(scene, CAMERA, seed=7, threads=2).range)
    if passes == 0.3:
        assert (view.range != tussock.look(scene, CAMERA, seed=8).range).any()


def test_two_volumes_one_behind_the_other_let_the_product_through() -> None:
    scene = tussock.Scene("two")
    for x in (6, 20):
        scene.add_volumes(slab(0.5), placements=tussock.Placements.of([[x, -4, -4]]))
    narrow = CAMERA.changed(lens={"kind": "pinhole", "horizontal_fov_deg": 15})
    view = tussock.look(scene, narrow, seed=1, depth_only=True)
    free = float(np.isinf(view.range).mean())
    assert abs(free - 0.25) <= 4.5 * np.sqrt(0.25 * 0.75 / PIXELS)


def test_a_picture_is_the_mean_of_volume_and_background_by_the_share_that_passes() -> None:
    light = tussock.Light(clouds=0, visibility_m=1e6)

    def mean(passes: float) -> np.ndarray:
        scene = tussock.Scene("slab")
        scene.add_volumes(slab(passes, color=(200, 40, 40)), placements=AHEAD)
        scene.add(tussock.box((1, 60, 60)), name="wall", position=(60, 0, 0))
        return tussock.render(scene, CAMERA, light=light, seed=2, shadows=False).light.mean((0, 1))

    opaque, clear, half = mean(0.0), mean(1.0), mean(0.6)
    expected = 0.4 * opaque + 0.6 * clear
    assert opaque[0] > 3 * opaque[2], "it has its own colour"
    np.testing.assert_allclose(half, expected, rtol=0.02)


def test_a_volume_throws_as_much_shadow_as_it_stops() -> None:
    light = tussock.Light(sun_elevation_deg=89, clouds=0, visibility_m=1e6)
    down = tussock.Pose.at(0, 0, 3, pitch=np.pi / 2)

    def ground(passes: float | None) -> float:
        scene = tussock.Scene("ground")
        scene.add(tussock.plane((40, 40)), name="ground")
        if passes is not None:
            scene.add_volumes(slab(passes), placements=tussock.Placements.of([[-4, -4, 9]]))
        return float(tussock.render(scene, CAMERA, down, light=light, seed=3).light.mean())

    sunny, dark, half = ground(None), ground(0.0), ground(0.5)
    assert dark < 0.5 * sunny
    assert half == pytest.approx((sunny + dark) / 2, rel=0.02)
    assert ground(1.0) == pytest.approx(sunny, rel=1e-6)


def test_a_flat_volume_is_shaded_as_the_surface_that_it_is() -> None:
    """Its returns lie in the plane x = const: with the sun behind the camera it is as bright as a wall of its colour."""
    light = tussock.Light(sun_azimuth_deg=180, sun_elevation_deg=20, clouds=0, visibility_m=1e6)

    def mean(scene: tussock.Scene) -> np.ndarray:
        return tussock.render(scene, CAMERA, light=light, seed=4).light.mean((0, 1))

    flat, wall = tussock.Scene("flat"), tussock.Scene("wall")
    flat.add_volumes(slab(0.0, color=(188, 188, 188), flat=True), placements=AHEAD)
    grey = tussock.Material(name="grey", color=(0.503, 0.503, 0.503))
    wall.add(tussock.box((8, 30, 30), material=grey), name="wall", position=(14, 0, 0))
    np.testing.assert_allclose(mean(flat), mean(wall), rtol=0.03)
    turned = tussock.Scene("turned")
    spot = tussock.Placements.of([[14, -4, -4]], yaw=[np.pi / 2])
    turned.add_volumes(slab(0.0, color=(188, 188, 188), flat=True), placements=spot)
    assert (mean(turned) < 0.6 * mean(flat)).all(), "turned by 90 degrees the sun only grazes it"


def test_leaves_that_face_all_ways_send_light_back_as_ross_says() -> None:
    """Closed forms: 2/3 straight back, 2/3 of what they let through straight on, a quarter in the mean over the sphere."""
    assert leaf_cosine(np.float32(-1.0)) == pytest.approx(2 / 3, rel=1e-5)
    assert leaf_cosine(np.float32(1.0)) == pytest.approx(0.5 * 2 / 3, rel=1e-5)
    cosines = (np.arange(2000) + 0.5) / 1000 - 1
    assert np.mean([leaf_cosine(c) for c in cosines]) == pytest.approx(1.5 / 4, rel=1e-4)


def test_the_same_seed_gives_the_same_picture_on_any_number_of_threads() -> None:
    scene = tussock.Scene("slab")
    scene.add_volumes(slab(0.4), placements=AHEAD)
    one, two = (tussock.render(scene, CAMERA, seed=5, threads=threads).rgb for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    assert (one != tussock.render(scene, CAMERA, seed=6).rgb).any()
