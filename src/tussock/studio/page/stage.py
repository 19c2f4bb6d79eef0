"""The scene on the page: objects by their levels of detail, swapped as the eye moves.

The page's zero is a whole number of metres near the sensor's first place, because browsers compute in single precision.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.sampler import Sampler
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject
from tussock.studio.levels import ROOM, Drawn, Plot, display_color, drawn_objects, linear_bytes, turned, volume_points
from tussock.studio.page.pictured import pictured
from tussock.studio.simpler import Surface

__all__ = ["Stage"]

_SHOWN = {"flat_shading": True, "side": "double", "cast_shadow": False, "receive_shadow": False}
_WORTH_INSTANCES = 100
"""triangles of a shape from which a browser draws it quicker as instances"""
_TINTS = 2
_STRIDE_M = 4.0
"""[m] that the eye moves before plots are looked at again"""


class Stage:
    """Draws a scene at ``server.scene``, and what changes of it, object by object."""

    def __init__(self, server: Any, origin: NDArray[np.float64]) -> None:
        self._server = server
        self.origin = origin
        """[m] world coordinates of the page's zero, shape (3,)"""
        self._lock = threading.RLock()
        self._drawn: dict[str, tuple[Drawn | PlacedVolumes, Any]] = {}
        """by the object's name, with the node that all of it hangs on"""
        self._nodes: dict[tuple[str, int, bool], list[Any]] = {}
        """by object, plot and nearness"""
        self._eye = np.full(3, np.inf)
        self.visible = True
        self.room = ROOM
        """triangles that the page may have"""
        self.triangles = 0
        """on the page"""

    def show(self, scene: Scene | None, eye: NDArray[np.float64], go_on: Callable[[], bool] = lambda: True) -> None:
        """Draw what the page has not got, and take away what is gone; ``go_on`` says whether anybody still waits."""
        with self._lock:
            things = {} if scene is None else {thing.name: thing for thing in scene.everything}
            for name, (drawn, _) in list(self._drawn.items()):
                if name not in things or not _same(drawn, things[name]):
                    self._take_away(name)
            for drawn in drawn_objects(scene, self.room) if scene is not None else ():
                if not go_on():
                    return
                if drawn.thing.name not in self._drawn:
                    self._add(drawn, eye)
            for volumes in scene.volumes if scene is not None else ():
                if volumes.name not in self._drawn:
                    self._add_volumes(volumes)
            self._count(eye)

    def look_from(self, eye: NDArray[np.float64]) -> None:
        """Show what is near to an eye at a place in the world [m] finely, and the rest coarsely."""
        with self._lock:
            if np.linalg.norm(eye - self._eye) < _STRIDE_M:
                return
            self._eye = eye.copy()
            with self._server.atomic():
                for name, (drawn, _) in self._drawn.items():
                    if isinstance(drawn, Drawn) and drawn.levels == 2:
                        for plot in drawn.plots:
                            self._swap(name, drawn, plot, near=plot.near(eye))
            self._count(eye)

    def at_time(self, time: float) -> None:
        """Move what moves."""
        with self._lock:
            for drawn, root in self._drawn.values():
                if isinstance(drawn, Drawn) and drawn.thing.motion is not None:
                    pose = drawn.thing.motion.pose(time)
                    root.position = pose.position - self.origin
                    root.wxyz = np.roll(pose.quaternion, 1)

    def set_room(self, room: int) -> None:
        """Let the page have more triangles, or fewer; what is there is drawn anew by the next `show`."""
        with self._lock:
            self.room = room
            for name in list(self._drawn):
                self._take_away(name)

    def set_visible(self, visible: bool) -> None:
        with self._lock:
            self.visible = visible
            for _, root in self._drawn.values():
                root.visible = visible

    def _count(self, eye: NDArray[np.float64]) -> None:
        self.triangles = sum(drawn.triangles(eye) for drawn, _ in self._drawn.values() if isinstance(drawn, Drawn))

    def _take_away(self, name: str) -> None:
        _, root = self._drawn.pop(name)
        root.remove()
        self._nodes = {key: nodes for key, nodes in self._nodes.items() if key[0] != name}

    def _root(self, thing: SceneObject | PlacedVolumes) -> Any:
        path = f"/scene/{thing.id}-{abs(hash(thing.name)) % 10**8}"
        return self._server.scene.add_frame(path, show_axes=False, visible=self.visible)

    def _add(self, drawn: Drawn, eye: NDArray[np.float64]) -> None:
        root = self._root(drawn.thing)
        self._drawn[drawn.thing.name] = (drawn, root)
        for plot in drawn.plots:
            self._swap(drawn.thing.name, drawn, plot, near=drawn.levels == 2 and plot.near(eye))

    def _add_volumes(self, thing: PlacedVolumes) -> None:
        root = self._root(thing)
        self._drawn[thing.name] = (thing, root)
        points = (volume_points(thing) - self.origin).astype(np.float32)
        self._server.scene.add_point_cloud(
            f"{root.name}/volumes", points, (70, 120, 60), point_size=float(thing.volumes.cell) / 2,
            point_shape="square", point_shading="flat", precision="float32",
        )  # fmt: skip

    def _swap(self, name: str, drawn: Drawn, plot: Plot, *, near: bool) -> None:
        """Show one level of a plot instead of the other; a level is sent to the page when it is first seen."""
        for node in self._nodes.get((name, plot.number, not near), []):
            node.visible = False
        there = self._nodes.get((name, plot.number, near))
        if there is None:
            surfaces, matrices = drawn.shown(plot, near=near)
            root = self._drawn[name][1]
            path = f"{root.name}/{plot.number}-{'near' if near else 'far'}"
            self._nodes[name, plot.number, near] = [
                node
                for k, surface in enumerate(surfaces)
                for node in self._sent(f"{path}-{k}", drawn.thing, surface, matrices)
            ]
        else:
            for node in there:
                node.visible = True

    def _sent(self, path: str, thing: SceneObject, surface: Surface, matrices: NDArray[np.float64]) -> list[Any]:
        """Put copies of a surface on the page: as instances of one shape, or, where it is smaller than what an instance
        costs, as plain triangles."""
        material = thing.mesh.materials[surface.material]
        color = np.array(display_color(material), float)
        origin = self.origin if thing.motion is None else np.zeros(3)
        if surface.uv is not None:
            copies = turned(matrices, origin)
            return [
                self._server.scene.add_batched_meshes_trimesh(
                    path, pictured(surface, material), copies.wxyzs, copies.positions, batched_scales=copies.scales,
                    lod="off", cast_shadow=False, receive_shadow=False,
                )
            ]  # fmt: skip
        # No two plants have quite the same green.
        spread = 0.15 + material.variation
        if len(matrices) > 1 and len(surface.triangles) >= _WORTH_INSTANCES:
            copies = turned(matrices, origin)
            tint = 1 + spread * Sampler("tints of copies", 0).uniform(-0.5, 0.5, (len(matrices), 1))
            colors = linear_bytes(color * tint)
            return [
                self._server.scene.add_batched_meshes_simple(
                    path, surface.vertices, surface.triangles, copies.wxyzs, copies.positions,
                    batched_scales=copies.scales, batched_colors=colors, lod="off", **_SHOWN,
                )
            ]  # fmt: skip
        tints = np.linspace(1 - spread / 3, 1 + spread / 3, _TINTS) if len(matrices) > 1 else np.ones(1)
        return [
            self._server.scene.add_mesh_simple(
                f"{path}-{k}", *_baked(surface, matrices[k :: len(tints)], origin),
                color=tuple(np.clip(color * tint, 0, 255).astype(int).tolist()), **_SHOWN,
            )
            for k, tint in enumerate(tints)
            if len(matrices[k :: len(tints)])
        ]  # fmt: skip


def _baked(
    surface: Surface, matrices: NDArray[np.float64], origin: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Corners (n, 3) and triangles (m, 3) of all copies together."""
    shape = surface.vertices.astype(np.float64)
    corners = np.einsum("pij,vj->pvi", matrices[:, :, :3], shape) + (matrices[:, None, :, 3] - origin)
    first = np.arange(len(matrices), dtype=np.uint32)[:, None, None] * np.uint32(len(shape))
    return corners.reshape(-1, 3).astype(np.float32), (surface.triangles[None] + first).reshape(-1, 3)


def _same(drawn: Drawn | PlacedVolumes, thing: SceneObject | PlacedVolumes) -> bool:
    """Whether what is drawn of a thing still holds."""
    if isinstance(drawn, PlacedVolumes) or isinstance(thing, PlacedVolumes):
        return (
            isinstance(drawn, PlacedVolumes)
            and isinstance(thing, PlacedVolumes)
            and (drawn.volumes is thing.volumes and drawn.placements is thing.placements)
        )
    old = drawn.thing
    return old.mesh is thing.mesh and old.placements is thing.placements and old.motion is thing.motion
