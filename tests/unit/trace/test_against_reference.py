"""The fast path against the plain tracer, on scenes made by chance: same hits, same ranges, same intensities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.poses import Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, sphere
from tussock.scene.scene import Scene
from tussock.sensors.receiver import Receiver
from tussock.simulate import scan
from tussock.trace.reference import trace_reference

MAX_RANGE = 120.0
PATH_TOLERANCE = 2e-4  # [m] what moves may be this far off its path (`tussock.trace.world`), with its turn
MATERIALS = tuple(Material(name=f"m{i}", reflectance=r) for i, r in enumerate((0.15, 0.4, 0.65, 0.9)))


def many_coloured(mesh: Mesh, rng: np.random.Generator) -> Mesh:
    """The mesh with a material of its own for every triangle, so that the intensity tells them apart."""
    return Mesh(mesh.vertices, mesh.triangles, MATERIALS, rng.integers(0, len(MATERIALS), len(mesh.triangles)))


def any_placements(rng: np.random.Generator, count: int, centre: NDArray, reach: float) -> Placements:
    """Turned, sheared, scaled differently along each axis, half of them mirrored."""
    sizes = rng.uniform(0.3, 2.5, (count, 3)) * rng.choice([-1, 1], (count, 3))
    shear = np.eye(3) + rng.uniform(-0.3, 0.3, (count, 3, 3))
    axes = Rotation.random(count, rng=rng).as_matrix() @ shear * sizes[:, None, :]
    place = centre + rng.uniform(-reach, reach, (count, 3))
    return Placements(np.concatenate([axes, place[:, :, None]], 2))


def any_path(rng: np.random.Generator, centre: NDArray) -> Trajectory:
    """A crooked way through 0 to 0.3 s at some 10 m/s, turning at some 3 rad/s."""
    times = np.linspace(0, 0.3, 7)
    steps = np.cumsum(rng.normal(0, 0.5, (7, 3)), 0)
    turns = Rotation.from_rotvec(np.cumsum(rng.normal(0, 0.1, (7, 3)), 0))
    return Trajectory(times, centre + rng.uniform(-10, 10, 3) + steps, turns.as_quat())


def any_scene(rng: np.random.Generator, centre: NDArray, *, moving: bool) -> Scene:
    scene = Scene()
    ball = many_coloured(sphere(1.0, subdivisions=1), rng)
    cube = many_coloured(box(), rng)
    soup = many_coloured(Mesh(rng.normal(size=(60, 3)), rng.permutation(60).reshape(20, 3)), rng)
    floor = ground((60, 60), cells=(6, 6), heights=rng.uniform(-8, -6, (7, 7)))
    scene.add(many_coloured(floor, rng), position=centre)
    scene.add(ball, placements=any_placements(rng, 10, centre, 20))
    scene.add(ball, placements=any_placements(rng, 5, centre, 20))
    scene.add(soup, placements=any_placements(rng, 10, centre, 20))
    scene.add(cube, placements=any_placements(rng, 1, centre, 15))
    if moving:
        scene.add(many_coloured(box((2, 1, 1.5)), rng), motion=any_path(rng, centre))
        scene.add(ball, motion=any_path(rng, centre), placements=any_placements(rng, 3, np.zeros(3), 5))
    return scene


@pytest.mark.parametrize("centre", [(0, 0, 0), (500_000, 5_200_000, 300)], ids=["near zero", "map coordinates"])
@pytest.mark.parametrize("moving", [False, True], ids=["standing", "moving"])
@pytest.mark.parametrize("seed", range(3))
def test_same_hits_ranges_and_intensities(
    seed: int,
    moving: bool,
    centre: tuple[int, int, int],
    plain_sensor: Callable,
    rays_of: Callable,
    record_property: Callable,
) -> None:
    rng = np.random.default_rng(seed)
    middle = np.array(centre, float)
    scene = any_scene(rng, middle, moving=moving)
    sensor = plain_sensor(
        elevation_deg=rng.uniform(-70, 70, 32).tolist(),
        azimuth_deg=rng.uniform(-10, 10, 32).tolist(),
        vertical_offset_m=rng.uniform(-0.1, 0.1, 32).tolist(),
        horizontal_offset_m=rng.uniform(-0.1, 0.1, 32).tolist(),
        firing_us=rng.uniform(0, 900, 32).tolist(),
        steps=100,
        receiver=Receiver(max_range_m=MAX_RANGE),
    )
    turns = Rotation.from_rotvec(rng.normal(0, 0.2, (3, 3)))
    path = Trajectory(np.array([0, 0.13, 0.3]), middle + rng.normal(0, 1, (3, 3)), turns.as_quat())

    frame = scan(scene, sensor, path, frame=1, keep_misses=True)
    rays = rays_of(sensor, path, frame=1)
    hits = trace_reference(scene, *rays, MAX_RANGE)

    met = np.isfinite(hits.range)
    assert len(frame) == len(met)
    assert 0.2 < met.mean() < 0.8, "the scene must be neither empty nor closed"
    # At an edge shared by two triangles float32 and float64 may take different sides. Such a ray is let off if
    # one a hair's breadth beside it agrees; so few that they cannot hide a fault.
    same = (frame.hit == met) & (frame.object_id == hits.object_id) & (frame.placement == hits.placement)
    off_range = np.where(met, np.abs(frame.true_range - hits.range), 0.0)
    colours = np.array([{m.name: m.reflectance for m in MATERIALS}[name] for name in frame.meta["materials"]])
    off_intensity = np.abs(frame.intensity - colours[frame.material] * hits.cos_incidence)
    # What moves may leave its path by a little; a grazing ray sees that 1/cos θ larger.
    mover = np.isin(hits.object_id, [thing.id for thing in scene.objects if thing.motion is not None])
    allowed = 1e-4 * hits.range + np.where(mover & met, PATH_TOLERANCE / np.maximum(hits.cos_incidence, 1e-3), 0.0)
    agrees = same & (off_range <= np.where(met, allowed, 1.0)) & (~met | (off_intensity < 1e-4))
    ties = np.flatnonzero(~agrees)
    assert len(ties) <= 3, f"{len(ties)} of {len(met)} rays differ"
    for ray in ties:
        assert _agrees_beside(scene, rays, int(ray), frame)

    record_property("ties", len(ties))
    record_property("largest relative range error", float((off_range / hits.range)[agrees & met].max()))
    record_property("largest intensity error", float(off_intensity[agrees & met].max()))


def _agrees_beside(scene: Scene, rays: tuple, ray: int, frame: object) -> bool:
    """Whether a ray within 2e-5 rad of this one meets what the frame says."""
    rng = np.random.default_rng(ray)
    directions = rays.directions[ray] + rng.normal(0, 1e-5, (200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    origins, times = np.repeat(rays.origins[ray : ray + 1], 200, 0), np.repeat(rays.times[ray], 200)
    beside = trace_reference(scene, origins, directions, times, MAX_RANGE)
    near = ~np.isfinite(beside.range) if not frame.hit[ray] else abs(beside.range - frame.true_range[ray]) < 1e-2
    return bool((near & (beside.object_id == frame.object_id[ray])).any())
