"""Adaptive sub-rays: the same as all of them, where that can be said exactly; refused where it cannot be had."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tussock
from tussock.frames.frame import Frame
from tussock.pulse.adaptive import off_plane, stand_for
from tussock.sensors.beam import Beam

POSE = tussock.Pose.at(0, 0, 1)
PROBES = 8


def sensor(adaptive: bool, **changes: object) -> tussock.Sensor:
    """A grid of pulses 6 mrad wide without noise of its own."""
    pattern = {
        "kind": "grid", "frame_hz": 10.0,
        "azimuth_deg": {"first": 4.0, "last": -4.0, "count": 40}, "elevation_deg": {"first": 4.0, "last": -4.0, "count": 20},
    }  # fmt: skip
    beam = {
        "rays": 40, "sampling": "sequence", "divergence_horizontal_mrad": 6.0, "divergence_vertical_mrad": 6.0,
        "profile": "gaussian", "adaptive": adaptive,
    }  # fmt: skip
    return tussock.Sensor(name="grid", pattern=pattern, beam=beam, receiver={"mode": "all"}).with_(**changes)


def both(scene: tussock.Scene, **changes: object) -> tuple[Frame, Frame]:
    world = tussock.World(scene)
    few, all_of_them = (tussock.scan(world, sensor(adaptive, **changes), POSE, seed=3) for adaptive in (True, False))
    return few, all_of_them


def walls(angle_deg: float = 0.0) -> tussock.Scene:
    scene = tussock.Scene("wall")
    scene.add(tussock.box((1, 60, 60)), name="wall", position=(10, 0, 0), yaw=float(np.deg2rad(angle_deg)))
    return scene


def slats(width: float, every: float) -> tussock.Scene:
    """Upright slats before a wall."""
    scene = tussock.Scene("slats")
    scene.add(tussock.box((1, 60, 60)), name="wall", position=(14, 0, 0))
    for number, y in enumerate(np.arange(-1.5, 1.5, every)):
        scene.add(tussock.box((0.01, width, 8.0)), name=f"slat {number}", position=(8, float(y), 0))
    return scene


def tiles() -> tussock.Scene:
    """Copies of a small box, closer than eight sub-rays, near and far by turns: no spot meets one of them alone."""
    scene, side = tussock.Scene("tiles"), np.arange(-80, 80)
    y, z = (axis.ravel() for axis in np.meshgrid(side, side))
    places = np.stack([10.0 + 1.5 * ((y + z) % 2), 0.01 * y, 1.0 + 0.01 * z], 1)
    scene.add(tussock.box((0.01, 0.01, 0.01)), name="tiles", placements=tussock.Placements.of(places))
    return scene


@given(
    st.tuples(*[st.floats(-0.9, 0.9)] * 2), st.floats(0.5, 200.0), st.integers(4, PROBES), st.floats(0.0, 30.0),
    st.floats(0.1, 30.0),
)  # fmt: skip
def test_no_plane_is_off_a_plane(
    slope: tuple[float, float], depth: float, probes: int, wide_mrad: float, high_mrad: float
) -> None:
    beam = Beam(rays=16, sampling="sequence", divergence_horizontal_mrad=wide_mrad, divergence_vertical_mrad=high_mrad)
    places = beam.stencil().astype(float)[:probes]
    stencil = np.concatenate([np.ones((probes, 1)), places], 1)
    stencil /= np.linalg.norm(stencil, axis=1, keepdims=True)
    inverse = (1 + places @ np.array(slope)) / depth  # 1/z of the plane z·(1 + slope·place) = depth
    left = off_plane(stencil.astype(np.float32)) @ inverse
    assert np.abs(left / inverse**2).max() < 1e-5 * depth
    # half of the spot a metre nearer is off every plane, unless four rays are too few to say so
    stepped = 1 / (1 / inverse - np.where(np.arange(probes) % 2, 0.3, 0.0))
    if probes == PROBES and wide_mrad > 0.1 and depth > 2:
        assert np.abs(off_plane(stencil.astype(np.float32)) @ stepped / inverse**2).max() > 0.02


@pytest.mark.parametrize("profile", ["flat", "gaussian"])
@pytest.mark.parametrize(("wide", "high"), [(3.0, 1.5), (0.0, 8.0)])
def test_probes_stand_for_all_of_them(profile: str, wide: float, high: float) -> None:
    """The same weight, and the same place on average."""
    beam = Beam(
        rays=48, sampling="sequence", profile=profile, divergence_horizontal_mrad=wide, divergence_vertical_mrad=high
    )
    places, weights = beam.stencil(), beam.weights()
    shares = np.concatenate([np.ones((48, 1)), places], 1).astype(np.float32)
    few = stand_for(shares, weights, PROBES) * weights[:PROBES]
    assert few.min() > 0 and few.sum() == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(few @ places[:PROBES], weights @ places, atol=1e-6 * max(wide, high))


@pytest.mark.parametrize("angle", [0.0, 50.0])
def test_one_wall_is_the_same(angle: float) -> None:
    few, all_of_them = both(walls(angle))
    assert len(few) == len(all_of_them) == 800
    np.testing.assert_allclose(few.range, all_of_them.range, atol=2e-3)
    np.testing.assert_allclose(few.intensity, all_of_them.intensity, rtol=2e-3)
    assert not few.identical(all_of_them), "eight sub-rays stood for forty"


def test_where_every_spot_is_torn_all_sub_rays_are_traced() -> None:
    few, all_of_them = both(tiles())
    np.testing.assert_array_equal(few.pulse, all_of_them.pulse)
    np.testing.assert_allclose(few.range, all_of_them.range, rtol=1e-6)
    np.testing.assert_allclose(few.intensity, all_of_them.intensity, rtol=1e-5)
    assert len(few) > 1.5 * 800, "both distances in most pulses"


def test_blocks_and_threads() -> None:
    world = tussock.World(slats(0.05, 0.2))  # some spots are torn, some are not
    kept = tussock.scan(world, sensor(True), POSE, seed=3, threads=1)
    assert not kept.identical(tussock.scan(world, sensor(False), POSE, seed=3))
    for threads, block in ((2, 16), (3, 48), (2, 1024)):
        assert tussock.scan(world, sensor(True), POSE, seed=3, threads=threads, block=block).identical(kept)


def test_torn_spots_among_others_have_the_energies_of_all_sub_rays() -> None:
    few, all_of_them = both(slats(0.05, 0.2))
    twice = {len(frame.pulse) - len(np.unique(frame.pulse)) for frame in (few, all_of_them)}
    assert max(twice) > 100 and max(twice) - min(twice) < 0.05 * max(twice)
    assert few.intensity.sum() == pytest.approx(all_of_them.intensity.sum(), rel=5e-3)


def test_the_open_sky() -> None:
    scene = tussock.Scene("crate far below")
    scene.add(tussock.box((1, 1, 1)), name="crate", position=(0, 0, -50))
    few, all_of_them = both(scene)
    assert len(few) == len(all_of_them) == 0


def test_where_light_goes_on_all_sub_rays_are_traced() -> None:
    scene = walls()
    scene.replace_material(
        scene.objects[0].mesh.materials[0].name, scene.objects[0].mesh.materials[0].changed(mirror=0.5)
    )
    few, all_of_them = both(scene)
    assert few.identical(all_of_them)


def test_fewer_than_sixteen_are_all_traced() -> None:
    few, all_of_them = both(walls(), **{"beam.rays": 15})
    assert few.identical(all_of_them)


def test_in_words() -> None:
    assert "8 to 40 rays a pulse" in str(sensor(True)) and "40 rays a pulse" in str(sensor(False))
