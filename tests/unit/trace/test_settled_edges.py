"""Rays right at edges meet what our own arithmetic says: the next triangle, what is behind, or the one that they are inside of.

The steps are in `tussock.trace.surroundings`, `tussock.trace.packets` and `tussock.trace.rounding.edges`.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_ties import _trace

from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.trace.embree import Device, host_isas
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet, ray_at
from tussock.trace.ray import Ray
from tussock.trace.world import World

ISAS = [host_isas()[0], host_isas()[-1]] if host_isas() else []
BLADE = Mesh(np.array([[0, -0.1, 0], [0, 0.1, 0], [-0.2, 0, 0]], np.float32), np.array([[0, 1, 2]], np.uint32))
"""level, 0.02 m²; one of its edges lies along y at x = 0"""


def met(world: World, rays: list[tuple[float, ...]], idle: tuple[int, ...] = ()) -> list[tuple[int, int, int, float]]:
    """Object, copy, triangle and range of what each ray (start and direction) meets; object −1 for nothing."""
    packet = new_packet()
    for l in range(LANES):
        ray = Ray(*map(np.float32, (*rays[l % len(rays)], 0.125, 100.0, 0.0)))
        load_ray(packet, l, ray, NOTHING)
        packet.masks[l] = 0 if l in idle else NOTHING
    _trace(world.still.surroundings, packet)
    found = []
    for l in range(len(rays)):
        hit = hit_at(packet, l)
        assert ray_at(packet, l).near == 0.125, "a ray begins again where it began"
        nothing = int(hit.geometry) == int(NOTHING)
        assert nothing or l in idle or hit.material >= 0
        found.append((-1 if nothing else int(hit.geometry), int(hit.copy), int(hit.primitive), float(hit.distance)))
    assert packet.masks.tolist() == [0 if l in idle else int(NOTHING) for l in range(LANES)]
    return found


def down(x: float, y: float = 0.01, height: float = 4.0) -> tuple[float, ...]:
    return x, y, height, 0.0, 0.0, -1.0


def world_of(scene: Scene, isa: str) -> World:
    return World(scene, device=Device(isa, "own"))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("copies", [1, 2], ids=["once", "as a copy"])
@pytest.mark.parametrize("blades", [1, 3])
def test_a_blade_ends_a_band_before_its_border(blades: int, copies: int, isa: str) -> None:
    """The band is about 2⁻²⁴ of 12 m here, 0.7 µm: at the very edge rays go by, however many blades end there; 10 µm inside they do not."""
    scene = Scene()
    scene.add(plane((30, 30)), name="floor")
    for k in range(blades):
        places = Placements.of([[0.0, 0.0, 1.0 + 0.5 * k], [9.0, 9.0, 9.0]][:copies])
        scene.add(BLADE, name=f"blade {k}", placements=places)
    offs = [0.0, -1e-8, 1e-8, -1e-5, 1e-5, -0.05, 0.05, 0.0]
    found = met(world_of(scene, isa), [down(x) for x in offs], idle=(7,))
    top = (blades, 0, 0, 4.0 - 1.0 - 0.5 * (blades - 1))
    for x, (thing, copy, triangle, distance) in zip(offs[:7], found[:7], strict=True):
        if x in (-1e-5, -0.05):
            assert (thing, copy, triangle) == top[:3] and distance == pytest.approx(top[3], abs=1e-6), x
        else:
            assert (thing, copy) == (0, 0) and distance == pytest.approx(4.0, abs=1e-6), x
    assert found[7][0] == -1, "an idle lane stays as it was"


@pytest.mark.parametrize("isa", ISAS)
def test_with_nothing_behind_a_ray_at_a_border_meets_nothing(isa: str) -> None:
    scene = Scene()
    scene.add(BLADE, name="blade", position=(0, 0, 1))
    scene.add(box((0.1, 0.1, 0.1)), name="stone", position=(5, 0, 0))
    found = met(world_of(scene, isa), [down(0.0), down(-0.05), down(-1e-8)])
    assert [one[0] for one in found] == [-1, 0, -1]
    assert found[0][3] == 100.0, "and is as long as it was"


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("copies", [1, 2], ids=["once", "as a copy"])
def test_where_a_surface_goes_on_the_triangle_is_the_one_on_whose_side_the_ray_is(copies: int, isa: str) -> None:
    """Across the diagonal of a floor, by steps of a few nanometres; right on it, the same one every time."""
    scene = Scene()
    floor = plane((2, 2))
    scene.add(floor, name="floor", placements=Placements.of([[0.0, 0.0, 0.0], [40.0, 0.0, 0.0]][:copies]))
    corners = floor.vertices[floor.triangles].astype(float)
    shared = [tuple(c) for c in corners[0] if tuple(c) in {tuple(d) for d in corners[1]}]
    assert len(shared) == 2
    p, q = (np.array(end[:2]) for end in shared)
    across = np.array([-(q - p)[1], (q - p)[0]]) / np.linalg.norm(q - p)
    offs = [0.0, 2.0**-27, -(2.0**-27), 2.0**-24, -(2.0**-24), 0.01, -0.01]
    places = [p + 0.375 * (q - p) + off * across for off in offs]
    # Rays start where single precision has them: whose side that is is asked of those numbers.
    starts = np.array(places, np.float32).astype(float)
    found = met(world_of(scene, isa), [down(*place) for place in places])
    middles = corners[:, :, :2].mean(1)
    sides = [float((q - p)[0] * (place - p)[1] - (q - p)[1] * (place - p)[0]) for place in starts]
    of = [float((q - p)[0] * (m - p)[1] - (q - p)[1] * (m - p)[0]) for m in middles]
    for side, (thing, copy, triangle, distance) in zip(sides, found, strict=True):
        assert (thing, copy) == (0, 0) and distance == pytest.approx(4.0, abs=1e-6)
        if side != 0.0:
            assert triangle == int(np.argmax(np.sign(of) == np.sign(side))), side
    assert {one[2] for one in found} == {0, 1}
    assert found == met(world_of(scene, isa), [down(*place) for place in places])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("size", [1.0, 0.25])
def test_a_fold_ends_before_its_edge(size: float, isa: str) -> None:
    """A tent, closed, seen from its side: rays at its ridge go by to the wall behind it, a millimetre lower they do not.

    Nor do those that meet one of its sides where its two triangles join.
    """
    vertices = size * np.array([[-1, -1, 0], [-1, 1, 0], [1, -1, 0], [1, 1, 0], [0, -1, 1], [0, 1, 1]], np.float32)
    faces = np.array(
        [[0, 4, 5], [0, 5, 1], [2, 3, 5], [2, 5, 4], [0, 2, 4], [1, 5, 3], [0, 1, 3], [0, 3, 2]], np.uint32
    )
    scene = Scene()
    scene.add(Mesh(vertices, faces), name="tent")
    scene.add(box((0.5, 20, 20)), name="wall", position=(6.25, 0, 0))
    rays = [(-4.0, 0.21 * size, size + off, 1.0, 0.0, 0.0) for off in (0.0, -1e-3, 1e-3, -1e-8, -0.2)]
    rays.append((-4.0, 0.0, 0.5 * size, 1.0, 0.0, 0.0))
    found = met(world_of(scene, isa), rays)
    assert [one[0] for one in found] == [1, 0, 1, 1, 0, 0]
    wanted = [10.0, 3.999, 10.0, 10.0, 3.8, 4 - 0.5 * size]
    assert [one[3] for one in found] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("isa", ISAS)
def test_blades_that_lie_on_each_other_end_together(isa: str) -> None:
    """Within rounding of each other, so that all of them are noted: each is struck off where it ends."""
    scene = Scene()
    scene.add(plane((30, 30)), name="floor", position=(0, 0, -1))
    for k, height in enumerate((0.0, 2e-9, -1e-9, 1e-9)):
        scene.add(BLADE, name=f"blade {k}", placements=Placements.of([[0.0, 0.0, height], [9.0, 9.0, 9.0]]))
    rays = [down(0.0 if l % 2 else -0.02, 0.002 * l) for l in range(LANES)]
    found = met(world_of(scene, isa), rays, idle=(0,))
    assert [one[0] for one in found[1:]] == [0 if l % 2 else 2 for l in range(1, LANES)]
    assert found[0][0] == -1


@pytest.mark.parametrize("isa", ISAS)
def test_at_the_border_of_a_floor_embrees_word_is_taken(isa: str) -> None:
    """Another floor may begin there: no gap between the two."""
    scene = Scene()
    scene.add(plane((4, 4)), name="one", position=(-2, 0, 0))
    scene.add(plane((4, 4)), name="other", position=(2, 0, 0))
    scene.add(plane((30, 30)), name="cellar", position=(0, 0, -2))
    found = met(world_of(scene, isa), [down(x, 0.31) for x in (0.0, 1e-8, -1e-8, -1.0, 1.0)])
    assert {one[0] for one in found[:3]} <= {0, 1}
    assert [one[0] for one in found[3:]] == [0, 1]


def test_all_lanes_are_settled_alone() -> None:
    """Sixteen rays, every third at a border: the others keep what they met, and have the range of that."""
    scene = Scene()
    scene.add(plane((30, 30)), name="floor")
    scene.add(BLADE, name="blade", position=(0, 0, 1))
    rays = [down(0.0 if l % 3 == 0 else -0.01 * (l % 3), 0.001 * l) for l in range(LANES)]
    found = met(World(scene, device=Device(edges="own")), rays)
    assert [one[0] for one in found] == [0 if l % 3 == 0 else 1 for l in range(LANES)]
    assert [one[3] for one in found] == pytest.approx([4.0 if l % 3 == 0 else 3.0 for l in range(LANES)], abs=1e-6)
