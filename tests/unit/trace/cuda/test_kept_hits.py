"""Hits that were traced beforehand, and what a walk came to: each is put down and taken up again as it was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.poses import Pose, Trajectory
from tussock.rebound import in_python
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene
from tussock.trace.cuda import packets
from tussock.trace.cuda.packets import (
    LEAVES,
    NOTHING,
    Traced,
    empty_hit,
    empty_lane,
    hit_at,
    is_hit,
    keep_behind,
    keep_hit,
    load_ray,
    new_packet,
    ray_at,
    resolve,
    say_close,
    set_hit,
    take_hit,
    take_sub_ray,
    trace_onward,
    trace_sub_ray,
    was_stopped,
)
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.ray import Hit, Ray
from tussock.trace.world import World

f = np.float32
RAY = Ray(*map(f, (1, 2, 3, 0.6, 0, -0.8, 0.25, 40, 0.5)))


def hit_of(number: int) -> Hit:
    """A hit whose every number is its own."""
    numbers = (100 * number + k for k in range(9))
    return Hit(*(f(next(numbers)) for _ in range(6)), *(np.uint32(next(numbers)) for _ in range(3)), np.int32(3))


def tables(bends: bool = False) -> Any:
    return SimpleNamespace(geometry_material=np.full(1000, 3, np.int32), primitives=np.zeros(0, np.uint16), bends=bends)


def traced() -> Traced:
    """Room for three sub-rays, two of which go through leaves, of five pulses."""
    return Traced(
        np.full((6, 3, 5), -7, f), np.full((3, 3, 5), 7, np.uint32), np.full((6, 2 * LEAVES, 5), -7, f),
        np.full((3, 2 * LEAVES, 5), 7, np.uint32), np.zeros(0, np.uint8),
    )  # fmt: skip


def test_a_packet_of_one_ray_begins_with_nothing_and_forgets_what_it_met() -> None:
    packet = new_packet()
    assert not is_hit(packet, 0) and not packet.numbers.any() and packet.bits.tolist() == [0, NOTHING, 0, 0]
    assert packet.masks.tolist() == [NOTHING] and packet.materials.tolist() == [-1]
    in_python(set_hit)(packet, 0, hit_of(2))
    assert in_python(hit_at)(packet, 0) == hit_of(2) and in_python(is_hit)(packet, 0)
    in_python(load_ray)(packet, 0, RAY, np.uint32(5))
    assert in_python(ray_at)(packet, 0) == RAY
    assert packet.bits.tolist() == [5, NOTHING, 207, 0] and not in_python(is_hit)(packet, 0)
    in_python(say_close)(packet, True)
    assert not in_python(was_stopped)(packet, 0)
    in_python(empty_lane)(packet, 0)
    assert in_python(was_stopped)(packet, 0) and in_python(ray_at)(packet, 0).far == -1.0
    in_python(set_hit)(packet, 0, hit_of(4))
    in_python(empty_hit)(packet, RAY)
    assert in_python(hit_at)(packet, 0)[:9] == (40, 0, 0, 0, 0, 0, NOTHING, 0, 0)
    assert packet.bits[0] == NOTHING


def test_what_was_not_met_has_no_normal_and_no_material() -> None:
    packet = new_packet()
    in_python(set_hit)(packet, 0, hit_of(2)._replace(geometry=NOTHING))
    in_python(resolve)(tables(), packet)
    assert in_python(hit_at)(packet, 0)[1:4] == (0, 0, 0) and packet.materials[0] == -1
    in_python(set_hit)(packet, 0, hit_of(2)._replace(material=np.int32(-1)))
    in_python(resolve)(tables(), packet)
    assert in_python(hit_at)(packet, 0) == hit_of(2)


def test_hits_are_kept_each_in_its_row_and_column() -> None:
    """Six numbers and three ids, of sub-ray k of the pulse in column 3, and of the i-th behind leaves."""
    room, packet = traced(), new_packet()
    for number, keep, rows, ids in (
        (1, keep_hit, room.numbers, room.ids), (2, keep_behind, room.behind, room.behind_ids),
    ):  # fmt: skip
        in_python(set_hit)(packet, 0, hit_of(number))
        in_python(keep)(packet, room, 1, 3)
        assert rows[:, 1, 3].tolist() == [100 * number + k for k in range(6)]
        assert ids[:, 1, 3].tolist() == [100 * number + k for k in range(6, 9)]
        assert (rows != -7).sum() == 6 and (ids != 7).sum() == 3


@pytest.mark.parametrize("take", [take_sub_ray, trace_sub_ray])
def test_a_sub_ray_takes_up_what_was_kept_for_it(take: Any) -> None:
    """The pulses of a sensor begin at a column of their own: pulse 1 of a sensor whose first is in column 2."""
    room, packet = traced(), new_packet()
    in_python(set_hit)(packet, 0, hit_of(3))
    in_python(keep_hit)(packet, room, 2, 3)
    around = SimpleNamespace(standing=SimpleNamespace(traced=room, first=2), tables=tables())
    fresh = new_packet()
    in_python(load_ray)(fresh, 0, RAY, NOTHING)
    in_python(take)(around, fresh, 1, 2)
    assert in_python(hit_at)(fresh, 0)[:9] == hit_of(3)[:9]
    assert fresh.materials[0] == (3 if take is trace_sub_ray else -1)
    assert in_python(ray_at)(fresh, 0)[:7] == RAY[:7]


@pytest.mark.parametrize(("leaf", "rounds", "bends", "kept"), [
    (True, 0, False, True), (True, 1, False, True), (True, 2, False, False), (True, 0, True, True), (True, 1, True, False),
    (False, 0, False, False), (False, 1, True, False),
])  # fmt: skip
def test_the_first_two_behind_leaves_were_traced_beforehand(
    leaf: bool, rounds: int, bends: bool, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 2·i + rounds; where light bends, only the first round is surely that of the leaf. All else is traced now."""
    room, packet = traced(), new_packet()
    for row in range(4):
        in_python(set_hit)(packet, 0, hit_of(row))
        in_python(keep_behind)(packet, room, row, 4)
    around = SimpleNamespace(standing=SimpleNamespace(traced=room, first=1), tables=tables(bends))
    now = []
    given = dict(trace_onward.py_func.__globals__)
    trace = type(trace_onward.py_func)(
        trace_onward.py_func.__code__,
        given | {
            "find_surfaces": lambda around, packet: now.append(1), "_take": in_python(packets._take),
            "resolve": in_python(resolve),
        },
    )  # fmt: skip
    fresh = new_packet()
    in_python(set_hit)(fresh, 0, hit_of(8))
    trace(around, fresh, 3, 1, rounds, leaf)
    assert len(now) == (not kept)
    assert in_python(hit_at)(fresh, 0)[:9] == hit_of(2 + rounds if kept else 8)[:9]
    assert fresh.materials[0] == 3


def test_what_a_walk_came_to_is_named_and_met() -> None:
    """Of two floors as copies the second, at z = −2: geometry 0, copy 1; the same again among what moves; −1 for nothing."""
    scene = Scene()
    scene.add(plane((99, 99)), placements=Placements.of([[40.0, 0.0, 0.0], [0.0, 0.0, -2.0]]))
    world = World(scene)
    trees, known = WorldTrees(world).standing, world.still.tables
    copy = int(np.flatnonzero(trees.placement_ids[:, 14] == 1)[0])
    other = trees._replace(placement_ids=trees.placement_ids + np.array([0] * 14 + [5, 0], np.int32))
    for moves, ids in ((0, trees), (1, other)):
        for triangle in range(2):
            packet = new_packet()
            in_python(load_ray)(packet, 0, RAY, NOTHING)
            standing, moving = (trees, other._replace(triangles=trees.triangles))
            if moves:
                known_now = known._replace(
                    placed=known.placed._replace(standing=np.repeat(known.placed.standing[1:], 9, 0))
                )
            else:
                known_now = known
            in_python(take_hit)(standing, moving, known_now, packet, copy, triangle, moves)
            hit = in_python(hit_at)(packet, 0)
            assert (hit.geometry, hit.copy) == (0, 6 if moves else 1)
            assert hit.primitive == ids.triangle_ids[triangle, 9]
            assert hit.distance == pytest.approx(5 / 0.8, rel=1e-6)
            assert abs(hit.nz) == pytest.approx(99 * 99) and (hit.nx, hit.ny) == (0, 0)
    packet = new_packet()
    in_python(load_ray)(packet, 0, RAY, NOTHING)
    in_python(take_hit)(trees, trees, known, packet, -1, 0, 0)
    assert not in_python(is_hit)(packet, 0) and in_python(ray_at)(packet, 0) == RAY


def test_the_first_triangle_of_what_moves_is_met_where_it_is() -> None:
    """A leaf of one triangle that passes 2 m above a floor: met while it is there, by its own transform."""
    scene = Scene()
    scene.add(plane((99, 99)), name="floor", position=(0, 0, -2))
    leaf = Mesh(np.array([[-1, -1, 0], [1, -1, 0], [0, 2, 0]], np.float32), np.array([[0, 1, 2]], np.uint32))
    scene.add(leaf, name="leaf", motion=Trajectory.through([0.0, 1.0], [Pose.at(4, 0, 0), Pose.at(0, 0, 0.5)]))
    world = World(scene)
    trees, moving = WorldTrees(world), world.moving(0.0, 1.0)
    ways = SimpleNamespace(standing=trees.standing, moving=trees.moving(0.0, 1.0), moves=True)
    around = SimpleNamespace(standing=ways, tables=moving.tables)
    for time, distance, geometry in ((0.0, 5.0, 0), (1.0, 2.5, 1)):
        packet = new_packet()
        ray = Ray(*map(f, (0.0, 0.0, 3.0, 0, 0, -1, 0, 60, time)))
        in_python(load_ray)(packet, 0, ray, NOTHING)
        in_python(packets.trace_surfaces)(around, packet)
        hit = in_python(hit_at)(packet, 0)
        assert hit.distance == pytest.approx(distance) and hit.geometry == geometry
        assert abs(hit.nz) == pytest.approx(6 if geometry else 99 * 99) and hit.material >= 0
        in_python(load_ray)(packet, 0, ray, NOTHING)
        in_python(packets.stop_light)(around, packet)
        assert in_python(was_stopped)(packet, 0)
