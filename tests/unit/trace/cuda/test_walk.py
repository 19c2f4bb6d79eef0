"""The walk of one ray through our own trees, compiled for the processor, against plain geometry and Embree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.kernels import Array, Real, kernel
from tussock.plants.shrub import shrub
from tussock.poses import Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, card, ground, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.scene.wind import Wind
from tussock.scenes.ready import ready_scene
from tussock.trace import packets
from tussock.trace.cuda import walk
from tussock.trace.cuda.packets import (
    NOTHING,
    find_surfaces,
    hit_at,
    is_hit,
    load_ray,
    new_packet,
    resolve,
    stop_light,
    was_stopped,
)
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.cuda.walk import Trees
from tussock.trace.hit_tables import HitTables
from tussock.trace.ray import Ray
from tussock.trace.rays import trace_rays
from tussock.trace.reference import trace_reference
from tussock.trace.surroundings import Surroundings, trace_surfaces
from tussock.trace.world import World

REACH = 200.0


class Ways(NamedTuple):
    standing: Trees
    moving: Trees
    moves: bool


class Around(NamedTuple):
    standing: Ways
    tables: HitTables


@kernel
def _trace(
    around: Around, origins: Array, directions: Array, times: Array, far: Real, masks: Array, ranges: Array, ids: Array,
    cosines: Array, stopped: Array,
) -> None:  # fmt: skip
    packet = new_packet()
    for i in range(len(directions)):
        o, d = origins[i], directions[i]
        ray = Ray(o[0], o[1], o[2], d[0], d[1], d[2], np.float32(0.0), far, times[i])
        load_ray(packet, 0, ray, masks[i])
        find_surfaces(around, packet)
        resolve(around.tables, packet)
        hit = hit_at(packet, 0)
        ranges[i] = hit.distance if is_hit(packet, 0) else np.float32(np.inf)
        ids[i, 0], ids[i, 1], ids[i, 2] = hit.geometry, hit.copy, hit.primitive
        length = np.sqrt(hit.nx**2 + hit.ny**2 + hit.nz**2)
        cosines[i] = -(hit.nx * d[0] + hit.ny * d[1] + hit.nz * d[2]) / length if is_hit(packet, 0) else 0.0
        load_ray(packet, 0, ray, masks[i])
        stop_light(around, packet)
        stopped[i] = was_stopped(packet, 0)


class Found(NamedTuple):
    ranges: NDArray
    ids: NDArray
    cosines: NDArray
    stopped: NDArray


def traced(
    world: World, origins: NDArray, directions: NDArray, times: NDArray | None = None, *, end: float = 1.0,
    mask: int = int(NOTHING),
) -> Found:  # fmt: skip
    """What rays meet; ``times`` [s] lie between 0 and ``end``."""
    trees = WorldTrees(world)
    moving = trees.moving(0.0, end)
    around = Around(Ways(trees.standing, moving or trees.standing, moving is not None), world.moving(0.0, end).tables)
    n = len(directions)
    found = Found(np.empty(n, np.float32), np.empty((n, 3), np.int64), np.empty(n, np.float32), np.empty(n, np.bool_))
    when = np.zeros(n) if times is None else times / end
    start = (origins - world.origin).astype(np.float32)
    way = directions.astype(np.float32)
    _trace(around, start, way, when.astype(np.float32), np.float32(REACH), np.full(n, mask, np.uint32), *found)
    return found


def any_directions(rng: np.random.Generator, count: int) -> NDArray:
    way = rng.normal(size=(count, 3))
    return way / np.linalg.norm(way, axis=1, keepdims=True)


def any_placements(rng: np.random.Generator, count: int, reach: float) -> Placements:
    """Turned, sheared, scaled differently along each axis, half of them mirrored."""
    sizes = rng.uniform(0.3, 2.5, (count, 3)) * rng.choice([-1, 1], (count, 3))
    axes = Rotation.random(count, rng=rng).as_matrix() @ (np.eye(3) + rng.uniform(-0.3, 0.3, (count, 3, 3)))
    place = rng.uniform(-reach, reach, (count, 3))
    return Placements(np.concatenate([axes * sizes[:, None, :], place[:, :, None]], 2))


def any_scene(rng: np.random.Generator, *, moving: bool) -> Scene:
    scene = Scene()
    soup = Mesh(rng.normal(size=(60, 3)), rng.permutation(60).reshape(20, 3))
    scene.add(ground((60, 60), cells=(6, 6), heights=rng.uniform(-8, -6, (7, 7))))
    scene.add(ball := sphere(1.0, subdivisions=1), placements=any_placements(rng, 15, 20))
    scene.add(soup, placements=any_placements(rng, 15, 20))
    scene.add(box(), placements=any_placements(rng, 1, 15))
    if moving:
        times = np.linspace(0, 3.0, 7)
        for mesh, copies in ((box((2, 1, 1.5)), 1), (ball, 3)):
            steps = np.cumsum(rng.normal(0, 0.5, (7, 3)), 0)
            turns = Rotation.from_rotvec(np.cumsum(rng.normal(0, 0.1, (7, 3)), 0))
            path = Trajectory(times, rng.uniform(-8, 8, 3) + steps, turns.as_quat())
            scene.add(mesh, motion=path, placements=any_placements(rng, copies, 5))
    return scene


@pytest.mark.parametrize("moving", [False, True], ids=["standing", "moving"])
@pytest.mark.parametrize(("seed", "count"), [(0, 3000), (1, 3000), (2, 3000), (3, 150), (4, 150)])
def test_as_every_ray_against_every_triangle(seed: int, count: int, moving: bool) -> None:
    """Many rays, and so few that the walk can be followed uncompiled."""
    rng = np.random.default_rng(seed)
    scene = any_scene(rng, moving=moving)
    world = World(scene)
    origins, directions, times = rng.normal(0, 2, (count, 3)), any_directions(rng, count), rng.uniform(0, 1, count)
    found = traced(world, origins, directions, times)
    expected = trace_reference(scene, origins, directions, times, REACH)
    met = np.isfinite(expected.range)
    assert 0.2 < met.mean() < 0.8, "the scene must be neither empty nor closed"
    numbers = np.array([thing.id for thing in world.geometries])
    same = np.isfinite(found.ranges) == met
    both = met & np.isfinite(found.ranges)
    same[both] &= (numbers[found.ids[both, 0]] == expected.object_id[both]) & (
        found.ids[both, 1] == expected.placement[both]
    )
    mover = np.isin(expected.object_id, [thing.id for thing in scene.objects if thing.motion is not None])
    # What moves may leave its path by 2e-4 m; a grazing ray sees that 1/cos θ larger.
    allowed = 1e-5 * np.where(met, expected.range, 0.0) + np.where(mover, 2e-4, 2e-5) / np.maximum(
        expected.cos_incidence, 1e-3
    )
    near = ~both
    near[both] = np.abs(found.ranges[both] - expected.range[both]) <= allowed[both]
    assert (~(same & near)).sum() <= count // 600, "at edges float32 and float64 may take different sides"
    good = same & near & both & ~mover
    np.testing.assert_allclose(np.abs(found.cosines[good]), expected.cos_incidence[good], atol=2e-4)
    np.testing.assert_array_equal(found.stopped, np.isfinite(found.ranges))


def test_as_embree() -> None:
    rng = np.random.default_rng(7)
    world = World(any_scene(rng, moving=False))
    origins, directions = rng.normal(0, 2, (20_000, 3)), any_directions(rng, 20_000)
    found = traced(world, origins, directions)
    embree = trace_rays(world, origins, directions, REACH)
    off = np.abs(np.where(np.isfinite(found.ranges), found.ranges, -1.0) - np.nan_to_num(embree, nan=-1.0))
    assert (off > 1e-4).mean() <= 1e-3


def cards(rng: np.random.Generator) -> Scene:
    """Cards with holes: in place and mirrored there, as copies, and on a mesh that is whole besides."""
    pixels = np.full((64, 48, 4), 255, np.uint8)
    pixels[..., 3] = 255 * (rng.random((64, 48)) < 0.6)
    other = pixels.copy()
    other[:32, :, 3] = 100
    first, second = (Material(texture=Texture(picture), opacity_cutoff=0.4) for picture in (pixels, other))
    crossed, square = card((2.0, 2.0), crossed=2, material=first), card((2.0, 2.0))
    mixed = Mesh(crossed.vertices, crossed.triangles, (second, Material()), np.arange(4) % 2, crossed.uv)
    scene = Scene()
    scene.add(card((3, 3), material=first), name="in place", position=(4, 0, 0))
    scene.add(card((3, 3), material=second), placements=Placements.of([[-4, 0, 0]], scale=np.array([[-1.0, 1, 1]])))
    for mesh in (crossed, mixed, square):
        scene.add(mesh, placements=any_placements(rng, 25, 12))
    scene.add(sphere(30.0, subdivisions=1))
    return scene


def test_holes_are_where_embree_has_them() -> None:
    rng = np.random.default_rng(11)
    scene = cards(rng)
    whole = Scene()
    for thing in scene.objects:
        mesh = thing.mesh
        whole.add(Mesh(mesh.vertices, mesh.triangles), placements=thing.placements)
    origins, directions = rng.normal(0, 3, (40_000, 3)), any_directions(rng, 40_000)
    world = World(scene)
    found, embree = traced(world, origins, directions), trace_rays(world, origins, directions, REACH)
    off = np.abs(np.where(np.isfinite(found.ranges), found.ranges, -1.0) - np.nan_to_num(embree, nan=-1.0))
    assert (off > 1e-4).mean() <= 2e-4
    np.testing.assert_array_equal(found.stopped, np.isfinite(found.ranges))
    through = np.abs(trace_rays(World(whole), origins, directions, REACH) - embree) > 1e-3
    assert 0.05 < through.mean() < 0.5, "rays must go through holes"


@kernel
def _embree(around: Surroundings, origins: Array, directions: Array, times: Array, ranges: Array, ids: Array) -> None:
    packet, rays = packets.new_packet(), len(directions)
    for first in range(0, rays, 16):
        for l in range(16):
            i = min(first + l, rays - 1)
            o, d = origins[i], directions[i]
            ray = Ray(o[0], o[1], o[2], d[0], d[1], d[2], np.float32(0.0), np.float32(REACH), times[i])
            packets.load_ray(packet, l, ray, NOTHING)
        trace_surfaces(around, packet)
        for l in range(min(16, rays - first)):
            hit = packets.hit_at(packet, l)
            ranges[first + l] = hit.distance if packets.is_hit(packet, l) else np.float32(np.inf)
            ids[first + l, 0], ids[first + l, 1], ids[first + l, 2] = hit.geometry, hit.copy, hit.primitive


def thicket(holes: bool) -> Scene:
    """Shrubs and cards on stalks in a strong wind, and a box that stands."""
    rng = np.random.default_rng(5)
    pixels = np.full((16, 16, 4), 255, np.uint8)
    pixels[..., 3] = 255 * (rng.random((16, 16)) < 0.6)
    leaf = Material(name="leaf", label="leaf", texture=Texture(pixels) if holes else None)
    scene = Scene()
    scene.wind = Wind(speed_m_s=8.0, from_deg=240.0, gusts=0.5)
    places = np.concatenate([rng.uniform(-15, 15, (300, 2)), np.zeros((300, 1))], 1)
    yaw, scale = rng.uniform(0, 6, 300), rng.uniform(0.5, 1.5, 300)
    scene.add(shrub(triangles=4000), name="shrubs", label="shrub",
              placements=Placements.of(places[:150], yaw=yaw[:150], scale=scale[:150]))  # fmt: skip
    scene.add(card((0.8, 1.6), crossed=2, material=leaf), name="cards", label="grass",
              placements=Placements.of(places[150:], yaw=yaw[150:], scale=scale[150:]))  # fmt: skip
    scene.add(box((2, 2, 2)), position=(4, 4, 1))
    return scene


@pytest.mark.parametrize("holes", [False, True], ids=["whole", "with holes"])
def test_plants_bend_as_embree_has_them(holes: bool) -> None:
    """Each ray at its own time, level and from above, in one piece and in three."""
    world, rays, end = World(thicket(holes)), 40_000, 0.4
    rng = np.random.default_rng(1)
    origins = np.concatenate([rng.uniform(-12, 12, (rays, 2)), rng.uniform(0.3, 9, (rays, 1))], 1)
    directions = any_directions(rng, rays) - [0, 0, 0.5] * (origins[:, 2:] > 2)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    times = rng.uniform(0, end, rays)
    found = traced(world, origins, directions, times, end=end)
    ranges, ids = np.empty(rays, np.float32), np.empty((rays, 3), np.int64)
    moving = world.moving(0.0, end)
    start, way = (origins - world.origin).astype(np.float32), directions.astype(np.float32)
    _embree(moving.surroundings, start, way, (times / end).astype(np.float32), ranges, ids)
    met = np.isfinite(ranges)
    assert 0.15 < (met & (ids[:, 0] < 2)).mean() < 0.8, "plants must be met"
    off = np.abs(np.where(np.isfinite(found.ranges), found.ranges, -1.0) - np.where(met, ranges, -1.0))
    assert (off > 1e-4).mean() <= 1e-4, "plants are asked in another order, and straightened rays are the same"
    assert (found.ids[:, :2] == ids[:, :2])[met].all(1).mean() >= 0.9999
    np.testing.assert_array_equal(found.stopped, np.isfinite(found.ranges))
    still = traced(World(_in_still_air(thicket(holes))), origins, directions, times, end=end)
    assert (still.ids != found.ids).any(1).mean() > 0.1, "it must make a difference"


def _in_still_air(scene: Scene) -> Scene:
    scene.wind = None
    return scene


@pytest.mark.parametrize("count", [120, 4000])
def test_normals_point_as_embrees_do(count: int) -> None:
    """Outwards, also for copies that are mirrored: every ray from outside meets an outside."""
    rng = np.random.default_rng(3)
    scene = Scene()
    scene.add(sphere(1.0, subdivisions=2), placements=any_placements(rng, 20, 15))
    scene.add(box(), position=(0, 0, 20))
    mirrored = np.array([[[-2.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -20]]])
    scene.add(box(), placements=Placements(mirrored))
    origins = 60 * any_directions(rng, count)
    aim = rng.normal(0, 12, (count, 3)) - origins
    found = traced(World(scene), origins, aim / np.linalg.norm(aim, axis=1, keepdims=True))
    assert np.isfinite(found.ranges).sum() > 0.075 * count
    assert (found.cosines[np.isfinite(found.ranges)] > 0).all()


@pytest.mark.parametrize("placed", [1, 2], ids=["in place", "as a copy"])
@pytest.mark.parametrize("subdivisions", [0, 3])
def test_no_ray_slips_through_edges_and_corners(subdivisions: int, placed: int) -> None:
    """From inside a closed shape, exactly at its edges and corners."""
    ball = sphere(3.0, subdivisions=subdivisions)
    scene = Scene()
    turned = Placements.of([[1.0, 2.0, 3.0], [50.0, 0, 0]][:placed], yaw=np.array([0.3, 0.4][:placed]), scale=1.5)
    scene.add(ball, placements=turned)
    corners = ball.vertices.astype(float)[ball.triangles] @ turned.matrices[0, :, :3].T + turned.matrices[0, :, 3]
    share = np.linspace(0, 1, 7)[:, None, None, None]
    points = (corners * share + np.roll(corners, 1, 1) * (1 - share)).reshape(-1, 3)
    rng = np.random.default_rng(1)
    origins = turned.matrices[0, :, 3] + rng.uniform(-1, 1, points.shape)
    way = points - origins
    far = np.linalg.norm(way, axis=1)
    found = traced(World(scene), origins, way / far[:, None])
    np.testing.assert_allclose(found.ranges, far, rtol=0, atol=2e-5)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rays_along_an_axis(axis: int, sign: float) -> None:
    """Two components are exactly 0, and the ray may lie in the side of a box of the tree."""
    scene = Scene()
    scene.add(box((2, 2, 2)), placements=Placements.of([[0.0, 0, 0], [4.0, 4, 4], [-4.0, -4, -4]]))
    across = np.array([-0.5, 0.0, 0.25, 0.5, 1.0])
    places = np.stack(np.meshgrid(across, across), -1).reshape(-1, 2)
    origins = np.insert(places, axis, -10.0 * sign, 1)
    directions = np.zeros_like(origins)
    directions[:, axis] = sign
    for zero in (0.0, -0.0):
        directions[:, [a for a in range(3) if a != axis]] = zero
        inside = (np.abs(places) < 1).all(1)
        found = traced(World(scene), origins, directions)
        np.testing.assert_allclose(found.ranges[inside], 9.0, atol=1e-5)
        edge = found.ranges[~inside]
        assert (np.isinf(edge) | (np.abs(edge - 9.0) < 1e-5)).all()


def test_masks_hide_what_responds() -> None:
    scene = Scene()
    scene.add(
        box((2, 2, 2)), name="bush", position=(5, 0, 0), tags=("vegetation",), response=VegetationResponse(sigma_m=1)
    )
    scene.add(box((2, 20, 20)), name="wall", position=(12, 0, 0))
    world = World(scene)
    bit = world.mask_of(world.geometries[0])
    origins, directions = np.zeros((1, 3)), np.array([[1.0, 0, 0]])
    assert traced(world, origins, directions).ranges[0] == pytest.approx(4.0)
    assert traced(world, origins, directions, mask=0xFFFFFFFF ^ bit).ranges[0] == pytest.approx(11.0)


def test_a_world_in_which_nothing_stands() -> None:
    scene = Scene()
    path = Trajectory(np.array([0.0, 1.0]), np.array([[5.0, 0, 0], [9.0, 0, 0]]), np.array([[0, 0, 0, 1.0]] * 2))
    scene.add(box((2, 2, 2)), motion=path)
    way = np.array([[1.0, 0, 0], [-1.0, 0, 0], [1.0, 0, 0]])
    found = traced(World(scene), np.zeros((3, 3)), way, np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(found.ranges, [4.0, np.inf, 8.0], atol=1e-4)


@pytest.mark.parametrize("time", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_a_ray_in_the_coordinates_of_a_shape(time: float) -> None:
    """Against the inverse of its matrix: where it stands, and where it turns and grows from step to step."""
    rng = np.random.default_rng(9)
    ray = Ray(*rng.normal(size=6).astype(np.float32), np.float32(0), np.float32(9), np.float32(time))
    start, way = np.array(ray[:3], float), np.array(ray[3:6], float)
    matrices = rng.normal(size=(3, 2, 3, 3)) + 2 * np.eye(3)  # steps, copies; columns are the axes of the shape
    places = rng.normal(size=(3, 2, 3))
    copy = 1
    inverse = np.linalg.inv(matrices[0, copy])
    standing = np.zeros((2, 16), np.float32)
    standing[copy, :9], standing[copy, 9:12] = inverse.ravel(), places[0, copy]
    trees = SimpleNamespace(moving=np.zeros((0, 12), np.float32), placements=standing)
    begin = (places[0, copy] - start) @ way
    wanted = [*inverse @ (start + begin * way - places[0, copy]), *inverse @ way, begin]
    assert walk._into_shape.py_func(trees, copy, ray) == pytest.approx(wanted, abs=1e-4)

    rows = np.concatenate([matrices.transpose(0, 1, 3, 2).reshape(3, 2, 9), places], 2).reshape(6, 12)
    ids = np.array([[0, 3, 2], [1, 3, 2]], np.int32)  # first row, steps, copies
    trees = SimpleNamespace(moving=rows.astype(np.float32), placement_ids=ids)
    low = min(int(2 * time), 1)
    share = 2 * time - low
    matrix = (1 - share) * matrices[low, copy] + share * matrices[low + 1, copy]
    place = (1 - share) * places[low, copy] + share * places[low + 1, copy]
    begin = (place - start) @ way
    wanted = [*np.linalg.solve(matrix, start + begin * way - place), *np.linalg.solve(matrix, way), begin]
    assert walk._into_moving.py_func(trees, copy, ray) == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def at_edges(rng: np.random.Generator, world: World, mesh: Mesh, count: int) -> tuple[NDArray, NDArray, NDArray]:
    """Rays that pass borders of the copies of a card by micrometres, and whether they meet it, in double precision."""
    rows = world.still.surroundings.tables.placed.standing.astype(float)
    copy = rng.integers(0, len(rows), count)
    turn, place = rows[copy, :9].reshape(-1, 3, 3), rows[copy, 9:12]  # column by column
    corners = mesh.vertices.astype(np.float32).astype(float)[mesh.triangles]  # (2, 3, 3)
    placed = np.einsum("nij,tci->ntcj", turn, corners) + place[:, None, None]
    loop = [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 2), (0, 2, 0), (1, 2, 0)]
    t, a, b = np.array(loop)[rng.integers(0, len(loop), count)].T
    every = np.arange(count)
    share = rng.uniform(0.05, 0.95, (count, 1))
    point = placed[every, t, a] * share + placed[every, t, b] * (1 - share)
    origins = (point + rng.uniform(15, 60, (count, 1)) * any_directions(rng, count)).astype(np.float32).astype(float)
    way = point + rng.normal(0, 1.5e-6, (count, 3)) - origins
    way = (way / np.linalg.norm(way, axis=1, keepdims=True)).astype(np.float32).astype(float)
    seen = placed - origins[:, None, None]
    sides = np.stack([
        np.einsum("ni,nti->nt", way, np.cross(seen[:, :, k], seen[:, :, (k + 1) % 3])) for k in range(3)
    ])  # fmt: skip
    return origins, way, ((sides >= 0).all(0) | (sides <= 0).all(0)).any(1)


def test_micrometres_beside_an_edge_decide() -> None:
    """15 to 60 m away single precision would tell a ray from a border to some 2 µm; here it is to a tenth of that."""
    rng = np.random.default_rng(21)
    mesh, scene = card((0.3, 0.5)), Scene()
    places = np.stack([np.arange(200) * 150.0 - 15_000.0, rng.uniform(-20, 20, 200), rng.uniform(-20, 20, 200)], 1)
    turns = Rotation.random(200, rng=rng).as_matrix() * rng.uniform(0.5, 2.0, (200, 1, 1))
    scene.add(mesh, placements=Placements(np.concatenate([turns, places[:, :, None]], 2)))
    world = World(scene)
    origins, directions, expected = at_edges(rng, world, mesh, 20_000)
    found = traced(world, origins + world.origin, directions)
    assert 0.2 < expected.mean() < 0.8, "on both sides"
    assert (np.isfinite(found.ranges) != expected).mean() < 0.025, "one in seven where all was single precision"


def beside_an_edge(start: NDArray, way: NDArray, corners: NDArray) -> float:
    """[m] how near a ray passes one of the sides of a triangle."""
    nearest = np.inf
    for k in range(3):
        a, b = corners[k] - start, corners[(k + 1) % 3] - start
        a, b = a - (a @ way) * way, b - (b @ way) * way
        side = b - a
        share = np.clip(-(a @ side) / max(side @ side, 1e-30), 0.0, 1.0)
        nearest = min(nearest, float(np.linalg.norm(a + share * side)))
    return nearest


def test_where_embree_says_otherwise_an_edge_is_near() -> None:
    """In dense grass: whichever surface one of the two tracers meets and the other does not, the ray passes its edge by micrometres."""
    rng, rays = np.random.default_rng(5), 400_000
    scene = ready_scene("yard")
    world = World(scene)
    azimuth, elevation = rng.uniform(0, 2 * np.pi, rays), np.radians(rng.uniform(-15, 15, rays))
    level = np.cos(elevation)
    way = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], 1).astype(np.float32)
    origins = np.tile([[0.0, 0.0, 2.0]], (rays, 1))
    found = traced(world, origins, way.astype(float))
    ranges, ids = np.empty(rays, np.float32), np.empty((rays, 3), np.int64)
    start = (origins - world.origin).astype(np.float32)
    surroundings = world.moving(0.0, 1.0).surroundings
    _embree(surroundings, start, way, np.zeros(rays, np.float32), ranges, ids)
    differ = np.abs(np.nan_to_num(found.ranges, posinf=0) - np.nan_to_num(ranges, posinf=0)) > 1e-4
    assert 0 < differ.sum() < 1e-4 * rays
    placed = surroundings.tables.placed
    meshes = [thing.mesh for thing in world.geometries]
    for i in np.flatnonzero(differ):
        geometry, copy, primitive = (found.ids if found.ranges[i] < ranges[i] else ids)[i]
        mesh = meshes[geometry]
        corners = mesh.vertices.astype(np.float32).astype(float)[mesh.triangles[primitive]]
        if placed.first[geometry] >= 0:
            turn = placed.standing[placed.first[geometry] + copy].astype(float)
            corners = corners @ turn[:9].reshape(3, 3) + turn[9:12]
        straight = way[i].astype(float) / np.linalg.norm(way[i].astype(float))
        assert beside_an_edge(start[i].astype(float), straight, corners) < 5e-6
