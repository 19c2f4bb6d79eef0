"""A world as two levels of trees: one over all placements, and one over the triangles of every shape.

A shape is stored once, however often it is placed. A mesh that is placed once stands in the tracer's coordinates
already, as it does in Embree, so that both tracers read the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.scene.scene import SceneObject
from tussock.trace.cuda.bending import BENDS, PLANT_BOX
from tussock.trace.cuda.build import LINK0, LINK1, build_tree
from tussock.trace.cuda.cut_outs import MATERIAL, PLACE, pictures_of
from tussock.trace.cuda.walk import STACK, Trees
from tussock.trace.cut_outs.opacity import CutOuts
from tussock.trace.transforms import shared_vertices, standing_transforms, time_steps
from tussock.trace.wind.sway_geometry import Copies, box_numbers
from tussock.trace.world import SEEN_BY_ALL, World

__all__ = ["Shape", "WorldTrees", "shape_of"]

_LEAF = 4  # triangles at most in a leaf
_ROOM = 1e-6  # share of its coordinates by which a box of placements is widened: more than float32 rounds


class Shape(NamedTuple):
    """A mesh and its tree."""

    nodes: NDArray[np.float32]
    triangles: NDArray[np.float32]
    """corners one after the other, then the number of the triangle in the mesh as an int32, and what is cut out of it (rows of
    ``places`` from 1 on), shape (n, 12)"""
    places: NDArray[np.float32]
    """texture coordinates of the triangles that something is cut out of, shape (k, 6)"""
    bounds: NDArray[np.float64]
    """shape (2, 3)"""
    depth: int


class _Placed(NamedTuple):
    """Copies of a shape that are to stand in an upper tree."""

    geometry: int
    shape: int
    transforms: NDArray[np.float32] | None
    """(steps, copies, 12), column-major; None: in place"""
    mask: int
    wind: Copies | None = None
    """how they sway"""


class _Cut(NamedTuple):
    """What is cut out of a mesh."""

    places: NDArray[np.float32]
    """texture coordinates of the corners of its triangles, shape (m, 3, 2)"""
    materials: NDArray[np.int64]
    """shape (m,)"""
    cut: NDArray[np.bool_]
    """triangles that something is cut out of, shape (m,)"""


def shape_of(vertices: NDArray[Any], triangles: NDArray[Any], cut: _Cut | None = None) -> Shape:
    """The tree of a mesh."""
    corners = np.asarray(vertices, np.float32)[triangles]
    tree = build_tree(np.concatenate([corners.min(1), corners.max(1)], 1), _LEAF)
    rows = np.zeros((len(corners), 12), np.float32)
    rows[:, :9] = corners[tree.order].reshape(-1, 9)
    rows.view(np.int32)[:, 9] = tree.order
    bounds = np.stack([corners.min((0, 1)), corners.max((0, 1))]).astype(np.float64)
    places = np.zeros((0, 6), np.float32)
    if cut is not None:
        here = np.flatnonzero(cut.cut[tree.order])
        numbers = tree.order[here]
        places = cut.places[numbers].reshape(-1, 6)
        rows.view(np.int32)[here, PLACE] = np.arange(1, len(here) + 1)
        rows.view(np.int32)[here, MATERIAL] = cut.materials[numbers]
    return Shape(tree.nodes, rows, places, bounds, tree.depth)


class WorldTrees:
    """The trees of a world: what stands, built once, and what moves, over a span of time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._shapes: list[Shape] = []
        self._known: dict[int, int] = {}
        self._meshes: list[Any] = []  # kept, so that no other mesh takes the place of one in memory
        standing = [
            self._placed(number, thing, None if world.baked(number) else standing_transforms(thing, world.origin))
            for number, thing in enumerate(world.geometries)
            if thing.motion is None
        ]
        self.standing = self._trees(standing or [self._nothing()])

    def moving(self, start: float, end: float) -> Trees | None:
        """What moves between two times [s], None where nothing does."""
        world = self._world
        first = len(world.geometries) - len(movers := world.formed_movers(start, end))
        if not movers:
            return None
        placed = [
            self._placed(number, thing, time_steps(thing, start, end, world.origin))
            for number, thing in enumerate(movers, start=first)
        ]
        return self._trees(placed)

    def _nothing(self) -> _Placed:
        """A triangle that no ray sees, where a world holds nothing that stands."""
        self._shapes.append(shape_of(np.zeros((3, 3), np.float32), np.array([[0, 1, 2]])))
        return _Placed(0, len(self._shapes) - 1, None, 0)

    def _placed(self, number: int, thing: SceneObject, transforms: NDArray[np.float32] | None) -> _Placed:
        mask = self._world.mask_of(thing)
        if transforms is None:
            self._shapes.append(shape_of(*self._world.baked_mesh(thing), self._cut(thing, self._world.turned(number))))
            return _Placed(number, len(self._shapes) - 1, None, mask)
        if id(thing.mesh) not in self._known:
            self._known[id(thing.mesh)] = len(self._shapes)
            self._shapes.append(shape_of(shared_vertices(thing.mesh), thing.mesh.triangles, self._cut(thing, False)))
            self._meshes.append(thing.mesh)
        wind = self._world.copies_in_wind(number) if thing.motion is None else None
        return _Placed(number, self._known[id(thing.mesh)], transforms, mask, wind)

    def _cut(self, thing: SceneObject, turned: bool) -> _Cut | None:
        """What is cut out of an object's mesh, whose corners may be in reverse order."""
        cut_outs = self._world.cut_outs
        places = cut_outs.places(thing.mesh, turned)
        if places is None:
            return None
        materials = self._world.materials_of(thing)
        return _Cut(places, materials, cut_outs.rows[materials, 0] != 0)

    def _trees(self, placed: Sequence[_Placed]) -> Trees:
        return _trees(placed, self._shapes, self._world.cut_outs)


def _trees(placed: Sequence[_Placed], shapes: Sequence[Shape], cut_outs: CutOuts) -> Trees:
    """The upper tree over some placements, and behind it the trees of their shapes."""
    boxes = np.concatenate([_boxes_of(some, shapes[some.shape].bounds) for some in placed])
    upper = build_tree(boxes.astype(np.float32), 1)
    used = sorted({some.shape for some in placed})
    deepest = max(shapes[s].depth for s in used)
    if upper.depth + deepest + 2 > STACK:
        raise InputError(
            f"the scene's trees are {upper.depth} and {deepest} deep, a walk holds {STACK}; on='cpu' works"
        )
    roots, nodes, triangles, node_at, triangle_at = {}, [upper.nodes], [], len(upper.nodes), 0
    places, place_at = [np.zeros((0, 6), np.float32)], 0
    for s in used:
        shape = shapes[s]
        roots[s] = node_at
        nodes.append(_shifted(shape.nodes, node_at, triangle_at))
        triangles.append(_placed_elsewhere(shape.triangles, place_at) if len(shape.places) else shape.triangles)
        places.append(shape.places)
        place_at += len(shape.places)
        node_at, triangle_at = node_at + len(shape.nodes), triangle_at + len(shape.triangles)
    rows, moving = _placement_rows(placed, roots)
    return Trees.of(
        np.concatenate(nodes),
        np.concatenate(triangles),
        np.ascontiguousarray(rows[upper.order]),
        moving,
        pictures_of(cut_outs, np.concatenate(places)),
        _plant_boxes(placed),
    )


def _shifted(nodes: NDArray[np.float32], node_at: int, triangle_at: int) -> NDArray[np.float32]:
    """Nodes whose links count from other places."""
    moved = nodes.copy()
    for column in (LINK0, LINK1):
        links = moved.view(np.int32)[:, column]
        leaves = links < 0
        links[leaves] -= 8 * triangle_at  # ~(x + 8a) = ~x − 8a
        links[~leaves] += node_at
    return moved


def _placed_elsewhere(triangles: NDArray[np.float32], place_at: int) -> NDArray[np.float32]:
    """Triangles whose rows of `Pictures.places` count from another place."""
    moved = triangles.copy()
    column = moved.view(np.int32)[:, PLACE]
    column[column > 0] += place_at
    return moved


def _boxes_of(some: _Placed, bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Boxes (copies, 6) that hold every copy at every time."""
    middle, half = bounds.mean(0), (bounds[1] - bounds[0]) / 2
    if some.wind is not None:
        return some.wind.bounds[:, [0, 1, 2, 4, 5, 6]].astype(np.float64)
    if some.transforms is None:
        low, high = (middle - half)[None], (middle + half)[None]
    else:
        columns = some.transforms.astype(np.float64).reshape(*some.transforms.shape[:2], 4, 3)
        turn = np.swapaxes(columns[:, :, :3], 2, 3)
        centre = turn @ middle + columns[:, :, 3]
        reach = np.abs(turn) @ half
        low, high = (centre - reach).min(0), (centre + reach).max(0)
    room = _ROOM * (np.maximum(np.abs(low), np.abs(high)) + (high - low) + 1e-3)
    return np.concatenate([low - room, high + room], 1)


def _plant_boxes(placed: Sequence[_Placed]) -> NDArray[np.float32]:
    """`Trees.plants`."""
    bent = {some.geometry: box_numbers(some.wind) for some in placed if some.wind is not None}
    boxes = np.zeros((max(bent) + 1 if bent else 0, PLANT_BOX), np.float32)
    for geometry, box in bent.items():
        boxes[geometry] = box
    return boxes


def _placement_rows(
    placed: Sequence[_Placed], roots: dict[int, int]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The rows of `Trees.placements`, and the transforms of what moves."""
    blocks, moving, row_at = [np.zeros((0, 16), np.float32)], [np.zeros((0, 12), np.float32)], 0
    for some in placed:
        copies = 1 if some.transforms is None else some.transforms.shape[1]
        rows = np.zeros((copies, 16), np.float32)
        whole = rows.view(np.int32)
        root = roots[some.shape]
        if some.transforms is None:
            root = ~root
        elif some.wind is not None:
            root += BENDS
            rows[:, :12] = some.wind.back
        elif len(some.transforms) == 1:
            columns = some.transforms[0].reshape(copies, 4, 3)
            turn = np.swapaxes(columns[:, :3].astype(np.float64), 1, 2)
            rows[:, :9] = np.linalg.inv(turn).reshape(copies, 9)
            rows[:, 9:12] = columns[:, 3]
        else:
            whole[:, 0] = row_at + np.arange(copies)
            whole[:, 1], whole[:, 2] = len(some.transforms), copies
            moving.append(some.transforms.reshape(-1, 12))
            row_at += len(moving[-1])
        whole[:, 12], whole[:, 13], whole[:, 14] = root, some.geometry, np.arange(copies)
        whole[:, 15] = np.array(some.mask & SEEN_BY_ALL, np.uint32).view(np.int32)
        blocks.append(rows)
    return np.concatenate(blocks), np.concatenate(moving)
