"""Tracing at the ends of its tables: first and last cells, large shapes, several materials, fields, pictures that repeat, and far from zero."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_by_formula import row as volumes_in_a_row

from tussock.kernels import kernel
from tussock.rebound import in_python
from tussock.scene.labels import PLANTS
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, plane
from tussock.scene.scene import PlacedVolumes, Scene
from tussock.scene.stems import Stem
from tussock.scene.volumes import WHOLE, Volumes
from tussock.scene.wind import Wind
from tussock.trace import rays as rays_module
from tussock.trace import triangles as triangles_module
from tussock.trace.cut_outs.opacity import is_there
from tussock.trace.hit_tables import material_of
from tussock.trace.normals import PlacedCopies, world_normal
from tussock.trace.packets import LANES
from tussock.trace.placed_copies import Transform, apply_transform, mirrored_side, transform_of
from tussock.trace.placed_volumes import end_again, new_volume_walk, place_volumes
from tussock.trace.ray import Ray, lift_at, ray_in_row, skin_at
from tussock.trace.triangles import KeptTriangles, corners_of
from tussock.trace.volume_cells import ENTRY, EXIT, cell_keys, grid_of, new_walk, next_cell, start_walk, volume_at
from tussock.trace.volume_hits import _more_behind, end_behind, end_in_volumes, gaussians_of, shell_of
from tussock.trace.wind import sway_geometry
from tussock.trace.wind.in_wind import root_of
from tussock.trace.wind.sway import KNOWN, Swaying, Tip, bent, sway_rates, swayed, tip_at
from tussock.trace.world import World

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of whole numbers that wrap, as plain Python
f = np.float32


def grid(cells: list[tuple[int, int, int]]) -> Any:
    coordinates = np.array(cells, np.int64)
    keys = cell_keys(coordinates, coordinates.min(0))
    order = np.argsort(keys)
    return grid_of(keys[order], coordinates.min(0), coordinates.max(0), 0.5), coordinates[order].tolist()


CORNERS = [(x, y, z) for x in (-64, 0, 63) for y in (-64, 0, 63) for z in (-64, 0, 63)]


def test_the_first_and_the_last_cells_of_a_grid_are_found() -> None:
    """Those at the corners of its regions of 64 cells; beside the grid there is nothing."""
    cells, order = grid(CORNERS)
    look = in_python(volume_at)
    for number, place in enumerate(order):
        assert look(cells, 0, *place) == number
        for axis in range(3):
            beside = np.array(place)
            beside[axis] += -1 if place[axis] == -64 else 1
            assert look(cells, 0, *beside.tolist()) == -1
    assert look(cells, 0, 64, 0, 0) == look(cells, 0, 0, 0, -65) == -1


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_ray_that_starts_in_the_last_cell_is_in_it(axis: int, sign: int) -> None:
    """Along an axis through the cells −64, 0 and 63 of half a metre: entered and left at their walls, from inside from 0 on."""
    cells, order = grid(CORNERS)
    for start, wanted in ((sign * 40.0, []), (-sign * 40.0, [-64, 0, 63]), (sign * 31.75, None)):
        origin = np.full(3, 0.25)
        origin[axis] = start
        way = np.zeros(3)
        way[axis] = sign
        walk, found = new_walk(), []
        ray = Ray(*origin, *way, 0.0, 200.0, 0.0)
        going = in_python(start_walk)(cells, 0, walk, ray)
        while going:
            cell = in_python(next_cell)(cells, 0, walk)
            if cell < 0:
                break
            found.append((order[cell][axis], float(walk.ray[ENTRY]), float(walk.ray[EXIT])))
        if wanted is None:
            (last,) = found
            assert last[0] == (63 if sign > 0 else -64) and last[1] == 0 and 0 < last[2] <= 0.5
            continue
        numbers = wanted if sign > 0 else wanted[::-1]
        assert [one[0] for one in found] == numbers
        for number, enter, leave in found:
            low = 0.5 * number
            assert (enter, leave) == pytest.approx(sorted((sign * (low - start), sign * (low + 0.5 - start))))


def one_volume(edges: np.ndarray | None = None) -> Volumes:
    """In the middle of a cell of a metre, a centimetre wide, that lets nothing through and returns twice."""
    none, edges = np.zeros(1), np.array([np.inf]) if edges is None else edges
    return Volumes(
        np.array([[0.5, 0.5, 0.5]]), np.array([[1e4, 0, 0, 1e4, 0, 1e4]]), none, np.zeros((1, len(edges))), none, none, none, 1.0,
        edges, "voxels" if np.isinf(edges[-1]) else "ellipsoids", second=np.array([WHOLE]),
    )  # fmt: skip


def test_shells_begin_where_the_last_one_ends() -> None:
    """Three shells, two, and one without an end: of models in one scene each has its own, whatever the others have."""
    models = [one_volume(edges=np.array(edges)) for edges in ([1.0, 2.0, 3.0], [1.0, 2.0], [np.inf])]
    for some in (models, models[::-1], models[1:], models[:1]):
        edges2 = gaussians_of(some).edges2
        for distance2, *wanted in (
            (0.0, 0, 0, 0), (0.99, 0, 0, 0), (1.0, 1, 1, 0), (3.99, 1, 1, 0), (4.0, 2, -1, 0), (8.99, 2, -1, 0), (9.0, -1, -1, 0),
        ):  # fmt: skip
            for row, model in enumerate(some):
                place = next(k for k, known in enumerate(models) if known is model)
                assert in_python(shell_of)(edges2, row, f(distance2)) == wanted[place], (distance2, row)


def words(u: float, other: float = 0.5, closure: float = 0.0) -> tuple[np.int64, ...]:
    """Random words of which the first is ``u``; the deviate of where in a volume is that of the middle."""
    return tuple(np.int64(x * 2**32) for x in (u, other, 0.25, closure))


def test_where_nothing_is_on_the_way_a_ray_ends_nowhere() -> None:
    gaussians, away = volumes_in_a_row([0.5, 0.5], 1.0), Ray(0.5, 30.0, 0.5, 1.0, 0.0, 0.0, 0.0, math.inf, 0.0)
    assert in_python(end_behind)(gaussians, 0, new_walk(), away, words(0.9)) == (math.inf, -1)
    assert in_python(end_in_volumes)(gaussians, 0, new_walk(), away, True, words(0.9)) == (math.inf, -1)


@pytest.mark.parametrize(("far", "open_end", "ends"), [
    (math.inf, True, True), (0.9, True, True), (0.9, False, False), (2.9, False, True), (1.9, False, False),
])  # fmt: skip
def test_the_closure_has_a_say_where_no_other_volume_lies_behind(far: float, open_end: bool, ends: bool) -> None:
    """Three volumes with a closure of 1, which let almost all through: before a wall, the closure of the last counts alone."""
    gaussians = volumes_in_a_row([0.9, 0.9, 0.9], 1.0, 0.01)
    ray = Ray(0.0, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, far, 0.0)
    where, found = in_python(end_in_volumes)(gaussians, 0, new_walk(), ray, open_end, words(0.01))
    assert (found >= 0) == ends
    assert where == (pytest.approx(found + 0.5, abs=0.05) if ends else math.inf)


def test_what_lies_behind_the_far_end_of_a_ray() -> None:
    gaussians = volumes_in_a_row([0.9, 0.9, 0.9], 1.0)
    for far, last, more in (
        (0.9, 0, True),
        (1.5, 0, True),
        (1.5, 1, True),
        (2.5, 2, False),
        (2.5, 1, True),
        (9.0, 2, False),
    ):
        ray = Ray(0.0, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, far, 0.0)
        assert bool(in_python(_more_behind)(gaussians, 0, new_walk(), ray, last)) == more, (far, last)
    up = Ray(0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.1, 0.0)
    assert not in_python(_more_behind)(gaussians, 0, new_walk(), up, 0)


def test_volumes_far_from_zero_are_where_they_were_placed() -> None:
    """A copy turned by 90° at (500000, 5200000, 30), seen from the tracer's zero near by: its volume at the middle of its cell."""
    scene = Scene()
    scene.add(plane((1, 1)), name="stone", position=(500_000, 5_200_000, 0))
    scene.add_volumes(one_volume(), name="bush", position=(500_002.0, 5_200_003.0, 30.0), yaw=np.pi / 2)
    (placed,) = scene.volumes
    origin = np.array([500_000.0, 5_200_000.0, 0.0])
    tables = place_volumes([placed], 7, origin)
    middle = np.array([2.0 - 0.5, 3.0 + 0.5, 30.5])
    matrix = tables.inverse.reshape(3, 4)
    np.testing.assert_allclose(matrix @ np.append(middle, 1.0), 0.5, atol=1e-9)
    np.testing.assert_allclose(matrix[:, :3], Rotation.from_euler("z", -90, degrees=True).as_matrix(), atol=1e-12)
    assert tables.geometry.tolist() == [7] and tables.model.tolist() == [0] and tables.number.tolist() == [0]
    low, high = tables.boxes[0, :3], tables.boxes[0, 3:]
    assert (low < middle).all() and (high > middle).all() and (high - low < 3.1).all()
    ray = Ray(*(middle - [0, 0, 5.0]), 0.0, 0.0, 1.0, 1.0, 40.0, 0.0)
    from tussock.randomness import chance_of

    does, t, volume = in_python(end_again)(tables, new_volume_walk(), ray, 0, 0, 3, chance_of(1, 0))
    assert does and volume == 0 and t == pytest.approx(4.0, abs=0.06)
    assert isinstance(placed, PlacedVolumes)


def test_a_ray_out_of_a_row_of_tables() -> None:
    ray = in_python(ray_in_row)(np.arange(6.0).reshape(2, 3), 10 + np.arange(6.0).reshape(2, 3), 1, 7.0)
    assert tuple(ray) == (3, 4, 5, 13, 14, 15, 0, 7, 0)
    assert in_python(skin_at)(f(1000), f(-0.5)) == pytest.approx(1e-3) and in_python(skin_at)(f(1), f(1)) == f(1e-4)
    assert in_python(skin_at)(f(1000), f(0)) == pytest.approx(0.5)
    assert [
        float(in_python(lift_at)(*map(f, at))) for at in ((1, -2, 3), (-4e4, 2, 3), (1, 4e4, 2), (1, 2, -4e4))
    ] == pytest.approx([1e-3, 0.02, 0.02, 0.02])


@pytest.mark.parametrize("rays", [1, 16, 1023, 1024, 1025, 2100])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_ray_is_traced_by_one_worker(rays: int, workers: int) -> None:
    """64 packets of sixteen at a time; what idle lanes of the last one trace is the last ray again."""
    names = dict(rays_module._trace.py_func.__globals__)
    loaded: list[float] = [0.0] * LANES
    names |= {
        "load_ray": lambda packet, l, ray, mask: loaded.__setitem__(l, float(ray.x)), "new_packet": lambda: None,
        "trace_surfaces": lambda around, packet: None, "is_hit": lambda packet, l: loaded[l] % 3 != 0,
        "distance_at": lambda packet, l: loaded[l],
    }  # fmt: skip
    trace = type(rays_module._trace.py_func)(rays_module._trace.py_func.__code__, names)
    origins, found, taken = np.repeat(np.arange(rays)[:, None], 3, 1).astype(f), np.full(rays, -7.0), np.zeros(rays)
    for worker in range(workers):
        out = np.full(rays, -7.0)
        trace(worker, workers, None, origins, origins, 9.0, out)
        taken += out != -7.0
        found = np.where(out != -7.0, out, found)
    assert (taken == 1).all()
    np.testing.assert_array_equal(found, np.where(np.arange(rays) % 3 == 0, np.nan, np.arange(rays)))


@kernel
def _corner_rows(triangles: Any, geometry: int, count: int, out: np.ndarray) -> None:
    for k in range(count):
        at = corners_of(triangles, geometry, k)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3], out[k, 4] = at.ax, at.ay, at.az, at.bx, at.by
        out[k, 5], out[k, 6], out[k, 7], out[k, 8] = at.bz, at.cx, at.cy, at.cz


@pytest.mark.parametrize("large", [False, True])
def test_corners_of_small_and_of_large_shapes_are_the_same(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of shapes that are too large to be kept corner by corner, vertices and triangles are looked up."""
    if large:
        monkeypatch.setattr(triangles_module, "_BY_CORNERS_UP_TO", 4)
    rng = np.random.default_rng(1)
    vertices, faces = rng.normal(size=(9, 3)).astype(f), rng.integers(0, 9, (5, 3)).astype(np.uint32)
    kept = KeptTriangles(with_neighbours=False)
    kept.keep(3, rng.normal(size=(3, 3)).astype(f), np.array([[0, 1, 2]], np.uint32), tight=True)
    kept.keep(8, vertices, faces, tight=True)
    found, out = kept.of([(5, 8), (3,), ()]), np.zeros((5, 9))
    assert (found.vertices[0] != 0) == large == (found.indices[0] != 0) and (found.corners[0] == 0) == large
    assert found.corners[1] != 0 and found.corners[2] == found.vertices[2] == 0
    _corner_rows(found, 0, 5, out)
    np.testing.assert_array_equal(out, vertices[faces].reshape(5, 9))
    assert len(kept.neighbours_of([(8,)])) == 0


def test_the_material_of_every_triangle_of_several_shapes() -> None:
    """Two shapes of two materials each, one of one, and a shared material: rows of the second begin behind those of the first."""
    a, b, c = (Material(name=name, reflectance=r) for name, r in (("a", 0.1), ("b", 0.2), ("c", 0.3)))
    shape = box((1, 1, 1))
    scene, rng = Scene(), np.random.default_rng(2)
    own = [rng.integers(0, 2, 12) for _ in range(2)]
    scene.add(Mesh(shape.vertices, shape.triangles, (a, b), own[0]), name="one")
    scene.add(Mesh(shape.vertices, shape.triangles, (b,)), name="plain", position=(3, 0, 0))
    scene.add(Mesh(shape.vertices, shape.triangles, (c, a), own[1]), name="two", position=(6, 0, 0))
    world = World(scene)
    tables, numbers = world.still.tables, {m.name: k for k, m in enumerate(world.materials)}
    for geometry, names in ((0, ["ab"[k] for k in own[0]]), (1, ["b"] * 12), (2, ["ca"[k] for k in own[1]])):
        found = [int(in_python(material_of)(tables, geometry, k)) for k in range(12)]
        assert found == [numbers[name] for name in names]


def test_floors_must_be_tight_and_blades_need_not() -> None:
    for mesh, tight in ((plane((2, 2)), True), (plane((0.2, 0.2)), False), (box((0.1, 0.1, 0.1)), True)):
        scene = Scene()
        scene.add(mesh)
        assert World(scene)._tight == tight
        scene.add(mesh, position=(9, 0, 0))
        assert not World(scene)._tight, "shared shapes are asked by themselves"


@kernel
def _there(rows: int, material: int, corners: int, u: float, v: float) -> bool:
    return bool(is_there(rows, material, corners, 1, u, v))


def test_which_texel_a_place_on_a_triangle_shows() -> None:
    """A picture of three by two texels that repeats; the top row first, t upwards. Of the second triangle, and the second material."""
    opacity = np.array([[10, 20, 30], [40, 50, 60]], np.uint8)
    uv = np.array([[[9, 9]] * 3, [[-1.0, 0.0], [2.0, 0.0], [-1.0, 4.0]]], f)
    for least in (15, 25, 35, 45, 55, 65):
        rows = np.zeros((2, 4), np.uint64)
        rows[0], rows[1] = 0, (opacity.ctypes.data, 3, 2, least)
        for u in (0.02, 0.12, 0.35, 0.5, 0.61):
            for v in (0.05, 0.13, 0.2, 0.38):
                s, t = -1 + 3 * u, 4 * v
                texel = opacity[int((1 - (t - math.floor(t))) * 2), int((s - math.floor(s)) * 3)]
                assert _there(rows.ctypes.data, 1, uv.ctypes.data, u, v) == (texel >= least), (u, v, least)
                assert _there(rows.ctypes.data, 0, uv.ctypes.data, u, v)
    rows[1, 3] = 60
    assert _there(rows.ctypes.data, 1, uv.ctypes.data, 0.3, 0.0) == (opacity[1, 2] >= 60), "the lowest line at t = 0"


def test_each_ray_has_its_own_parabola() -> None:
    """Through three steps from that of its time on, the last three at the end; also where only one ray is of another time."""
    steps = np.random.default_rng(6).normal(size=(6, 3)).astype(f)
    for own in (np.linspace(0, 1, LANES), np.r_[np.full(15, 0.1), 0.9]):
        valid, given = np.ones(LANES, np.uint32), np.zeros(sway_geometry._FAR + LANES, f)
        given[sway_geometry._TIME : sway_geometry._TIME + LANES] = own
        room = np.full(sway_geometry._ROOM, 7, f)
        sway_geometry._take_tips(steps.ravel(), 6, valid, given, room)
        for l, time in enumerate(own):
            node = min(int(5 * time + 1e-6), 3)
            for k, r in enumerate((sway_geometry._TIP_X, sway_geometry._TIP_Y, sway_geometry._TALL)):
                parabola = np.polyfit(np.arange(node, node + 3), steps[node : node + 3, k], 2)
                assert room[r + l] == pytest.approx(np.polyval(parabola, 5.0 * time), abs=2e-5)


@pytest.mark.parametrize(
    ("low", "high", "base"),
    [(0.0, 2.0, 0.0), (-0.1, 1.0, 0.0), (-0.12, 1.0, -0.12), (0.5, 2.0, 0.0), (-2.0, -1.0, -2.0), (-1.0, 1.0, -1.0)],
)
def test_where_a_plant_is_rooted(low: float, high: float, base: float) -> None:
    """At z = 0, if no more than a tenth of it is below; else at its lowest point."""
    mesh = box((0.2, 0.2, high - low))
    moved = Mesh((mesh.vertices + np.array([0, 0, (low + high) / 2])).astype(f), mesh.triangles, mesh.materials)
    assert root_of(moved) == (pytest.approx(base, abs=1e-6), pytest.approx(high - base, abs=1e-6))


@pytest.mark.parametrize(("wide", "named", "still", "label", "sways"), [
    (39.0, False, False, "grass", True), (41.0, False, False, "grass", False), (41.0, True, False, "grass", True),
    (1.0, False, True, "grass", False), (1.0, True, True, "grass", False), (1.0, False, False, None, False), (1.0, True, False, None, True),
])  # fmt: skip
def test_what_sways(wide: float, named: bool, still: bool, label: str | None, sways: bool) -> None:
    """Plants, and what has a stem of its own; no field that is wider than twenty times its height of 2 m; not what is to keep still."""
    assert "grass" in PLANTS
    scene = Scene()
    scene.add(box((1, 1, 1)), name="stone", position=(50, 0, 0))
    scene.add(box((1.0, wide, 2.0)), name="thing", label=label or "building", position=(0, 0, 1))
    stem = Stem(frequency_hz=1.1, mass_kg_m=0.01, drag_width_m=0.02, damping=0.15)
    scene.wind = Wind(speed_m_s=5.0, stems={"thing": stem} if named else {}, still=("thing",) if still else ())
    assert World(scene).sways == sways


def swaying(seed: int) -> tuple[Swaying, np.ndarray]:
    """One plant about a height of its own, bent far by two waves of gusts; and its transform, any at all (3, 4)."""
    rng = np.random.default_rng(seed)
    shape = np.zeros((1, 7 + 4))
    shape[0] = [0.1, 1.5, 0.12, 0.0, 5.0, 3.0, 1.0, 0.5, 0.2, 0.3, 0.7]
    plant = np.array([[2.0, -1.0, 0.25, 1.3, 0.05, 0.04, 0.1, 0.3, 0.6, 0.8, 0.1, -0.2, 0.9, 1.5, 1.0]], f)
    waves = np.array([0.05, 0.02, 0.2, 0.3, -0.03, 0.08, 0.5, 0.9])
    sway = Swaying(
        np.zeros(1, np.int64), shape, plant, waves, np.zeros(1, np.uint8), np.zeros((1, 3, 3), f), np.zeros(4)
    )
    return sway, np.concatenate([rng.normal(size=(3, 3)) + 2 * np.eye(3), rng.normal(size=(3, 1))], 1)


@pytest.mark.parametrize("seed", range(4))
def test_a_point_of_a_plant_placed_anyhow_moves_as_fast_as_its_place_changes(seed: int) -> None:
    """Against the change of A·bent(p) + b in a millisecond, to a thousandth; turned, sheared and mirrored copies."""
    sway, matrix = swaying(seed)
    placed = PlacedCopies(
        np.zeros(1, np.int64),
        np.ones(1, np.int32),
        np.ones(1, np.int32),
        matrix.T.reshape(1, 12).astype(f),
        np.zeros((0, 12), f),
    )
    matrix, rng = matrix.astype(f).astype(float), np.random.default_rng(seed)
    n = 6
    rows, points, towards, wanted = np.zeros((n, 3)), np.zeros((n, 3)), rng.normal(size=(n, 3)), np.zeros(n)
    for i in range(n):
        time, upright = 2.0 + 0.7 * i, rng.uniform([-0.3, -0.3, 0.3], [0.3, 0.3, 1.6])
        tips = [in_python(tip_at)(sway.shapes[0], sway.plants[0], sway.waves, time + d) for d in (-1e-3, 0.0, 1e-3)]
        before, now, after = (np.array(in_python(bent)(sway.shapes[0], tip, *upright)) for tip in tips)
        rows[i, 2], points[i] = time, matrix[:, :3] @ now + matrix[:, 3]
        wanted[i] = towards[i] @ matrix[:, :3] @ (after - before) / 2e-3
    out = np.zeros(n)
    in_python(sway_rates)(sway, placed, rows, points, towards, out)
    np.testing.assert_allclose(out, wanted, rtol=3e-3, atol=1e-3)
    assert np.abs(out).max() > 0.05


def test_tips_that_were_asked_for_are_known_until_another_takes_their_place() -> None:
    """Eight are kept, by the plant's number; a moment later, or for another plant, they are found anew."""
    from tussock.trace.triangles import Corners

    one, _ = swaying(0)
    many = one._replace(plants=np.repeat(one.plants, 17, 0))
    many.plants[:, 2] = np.linspace(0.05, 0.4, 17)
    many = many._replace(moment=np.array([3.0, 0.5, 2.0, 0.0]), leaves=np.zeros(3, np.uint8))
    corners, known = Corners(0.1, 0.0, 1.6, -0.1, 0.1, 0.9, 0.0, -0.1, 0.3), np.full(KNOWN, -1.0)
    for copy, time in ((0, 0.0), (8, 0.0), (0, 0.0), (16, 1.0), (16, 0.5), (7, 0.5), (15, 0.5), (7, 0.5)):
        got = in_python(swayed)(many, 0, copy, f(time), corners, 1, known)
        tip = in_python(tip_at)(many.shapes[0], many.plants[copy], many.waves, 3.0 + 0.5 * time)
        wanted = [
            x for at in (corners[:3], corners[3:6], corners[6:]) for x in in_python(bent)(many.shapes[0], tip, *at)
        ]
        assert tuple(got) == pytest.approx(wanted, abs=1e-9)
        k = copy % 8 * 5
        assert (
            known[k] == copy
            and known[k + 1] == 3.0 + 0.5 * time
            and known[k + 2 : k + 5].tolist() == pytest.approx(list(tip))
        )
    assert isinstance(tip, Tip)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_transforms_and_normals_of_copies(steps: int) -> None:
    """In a straight line from one time step to the next; normals by the cofactors, outwards also where a copy is mirrored."""
    rng = np.random.default_rng(steps)
    matrices = rng.normal(size=(steps, 3, 4, 3)) + 2 * np.eye(4)[:, :3]
    matrices[:, 1, 0] *= -1
    table, none = matrices.reshape(-1, 12).astype(f), np.zeros((0, 12), f)
    placed = PlacedCopies(
        np.array([9, 0]),
        np.array([1, steps], np.int32),
        np.array([1, 3], np.int32),
        table if steps == 1 else none,
        table if steps > 1 else none,
    )
    matrices = table.reshape(steps, 3, 4, 3).astype(float)
    normal, point = rng.normal(size=3), rng.normal(size=3)
    for copy in range(3):
        for time in (0.0, 0.2, 0.5, 0.99, 1.0):
            low = max(min(int(time * (steps - 1)), steps - 2), 0)
            share = time * (steps - 1) - low
            m = matrices[low, copy] * (1 - share) + (matrices[low + 1, copy] * share if steps > 1 else 0)
            turn = in_python(transform_of)(placed, 1, copy, f(time))
            np.testing.assert_allclose(np.array(turn).reshape(4, 3), m, atol=2e-6)
            np.testing.assert_allclose(in_python(apply_transform)(turn, *point), m[:3].T @ point + m[3], atol=1e-5)
            side = np.sign(np.linalg.det(m[:3]))
            assert in_python(mirrored_side)(turn) == side and isinstance(turn, Transform)
            cofactors = np.linalg.det(m[:3]) * np.linalg.inv(m[:3].T).T
            found = in_python(world_normal)(placed, 1, copy, f(time), *map(f, normal))
            np.testing.assert_allclose(found, side * cofactors @ normal, rtol=2e-3, atol=2e-4)


def test_a_shape_far_from_its_own_zero_is_laid_down_about_its_root() -> None:
    """A kilometre up in its own coordinates, and placed a kilometre down: a half of 2 m is left above z = 3."""
    post = box((0.2, 0.2, 2.0))
    high = Mesh((post.vertices + np.array([0, 0, 1001.0])).astype(f), post.triangles, post.materials)
    scene = Scene()
    scene.add(ground((4, 4), cells=(2, 2)), name="ground")
    scene.add(high, name="posts", placements=Placements.of([[0.0, 0, -997.0], [9.0, 0, -997.0]]))
    world = World(scene)
    rows = world.still.tables.placed.standing
    np.testing.assert_allclose(rows[:, 11], 4.0)
    world.lay_down(scene["posts"].id, np.array([0]), np.array([0.5]))
    np.testing.assert_allclose(rows[:, 8], [0.5, 1.0])
    # The root is z = 0 of the shape, a kilometre below it.
    assert root_of(high)[0] == 0.0
    np.testing.assert_allclose(rows[:, 11], [4.0 - 0.5 * 1001, 4.0])
