"""Where the wind takes a plant, and how fast: the formulas alone, in plain NumPy, beside the kernels.

Whether the formulas are those of beams and oscillators is asked in tests/physics/test_wind.py.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.stems import Stem
from tussock.scene.wind import Wind
from tussock.trace.triangles import Corners
from tussock.trace.wind.in_wind import in_wind
from tussock.trace.wind.sway import KNOWN, MOST_GUST, Swaying, Tip, bent, straight, sway_rates, swayed, tip_at
from tussock.trace.wind.tips import fill_tips
from tussock.trace.world import World

SPAN = (40.0, 40.1)


def thicket() -> World:
    """Posts of several sizes, turned and sloping, in a wind that bends them far."""
    rng = np.random.default_rng(2)
    matrices = Placements.of(
        rng.uniform(-6, 6, (5, 3)), yaw=rng.uniform(0, 6, 5), scale=rng.uniform(0.6, 1.8, 5)
    ).matrices.copy()  # fmt: skip
    matrices[:, 2, :2] += rng.uniform(-0.3, 0.3, (5, 2))
    scene = Scene("posts")
    scene.add(box((0.2, 0.2, 0.1)), name="stone", position=(20.0, 0.0, 0.0))
    scene.add(box((0.3, 0.2, 2.0)), name="post", label="grass", placements=Placements(matrices))
    stem = Stem(frequency_hz=1.1, mass_kg_m=0.01, drag_width_m=0.02, damping=0.15)
    scene.wind = Wind(speed_m_s=8.0, from_deg=250.0, gusts=0.7, seed=4, stems={"post": stem})
    return World(scene)


@pytest.mark.parametrize(("height", "sways"), [(0.05, True), (0.9, True), (3.0, True), (0.0, False)])
def test_low_plants_sway_and_flat_ones_do_not(height: float, sways: bool) -> None:
    scene = Scene("low")
    scene.add(box((0.1, 0.1, height)) if height else plane((0.3, 0.3)), name="tuft", label="grass", position=(2, 0, 0))
    scene.wind = Wind(speed_m_s=4.0)
    first = World(scene).moving(0.0, 0.1).tables.sway.first
    assert (first >= 0).any() == sways


def plain_tip(sway: Swaying, geometry: int, copy: int, time: float) -> NDArray[np.float64]:
    """x, y and the share of the height that is left."""
    shape, plant = sway.shapes[geometry], sway.plants[sway.first[geometry] + copy].astype(float)
    _, _, damping, _, _, most = shape[:6]
    gains, lags = shape[7::2], shape[8::2]
    x, y, lean, f, own, across, p1, p2, p3, ax, ay, bx, by, tall, laid = plant
    kx, ky, frequency, phase = sway.waves.reshape(-1, 4).T
    gust = (gains * np.cos(2 * np.pi * (kx * x + ky * y - frequency * time + phase + lags))).sum()
    beat = np.cos(2 * np.pi * (f * (1 - damping) * time + p1)) + np.cos(2 * np.pi * (f * (1 + damping) * time + p2))
    tip = np.array([lean * (1 + np.clip(gust, -most, most)) + own * beat, across * np.cos(2 * np.pi * (f * time + p3))])
    tip /= np.sqrt(1 + (tip @ tip) / (0.6 * tall) ** 2)
    return laid * np.array([tip @ [ax, bx], tip @ [ay, by], 1 - 4 / 7 * (tip @ tip) / tall**2])


def plain_bent(shape: NDArray, tip: NDArray, points: NDArray) -> NDArray[np.float64]:
    up = points[:, 2] - shape[0]
    share = np.clip(up / shape[1], 0, 1)
    way = share**2 * (6 - 4 * share + share**2) / 3
    z = shape[0] + np.where(up > 0, up * tip[2], up)
    return np.stack([points[:, 0] + way * tip[0], points[:, 1] + way * tip[1], z], 1)


@pytest.fixture(scope="module")
def world() -> World:
    return thicket()


@pytest.fixture(scope="module")
def sway(world: World) -> Swaying:
    return world.moving(*SPAN).tables.sway


def of_post(sway: Swaying) -> int:
    (number,) = np.flatnonzero(sway.first >= 0)
    return int(number)


def test_tips_are_where_the_formula_has_them(sway: Swaying) -> None:
    post = of_post(sway)
    moved = []
    for copy in range(5):
        for time in (0.0, 0.37, 12.3, SPAN[0]):
            plant = sway.plants[sway.first[post] + copy]
            tip = tip_at(sway.shapes[post], plant, sway.waves, time)
            assert tuple(tip) == pytest.approx(plain_tip(sway, post, copy, time), abs=2e-5)
            moved.append(np.hypot(tip.x, tip.y))
    assert max(moved) > 0.4
    assert np.std(moved) > 0.05


def test_tips_at_steps_are_those_of_their_moments(sway: Swaying) -> None:
    post = of_post(sway)
    tips = np.full((5, 6, 3), np.nan, np.float32)
    for worker in range(2):
        fill_tips(worker, 2, sway, tips)
    for copy in range(5):
        for k, time in enumerate(np.linspace(*SPAN, 6)):
            np.testing.assert_allclose(tips[copy, k], plain_tip(sway, post, copy, time), atol=2e-5)
    np.testing.assert_array_equal(sway.tips[:, [0, -1]], tips[:, [0, -1]])


def test_bending_is_undone(sway: Swaying) -> None:
    shape, rng = sway.shapes[of_post(sway)], np.random.default_rng(1)
    points = rng.uniform([-1, -1, -1.3], [1, 1, 1.2], (12, 3))
    tip = Tip(0.3, -0.2, 0.9)
    wanted = plain_bent(shape, np.array(tip), points)
    for point, there in zip(points, wanted, strict=True):
        assert bent(shape, tip, *point) == pytest.approx(there, abs=1e-9)
        assert straight(shape, tip, *there) == pytest.approx(point, abs=1e-9)


@pytest.mark.parametrize("leaf", [0, 1])
def test_a_triangle_is_bent_at_the_rays_own_time(sway: Swaying, leaf: int) -> None:
    post, known = of_post(sway), np.full(KNOWN, -1.0)
    sway = sway._replace(leaves=np.full_like(sway.leaves, leaf))
    shape, corners = sway.shapes[post], np.array([[0.1, 0.0, -0.3], [0.0, 0.2, 0.4], [-0.1, 0.1, 0.9]])
    for copy, ray_time in [(0, 0.0), (3, 0.4), (3, 0.4), (3, 1.0), (0, 0.4), (0, 0.4)]:  # some asked again
        time = SPAN[0] + ray_time * (SPAN[1] - SPAN[0])
        got = swayed(sway, post, copy, ray_time, Corners(*corners.ravel()), 0, known)
        wanted = plain_bent(shape, plain_tip(sway, post, copy, time), corners)
        plant = sway.plants[sway.first[post] + copy].astype(float)
        turns = shape[4] * time + plant[8] + (corners @ [1.0, 1.3, 0.7]) / 0.12
        off = leaf * shape[3] * np.cos(2 * np.pi * turns)
        wanted[:, :2] += off[:, None] * plant[9:11]
        np.testing.assert_allclose(np.array(got).reshape(3, 3), wanted, atol=2e-5)
    assert shape[3] > 0.003


def test_points_move_as_fast_as_their_places_change(world: World, sway: Swaying) -> None:
    """Along any direction, at their place of the moment, in the tracer's coordinates."""
    post, rng, step = of_post(sway), np.random.default_rng(5), 1e-3
    matrices = world.geometries[post].placements.matrices
    # A copy stands about the middle of its shape.
    middle = world.geometries[post].mesh.bounds.mean(0)
    rows, points, towards, rates = [], [], [], []
    for copy in range(5):
        time, at = 3.0 + 1.7 * copy, rng.uniform([-0.15, -0.1, -0.9], [0.15, 0.1, 0.95])
        way = rng.normal(size=3)
        before, now, after = (
            plain_bent(sway.shapes[post], plain_tip(sway, post, copy, time + d), at[None])[0]
            for d in (-step, 0.0, step)
        )
        matrix = matrices[copy]
        rows.append([post, copy, time])
        points.append(matrix[:, :3] @ (now + middle) + matrix[:, 3] - world.origin)
        towards.append(way)
        rates.append(way @ matrix[:, :3] @ (after - before) / (2 * step))
    out = np.empty(5)
    sway_rates(sway, world.moving(*SPAN).tables.placed, np.array(rows), np.array(points), np.array(towards), out)
    np.testing.assert_allclose(out, rates, rtol=2e-3, atol=2e-4)
    assert np.abs(out).max() > 0.3


def test_the_box_of_a_copy_is_that_of_all_that_its_tip_can_do() -> None:
    """Gusts of 2.5 standard deviations and the sway that goes with them, both ways; no further than 0.6 of the height."""
    scene = Scene("posts")
    scene.add(box((0.2, 0.2, 0.1)), name="stone", position=(20.0, 0.0, 0.0))
    places = Placements.of([[0.0, 0, 0], [3.0, 1, 0]], yaw=np.array([0.0, 2.0]), scale=np.array([1.0, 1.5]))
    scene.add(box((0.3, 0.2, 2.0)), name="post", label="grass", placements=places)
    stem = Stem(frequency_hz=1.1, mass_kg_m=0.01, drag_width_m=0.02, damping=0.15)
    scene.wind = Wind(speed_m_s=4.0, from_deg=270.0, gusts=0.3, seed=4, stems={"post": stem})
    (found,) = in_wind(scene.wind, list(scene.objects), np.zeros(3))
    shape, plants, bounds = found.copies.shape, found.copies.plants.astype(float), found.copies.bounds
    assert scene.wind.towards == pytest.approx((1.0, 0.0), abs=1e-9)
    for k, (size, yaw) in enumerate(((1.0, 0.0), (1.5, 2.0))):
        lean, own, across, tall = (float(plants[k, column]) for column in (2, 4, 5, 13))
        most = shape[MOST_GUST]
        reach = np.array([min(lean * (1 - most) - 2 * own, 0.0), lean * (1 + most) + 2 * own])
        along = reach / np.sqrt(1 + (reach / (0.6 * tall)) ** 2)
        over = min(across, 0.6 * tall)
        # In the shape's coordinates the wind goes along (cos yaw, −sin yaw) / size.
        ways = np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]) / size
        low, high = np.array([-0.15, -0.1, -1.0]), np.array([0.15, 0.1, 1.0])
        for a in range(2):
            ends = along * ways[0, a]
            low[a] += ends.min() - over * abs(ways[1, a])
            high[a] += ends.max() + over * abs(ways[1, a])
        turn = places.matrices[k, :, :3]
        middle, half = turn @ ((low + high) / 2) + places.matrices[k, :, 3], np.abs(turn) @ ((high - low) / 2)
        np.testing.assert_allclose(bounds[k, :3], middle - half, atol=5e-4)
        np.testing.assert_allclose(bounds[k, 4:7], middle + half, atol=5e-4)
        assert lean > 0.01 and own > 0
