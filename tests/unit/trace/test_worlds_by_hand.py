"""What a world says of its things: laid down, alone, between two times, trailed by dust, mirrored, and what they are made of.

These are `tussock.trace.world`, `tussock.trace.material_numbers`, `tussock.trace.transforms` and `tussock.trace.cuda.trees`.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_ties import _trace

from tussock.air.weather import Weather
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.forms import Forms
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.stems import Stem
from tussock.scene.wind import Wind
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.embree import Device
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet
from tussock.trace.ray import Ray
from tussock.trace.transforms import column_major, origin_of, time_steps
from tussock.trace.world import SEEN_BY_ALL, Moving, World, _mask_bits

POST = box((0.2, 0.2, 2.0))
"""about its middle: from −1 to 1 m"""


def first(moving: Moving, *rays: tuple[float, ...], time: float = 0.0) -> list[tuple[int, int, float]]:
    """Geometry, copy and range of what rays (start and direction) meet; −1 for nothing."""
    packet = new_packet()
    for l in range(LANES):
        load_ray(packet, l, Ray(*map(np.float32, (*rays[l % len(rays)], 0.0, 100.0, time))), NOTHING)
    _trace(moving.surroundings, packet)
    hits = [hit_at(packet, l) for l in range(len(rays))]
    return [(-1 if h.material < 0 else int(h.geometry), int(h.copy), round(float(h.distance), 4)) for h in hits]


def across(y: float, z: float) -> tuple[float, ...]:
    return -10.0, y, z, 1.0, 0.0, 0.0


@pytest.mark.parametrize("root", [-1.0, 0.0])
def test_what_is_laid_down_keeps_its_root_and_a_share_of_its_height(root: float) -> None:
    """Of three posts the second to a quarter of the height above the root: 1 m above the middle where that is the root, else 2 m.

    A post that reaches below z = 0 by no more than a tenth is rooted there; this one is further down, so at its lowest point.
    """
    scene = Scene()
    shape = POST if root == -1.0 else box((0.2, 0.2, 2.0))
    places = Placements.of([[0.0, 0, 3.0], [0.0, 5, 3.0], [0.0, 10, 3.0]], scale=2.0)
    scene.add(plane((1, 1)), name="board", placements=Placements.of([[50.0, 0, 0], [60.0, 0, 0]]))
    scene.add(shape, name="posts", placements=places)
    world = World(scene)
    heights = [1.1, 1.9, 2.1, 4.9, 5.1]  # of each post 1 to 5 m; a quarter of it: 1 to 2 m
    rays = [across(y, z) for y in (0.0, 5.0, 10.0) for z in heights]
    upright = first(world.still, *rays)
    assert [hit[0] for hit in upright] == [1, 1, 1, 1, -1] * 3
    world.lay_down(scene["posts"].id, np.array([1]), np.array([0.25]))
    laid = first(world.still, *rays)
    assert [hit[0] for hit in laid] == [1, 1, 1, 1, -1, 1, 1, -1, -1, -1, 1, 1, 1, 1, -1]
    world.lay_down(scene["posts"].id, np.array([1, 2]), np.array([0.5, 0.25]))
    assert [hit[0] for hit in first(world.still, *rays)] == [1, 1, 1, 1, -1, 1, 1, 1, -1, -1, 1, 1, -1, -1, -1]
    rows = world.still.tables.placed.standing
    np.testing.assert_allclose(rows[2:, 6:9], [[0, 0, 2], [0, 0, 1], [0, 0, 0.5]])
    np.testing.assert_allclose(rows[2:, 11], [3.0, 2.0, 1.5])
    world.laid_by = world
    world.stand_up()
    assert first(world.still, *rays) == upright and world.laid_by is None
    np.testing.assert_allclose(rows[2:, 11], 3.0)


def test_plants_that_sway_are_laid_down_by_their_share() -> None:
    scene = Scene()
    scene.add(
        box((0.2, 0.2, 2.0)), name="reed", label="grass", placements=Placements.of([[0.0, 0, 1.0], [0.0, 3, 1.0]])
    )
    stem = Stem(frequency_hz=1.1, mass_kg_m=0.01, drag_width_m=0.02, damping=0.15)
    scene.wind = Wind(speed_m_s=1.0, from_deg=250.0, gusts=0.1, seed=4, stems={"reed": stem})
    world = World(scene)
    assert world.sways
    before = world.moving(0.0, 0.1).tables.sway.plants[:, -1].copy()
    world.lay_down(scene["reed"].id, np.array([1]), np.array([0.25]))
    assert before.tolist() == [1, 1] and world.moving(0.0, 0.1).tables.sway.plants[:, -1].tolist() == [1, 0.25]
    world.stand_up()
    assert world.moving(0.0, 0.1).tables.sway.plants[:, -1].tolist() == [1, 1]


def test_tips_are_known_at_steps_of_at_most_20_ms_and_at_three() -> None:
    scene = Scene()
    scene.add(
        box((0.2, 0.2, 2.0)), name="reed", label="grass", placements=Placements.of([[0.0, 0, 1.0], [0.0, 3, 1.0]])
    )
    scene.wind = Wind(speed_m_s=3.0)
    world = World(scene)
    for end, steps in ((4.0, 3), (4.03, 3), (4.039, 3), (4.05, 4), (4.09, 6), (4.19, 11)):
        moving = world.moving(4.0, end)
        tips, moment = moving.tables.sway.tips, moving.tables.sway.moment
        assert tips.shape == (2, steps, 3) and np.isfinite(tips).all()
        assert moment[:3].tolist() == pytest.approx([4.0, end - 4.0, steps - 1])
        assert int(moment.view(np.uint64)[3]) == tips.ctypes.data
        assert moving.surroundings.moment == moment.ctypes.data


def yard() -> Scene:
    """A floor in place, three posts as copies, and a box that goes 8 m along y in a second."""
    scene = Scene()
    scene.add(plane((30, 30)), name="floor", position=(0, 0, -1))
    scene.add(POST, name="posts", placements=Placements.of([[0.0, 0, 0], [2.0, 0, 0], [4.0, 0, 0]]))
    way = Trajectory.through([0.0, 1.0], [Pose.at(6, 0, 0), Pose.at(6, 8, 0)])
    scene.add(box((1, 1, 1)), name="mover", motion=way)
    return scene


@pytest.mark.parametrize("edges", ["embree", "own"])
def test_one_copy_alone_is_all_there_is(edges: str) -> None:
    world = World(yard(), device=Device(edges=edges))
    along = (-10.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    assert first(world.moving(0.0, 0.5), along) == [(1, 0, 9.9)]
    for copy, x in enumerate(
        (0.0, 2.0, 4.0)
    ):  # only whether it is met is asked of it: its number is that of a first copy
        downwards = [(place, 0.0, 5.0, 0.0, 0.0, -1.0) for place in (0.0, 2.0, 4.0)]
        found = first(world.alone(1, copy, 0.0, 0.5), *downwards)
        assert [hit[0] for hit in found] == [1 if place == x else -1 for place in (0.0, 2.0, 4.0)]
    downwards = (0.0, 0.0, 5.0, 0.0, 0.0, -1.0)
    assert first(world.alone(0, 0, 0.0, 0.5), along, downwards) == [(-1, 0, 100.0), (0, 0, 6.0)]
    for time, y in ((0.0, 2.0), (0.5, 4.0), (1.0, 6.0)):
        at = (-10.0, y, 0.0, 1.0, 0.0, 0.0)
        assert [hit[0] for hit in first(world.alone(2, 0, 0.25, 0.75), at, along, time=time)] == [2, -1]
        assert first(world.moving(0.25, 0.75), at, time=time) == [(2, 0, 15.5)]


def test_what_changes_its_form_has_that_of_the_middle_of_a_span() -> None:
    low, high = box((1, 1, 1)), box((1, 1, 3))
    scene = Scene()
    scene.add(plane((1, 1)), name="board", position=(0, 0, -5))
    scene.add(low, name="walker", motion=Trajectory.through([0.0, 9.0], [Pose.at(5, 0, 0), Pose.at(5, 0, 0.0001)]),
              forms=Forms(np.array([0.0, 1.0, 2.0]), (low, high, low)))  # fmt: skip
    world = World(scene)
    forms = scene["walker"].forms
    for start, end in ((0.0, 0.2), (0.4, 0.8), (0.8, 1.4), (1.2, 1.8), (1.8, 2.4)):
        middle = (start + end) / 2
        assert world.formed_movers(start, end)[0].mesh is forms.at(middle)
        seen = first(world.moving(start, end), (0.0, 0.0, 1.0, 1.0, 0.0, 0.0))[0][0]
        assert seen == (1 if forms.at(middle) is high else -1)


def test_dust_is_trailed_from_where_a_thing_was_while_that_is_known() -> None:
    scene = Scene()
    scene.add(plane((30, 30)), name="floor")
    turning = Trajectory.through([1.0, 2.0], [Pose.at(6, 0, 0), Pose.at(6, 8, 0)])
    turned = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0, yaw=np.pi / 2), Pose.at(0, 0.5, 0, yaw=np.pi / 2)])
    scene.add(box((1, 1, 1)), name="mover", motion=turning)
    scene.add(box((1, 1, 1)), name="other", motion=turned)
    scene.weather = Weather(rain_mm_h=1.0)
    world = World(scene)
    places, known = world._trailed("mover")(np.array([0.5, 1.0, 1.25, 2.0, 2.5]), np.array([-1.0, 0.5, 0.25]))
    assert known.tolist() == [False, True, True, True, False]
    np.testing.assert_allclose(
        places, [[0, 0, 0], [5, 0.5, 0.25], [5, 2.5, 0.25], [5, 8.5, 0.25], [0, 0, 0]], atol=1e-6
    )
    places, known = world._trailed("other")(np.array([0.0, 1.0]), np.array([2.0, 0.0, 0.0]))
    np.testing.assert_allclose(places, [[0, 2, 0], [0, 2.5, 0]], atol=1e-6)
    assert not world._trailed("mover")(np.array([9.0]), np.zeros(3))[1].any()


def test_which_shapes_are_in_place_and_turned_inside_out() -> None:
    """Placed once, and standing; a mirrored one has its corners in reverse order."""
    scene = Scene()
    mirror = np.array([[[-1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]])
    scene.add(box((1, 1, 1)), name="plain")
    scene.add(box((1, 1, 1)), name="mirrored", placements=Placements(mirror))
    scene.add(box((1, 1, 1)), name="copies", placements=Placements(np.repeat(mirror, 2, 0)))
    scene.add(box((1, 1, 1)), name="moves", motion=Trajectory.through([0.0, 1.0], [Pose.at(0), Pose.at(1)]))
    world = World(scene)
    assert [world.baked(k) for k in range(4)] == [True, True, False, False]
    assert [world.turned(k) for k in range(4)] == [False, True, False, False]
    (_, plain), (_, mirrored) = (world.baked_mesh(scene[name]) for name in ("plain", "mirrored"))
    np.testing.assert_array_equal(mirrored, plain[:, ::-1])


def test_things_that_respond_have_a_bit_each_up_to_32() -> None:
    assert _mask_bits([7, 3]) == {7: 1, 3: 2}
    many = _mask_bits(list(range(100, 140)))
    assert len(many) == 32 and many[131] == 1 << 31 and 132 not in many
    scene = Scene()
    scene.add(box((1, 1, 1)), name="hard")
    scene.add(box((1, 1, 2)), name="soft", tags=("vegetation",), response=VegetationResponse(sigma_m=1.0))
    world = World(scene)
    assert [world.mask_of(thing) for thing in world.geometries] == [SEEN_BY_ALL, 1]


def test_materials_are_numbered_in_their_order_and_have_their_colour() -> None:
    grey = Material(name="grey", reflectance=0.5)
    leaf = Material(
        name="leaf", reflectance=0.4, specular=0.1, shininess=3.0, retro=0.2, mirror=0.3, transmission=0.05, refractive_index=1.3,
        film=0.6, film_gloss=0.7, leaf_transmission=0.04,
    )  # fmt: skip
    scene = Scene()
    scene.add(box((1, 1, 1), material=grey), name="one")
    scene.add(box((1, 1, 2), material=leaf), name="two", position=(3, 0, 0))
    scene.add(box((1, 1, 3), material=grey), name="three", position=(6, 0, 0))
    world = World(scene)
    tables = world.still.tables
    assert tables.geometry_material.tolist() == [0, 1, 0]
    np.testing.assert_allclose(tables.optics[1], [0.4, 0.1, 3.0, 0.2, 0.3, 0.05, 1.3, 0.6, 0.7, 0.04])
    assert world.optics_at(1550.0) is tables.optics, "without spectra light of every colour is the same"
    assert (tables.shines, tables.bends, tables.leaves) == (True, True, True)
    plain = Scene()
    plain.add(box((1, 1, 1), material=grey), name="one")
    known = World(plain).still.tables
    assert (known.shines, known.bends, known.leaves) == (False, False, False)


def test_the_zero_of_a_scene_is_in_the_middle_of_all_of_it() -> None:
    """By whole metres, along axes that are more than 100 m off; what stands a thousand kilometres further off is elsewhere."""
    scene = Scene()
    scene.add(box((2, 2, 2)), name="one", position=(201, -299, 50))
    scene.add(box((4, 2, 2)), name="other", position=(402, -101, 52))
    assert origin_of(scene).tolist() == [302, -200, 0]
    far = Scene()
    far.add(box((2, 2, 2)), name="here")
    far.add(box((2, 2, 2)), name="there", position=(0, 1_999_900, 0))
    assert origin_of(far).tolist() == [0, 999_950, 0]
    far.add(box((2, 2, 2)), name="yonder", position=(0, 2_000_200, 0))
    with pytest.raises(
        InputError, match=r"'(here|yonder)': must lie within 1e\+06 m of the middle of the scene, got '1000100 m'"
    ):
        origin_of(far)


def test_time_steps_are_poses_of_the_path_and_as_many_as_it_bends() -> None:
    """A straight way has two; each is the pose of its moment, times the placement, counted from the origin."""
    scene = Scene()
    places = Placements.of([[1.0, 0, 0], [0, 2.0, 0]], yaw=np.array([0.5, 1.0]), scale=np.array([1.0, 2.0]))
    ways = {
        "straight": Trajectory.through([0.0, 2.0], [Pose.at(0, 0, 0), Pose.at(4, 2, 0)]),
        "turning": Trajectory.through([0.0, 2.0], [Pose.at(0, 0, 0), Pose.at(4, 2, 0, yaw=0.4)]),
    }
    for name, way in ways.items():
        scene.add(box((1, 1, 1)), name=name, motion=way, placements=places)
        steps = time_steps(scene[name], 0.5, 1.5, np.array([10.0, 0, 0]))
        assert steps.shape[1:] == (2, 12) and (len(steps) == 2) == (name == "straight")
        for row, time in zip(steps, np.linspace(0.5, 1.5, len(steps)), strict=True):
            pose = way.matrices(np.array([time]))[0]
            whole = pose[:, :3] @ places.matrices
            whole[:, :, 3] += pose[:, 3] - [10, 0, 0]
            np.testing.assert_allclose(row, column_major(whole), atol=1e-6)
        between = np.linspace(0.5, 1.5, 400)
        corner = np.array([0.5, 0.5, 0.5, 1.0])
        exact = np.array([way.matrices(np.array([t]))[0] @ np.append(places.matrices[1] @ corner, 1) for t in between])
        at = (between - 0.5) * (len(steps) - 1)
        low = np.minimum(at.astype(int), len(steps) - 2)
        mixed = steps[low, 1] * (1 - (at - low))[:, None] + steps[low + 1, 1] * (at - low)[:, None]
        found = (mixed.reshape(-1, 4, 3) * corner[None, :, None]).sum(1) + np.array([10, 0, 0])
        assert np.abs(found - exact).max() < 2e-4


def test_rows_of_what_moves_follow_each_other() -> None:
    """Of a graphics processor's trees: first row, steps and copies of each; what stands has the inverse of its turn and its place."""
    scene = Scene()
    turning = Trajectory.through([0.0, 2.0], [Pose.at(0, 0, 0), Pose.at(4, 2, 0, yaw=2.0)])
    straight = Trajectory.through([0.0, 2.0], [Pose.at(0, 9, 0), Pose.at(4, 12, 0)])
    copies = Placements.of([[1.0, 0, 0], [0, 2.0, 0], [3.0, 3, 3]])
    scene.add(
        box((1, 1, 1)),
        name="stands",
        placements=Placements.of([[20.0, 0, 0], [30.0, 1, 2]], yaw=np.array([0.3, 0.7]), scale=2.0),
    )
    for name, way in (("one", turning), ("two", straight), ("three", turning)):
        scene.add(box((1, 1, 1)), name=name, motion=way, placements=copies)
    world = World(scene)
    trees, known = WorldTrees(world), world.moving(0.0, 2.0).tables.placed
    moving = trees.moving(0.0, 2.0)
    assert moving is not None
    np.testing.assert_array_equal(moving.moving, known.moving)
    for row in moving.placement_ids:
        geometry, copy = int(row[13]), int(row[14])
        assert row[0] == known.first[geometry] + copy and row[1] == known.steps[geometry] and row[2] == 3
        assert np.int32(row[15]).view(np.uint32) == SEEN_BY_ALL
    assert sorted((int(row[13]), int(row[14])) for row in moving.placement_ids) == [
        (g, c) for g in (1, 2, 3) for c in range(3)
    ]
    for row, ids in zip(trees.standing.placements, trees.standing.placement_ids, strict=True):
        matrix = scene["stands"].placements.matrices[ids[14]]
        np.testing.assert_allclose(row[:9].reshape(3, 3), np.linalg.inv(matrix[:, :3]), atol=1e-6)
        np.testing.assert_allclose(row[9:12], matrix[:, 3])
    assert trees.moving(0.0, 2.0) is not None
    plain = Scene()
    plain.add(box((1, 1, 1)))
    assert WorldTrees(World(plain)).moving(0.0, 1.0) is None
