"""Surfaces within rounding of each other along a ray: our own arithmetic says which is in front."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tussock.kernels import kernel
from tussock.rebound import in_python
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import card, ground, plane
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.trace.cut_outs.filter import NOTING
from tussock.trace.embree import Device, host_isas
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet
from tussock.trace.ray import Ray
from tussock.trace.rays import trace_rays
from tussock.trace.rounding import ties
from tussock.trace.surroundings import trace_surfaces
from tussock.trace.world import World

f = np.float32
BEST = host_isas()[-1] if host_isas() else ""


@kernel
def _trace(around: Any, packet: Any) -> None:
    trace_surfaces(around, packet)


def met(world: World, rays: list[Ray]) -> list[int]:
    """Which object each of sixteen rays meets, −1 for none."""
    packet = new_packet()
    for l in range(LANES):
        load_ray(packet, l, Ray(*map(np.float32, rays[l % len(rays)])), NOTHING)
    _trace(world.still.surroundings, packet)
    return [int(np.int32(np.uint32(hit_at(packet, l).geometry))) for l in range(LANES)]


def downwards(height: float = 20.0) -> list[Ray]:
    way = -np.sign(height)
    return [Ray(0.05 * l - 0.37, 0.21, height, 0.0, 0.0, way, 0.0, 100.0, 0.0) for l in range(LANES)]


def layers(heights: list[float], *, copies: bool) -> Scene:
    scene = Scene()
    for k, height in enumerate(heights):
        places = [[0.0, 0.0, height]] + [[50.0, 0.0, 0.0]] * copies
        scene.add(plane((4, 4)), name=str(k), placements=Placements.of(places))
    return scene


@pytest.mark.parametrize("isa", host_isas())
@pytest.mark.parametrize("copies", [False, True], ids=["once", "as copies"])
@pytest.mark.parametrize("heights", [[0.0, 1e-9], [1e-9, 0.0], [0.0, -1e-9, 1e-9, 1e-8, -1e-8], [0.0, 1e-9, 1.0]])
def test_the_nearer_of_two_layers_is_met(heights: list[float], copies: bool, isa: str) -> None:
    """A step of single precision is 2 µm at 20 m: to Embree they are as far."""
    world = World(layers(heights, copies=copies), device=Device(isa, "own"))
    assert met(world, downwards()) == [int(np.argmax(heights))] * LANES
    assert met(world, downwards(-20.0)) == [int(np.argmin(heights))] * LANES


@pytest.mark.parametrize("isa", host_isas())
def test_of_two_in_the_same_place_the_first_is_met(isa: str) -> None:
    assert met(World(layers([0.0] * 3, copies=False), device=Device(isa, "own")), downwards()) == [0] * LANES


@pytest.mark.parametrize("isa", host_isas())
def test_what_is_cut_out_is_not_in_front(isa: str) -> None:
    hole = np.full((4, 4, 4), 255, np.uint8)
    hole[:, :, 3] = 0
    scene = Scene()
    scene.add(plane((9, 9)), name="floor", position=(0, 0, -1))
    for k, texture in enumerate((Texture(hole), Texture(np.full((4, 4, 4), 255, np.uint8)))):
        shape = card((4, 4), material=Material(name=f"leaf {k}", texture=texture))
        scene.add(shape, name=str(k), position=(0, -1e-9 * (2 - k), 0))
    rays = [Ray(0.05 * l - 0.37, -20.0, 1.1, 0.0, 1.0, 0.0, 0.0, 100.0, 0.0) for l in range(LANES)]
    assert met(World(scene, device=Device(isa, "own")), rays) == [2] * LANES


def crossing(copies: int) -> tuple[Scene, np.ndarray, np.ndarray]:
    """Leaves that cross, and rays aimed at where they do."""
    draw = np.random.default_rng(3)
    leaf = Mesh(np.array([[-0.1, 0, 0], [0.1, 0, 0], [0.0, 0, 0.25]], np.float32), np.array([[0, 1, 2]], np.uint32))
    places = draw.uniform(-2, 2, (copies, 3)) * [1, 1, 0.05] + [0, 0, 1]
    turned = Placements.of(places, yaw=draw.uniform(0, 6, copies))
    # Each leaf has another in the same place, turned about the upright line through both.
    scene = Scene()
    scene.add(leaf, placements=turned)
    scene.add(leaf, placements=Placements.of(places, yaw=draw.uniform(0, 6, copies)))
    scene.add(ground((20, 20), cells=(4, 4)))
    middle = places + np.array([0, 0, 0.05])
    eye = np.array([0.3, -12.1, 2.7])
    way = np.repeat(middle, 10, 0) + np.outer(draw.uniform(0, 0.1, 10 * copies), [0, 0, 1.0]) - eye
    return scene, np.broadcast_to(eye, way.shape), way / np.linalg.norm(way, axis=1, keepdims=True)


@pytest.mark.parametrize("isa", [isa for isa in host_isas() if isa != BEST])
def test_leaves_that_cross_look_the_same(isa: str) -> None:
    scene, start, way = crossing(3000)
    one, other = (
        trace_rays(World(scene, device=Device(name, "own")), start, way, 60.0, threads=1) for name in (isa, BEST)
    )
    assert np.array_equal(one, other, equal_nan=True)
    assert (one < 20).mean() > 0.9


def test_nothing_is_noted_unasked() -> None:
    scene = layers([0.0, 1e-9], copies=True)
    assert World(scene, device=Device(edges="embree")).still.tables.known[NOTING] == 0
    assert World(scene, device=Device(edges="own")).still.tables.known[NOTING] != 0


def test_how_far_beyond_a_triangle_another_may_be_in_front() -> None:
    """κ = 64·2⁻²⁴·(2|o| + |o'|/|d'| + t)/cos θ, a centimetre at most; the fourth of five rays."""
    count, i = 5, 3
    for start, o, d, n, t in (
        (30.0, (3, 4, 12), (0, 0, -2), (0, 0, 3), 7.0), (3.0, (1, -2, 2), (1, 2, -2), (0.3, 0.4, -1.2), 20.0),
        (5.0, (1, 2, 3), (1, 0, 0), (1e-3, 1, 0), 4.0), (5.0, (1, 2, 3), (1, 0, 0), (1e-4, 1, 0), 4.0),
    ):  # fmt: skip
        ray, normal = np.full(9 * count, 77, f), np.full(3 * count, 77, f)
        for k in range(3):
            ray[k * count + i], ray[(4 + k) * count + i], normal[k * count + i] = o[k], d[k], n[k]
        ray[8 * count + i] = t
        long, cosine = np.linalg.norm(d), abs(np.dot(d, n)) / np.linalg.norm(d) / np.linalg.norm(n)
        wanted = (
            min(64 * 2.0**-24 * (2 * start + np.linalg.norm(o) / long + t) / cosine, 0.01) if cosine > 1e-3 else 0.01
        )
        assert in_python(ties._beyond)(ray, normal, count, i, f(start)) == pytest.approx(wanted, rel=1e-5)


def noted(distances: list[float], end: float = np.inf) -> tuple[Any, list[int]]:
    """Notes of lane 3 after triangles at some distances, and the slot of each."""
    words_ = np.zeros(ties._WORDS, np.uint32)
    notes, slots = ties.Notes(words_, words_.view(f)), []
    in_python(ties.begin_notes)(notes, 3, f(1))
    notes.numbers[ties._END + 3] = end
    for distance in distances:
        slot = int(in_python(ties._slot_for)(notes, 3, f(distance)))
        slots.append(slot)
        if slot >= 0:
            notes.numbers[ties._FIRST + slot * ties._NEXT + 3] = distance
    return notes, slots


def test_eight_triangles_are_noted_and_the_furthest_gives_way() -> None:
    notes, slots = noted([5, 9, 3, 7, 8, 2, 4, 6, 1, 8.5, 8, 7.5])
    assert slots == [0, 1, 2, 3, 4, 5, 6, 7, 1, -1, -1, 4]
    assert in_python(ties.noted_of)(notes, 3) == 8 and in_python(ties.noted_of)(notes, 2) == 0
    notes, slots = noted([5, 9, 3], end=6.0)
    assert slots == [0, 1, 1], "what is no longer within reach of the nearest gives way at once"
    assert noted([5, 6, 3], end=6.0)[1] == [0, 1, 2]


def test_of_triangles_as_far_that_of_the_lower_numbers_comes_first() -> None:
    """Instance, geometry, copy, primitive, in that order. What is beyond the end, or struck off, has no primitive."""
    notes, _ = noted([1, 2, 3], end=2.0)
    at = ties._FIRST + 3

    def put(slot: int, geometry: int, primitive: int, instance: int, copy: int) -> None:
        for k, number in enumerate((geometry, primitive, instance, copy), 1):
            notes.bits[at + slot * ties._NEXT + k * 16] = number

    first = in_python(ties.comes_first)
    for lower, higher in (
        ((9, 9, 1, 9), (1, 1, 2, 1)),
        ((1, 9, 5, 9), (2, 1, 5, 1)),
        ((2, 9, 5, 1), (2, 1, 5, 2)),
        ((2, 1, 5, 3), (2, 4, 5, 3)),
    ):
        put(0, *lower)
        put(1, *higher)
        assert first(notes, 0, 1, 3) and not first(notes, 1, 0, 3) and not first(notes, 0, 0, 3)
    put(2, 4, 5, 6, 7)
    assert tuple(map(int, in_python(ties.note_at)(notes, 1, 3))) == (2, 4, 5, 3)
    assert tuple(map(int, in_python(ties.note_at)(notes, 2, 3))) == (4, 0xFFFFFFFF, 6, 7)
    in_python(ties.take)(notes, 1, 3)
    in_python(ties.strike_taken)(notes, 3)
    assert (
        int(in_python(ties.note_at)(notes, 1, 3).primitive) == 0xFFFFFFFF
        and int(in_python(ties.note_at)(notes, 0, 3).primitive) == 1
    )
    in_python(ties.strike_taken)(notes, 2)  # nothing is noted there
    assert not notes.bits[ties._FIRST + 2 * 16 + 2]
