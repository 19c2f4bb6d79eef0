"""The crossing: two roads, walls at the corners, four cars on their way.

Two lanes each way of the compass, 3.5 m wide, on asphalt with markings; pavements a kerb higher; brick walls 2.2 m
high that hide what comes from the side; a lamp post and a tree at each corner. Two cars pass on the road along x,
one along y waits at its line and then goes, one turns right. All of it happens in 12 seconds; before and after the
cars stand. A sensor stands at (−6.5, −6.5, 2.2), on the pavement.
"""

from __future__ import annotations

import numpy as np

from tussock.plants.tree import tree
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, cylinder, plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.scenes.car import car

__all__ = ["crossing"]

_LANE = 3.5
_REACH = 60.0
"""[m] from the middle to the end of a road"""
_EDGE = _LANE + 0.5
"""[m] from the middle of a road to its kerb"""


def crossing(*, seed: int = 0) -> Scene:
    """Four cars at a crossing with walls; they move from 0 s to 12 s."""
    scene = Scene("crossing")
    scene.add(plane((2 * _REACH, 2 * _REACH), material=SURFACES["asphalt"]), name="road", label="road")
    scene.add(_markings(), name="markings", label="lane-marking")
    scene.add(_pavements(), name="pavements", label="sidewalk")
    scene.add(_walls(), name="walls", label="wall")
    corners = np.array([(x, y, 0.15) for x in (-1, 1) for y in (-1, 1)], float)
    chrome = SURFACES["chrome"]
    post, arm = cylinder(0.06, 6.0, material=chrome), box((0.9, 0.25, 0.12), material=chrome)
    lamp = Mesh.joined([_at(post, (0, 0, 3.0)), _at(arm, (0.4, 0, 6.0))])
    towards = np.arctan2(-corners[:, 1], -corners[:, 0])
    scene.add(lamp, name="lamps", label="pole", placements=Placements.of(corners * [5.0, 5.0, 1], yaw=towards))
    scene.add(
        tree(height=7.0, crown_radius=2.6, triangles=40_000, seed=seed),
        name="trees",
        label="tree",
        tags=("vegetation",),
        placements=Placements.of(corners * [16.0, 13.0, 1], yaw=2.1 * np.arange(4)),
    )
    colors = {
        "red": (0.45, 0.03, 0.03),
        "white": (0.75, 0.75, 0.74),
        "blue": (0.03, 0.09, 0.35),
        "grey": (0.2, 0.2, 0.21),
    }
    bright = {"red": 0.35, "white": 0.70, "blue": 0.30, "grey": 0.25}
    for name, path in _paths().items():
        paint = Material(
            name=f"{name}-paint",
            reflectance=bright[name],
            specular=0.15,
            shininess=40.0,
            color=colors[name],
            label="car",
        )
        scene.add(car(paint), name=f"{name}-car", label="car", tags=("vehicle",), motion=path)
    return scene


def _paths() -> dict[str, Trajectory]:
    """Where the cars are when; they keep to the right."""
    lane = _LANE / 2
    return {
        "red": Trajectory.through([0, 12], [Pose.at(-52, -lane), Pose.at(56, -lane)]),
        "white": Trajectory.through([0, 12], [Pose.at(40, lane, yaw=np.pi), Pose.at(-56, lane, yaw=np.pi)]),
        "blue": _waits(lane),
        "grey": _turns_right(lane),
    }


def _waits(lane: float) -> Trajectory:
    """Comes from −y, stops at its line at 3 s, goes on at 7 s."""
    times = np.concatenate([np.linspace(0, 3, 13), np.linspace(7, 12, 21)])
    slowing = -8.0 - 18.0 * (1 - times[:13] / 3) ** 2
    starting = -8.0 + 2.2 * (times[13:] - 7) ** 2
    y = np.concatenate([slowing, starting])
    return Trajectory.through(times, [Pose.at(lane, v, yaw=np.pi / 2) for v in y])


def _turns_right(lane: float) -> Trajectory:
    """Comes from +y and leaves along −x, around the kerb, at 5 m/s."""
    radius = 4.0
    x0, y0 = -lane, lane + radius
    straight = np.linspace(y0 + 26, y0, 14)
    turn = np.linspace(0, np.pi / 2, 13)[1:]
    points = [(x0, y, -np.pi / 2) for y in straight]
    points += [(x0 - radius + radius * np.cos(a), y0 - radius * np.sin(a), -np.pi / 2 - a) for a in turn]
    end = points[-1]
    points += [(end[0] - d, end[1], -np.pi) for d in np.linspace(2, 28, 14)]
    line = np.array(points)
    way = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line[:, :2], axis=0).T))])
    return Trajectory.through(way / 5.0, [Pose.at(x, y, yaw=a) for x, y, a in line])


def _markings() -> Mesh:
    """Dashes between the lanes, and a line to stop at on each road; 4 mm above the asphalt."""
    white = SURFACES["marking"]
    dashes = [_at(plane((3.0, 0.12), material=white), (x, 0, 0.004)) for x in np.arange(9.0, _REACH, 6.0)]
    dashes.append(_at(plane((0.4, _LANE - 0.2), material=white), (_EDGE + 1.2, _LANE / 2, 0.004)))
    arm = Mesh.joined(dashes)
    return Mesh.joined([_turned(arm, quarter) for quarter in range(4)])


def _pavements() -> Mesh:
    side = _REACH - _EDGE
    slab = box((side, side, 0.15), material=SURFACES["paving"])
    return Mesh.joined(
        [_at(slab, (x * (_EDGE + side / 2), y * (_EDGE + side / 2), 0.075)) for x in (-1, 1) for y in (-1, 1)]
    )


def _walls() -> Mesh:
    """An L of wall at each corner, 4 m behind the kerb."""
    start, high, thick = _EDGE + 4.0, 2.2, 0.3
    length = _REACH - start
    brick = SURFACES["brick"]
    parts = []
    for x in (-1, 1):
        for y in (-1, 1):
            middle = start + length / 2
            parts.append(_at(box((length, thick, high), material=brick), (x * middle, y * start, high / 2 + 0.15)))
            parts.append(_at(box((thick, length, high), material=brick), (x * start, y * middle, high / 2 + 0.15)))
    return Mesh.joined(parts)


def _at(part: Mesh, by: tuple[float, float, float]) -> Mesh:
    return Mesh(part.vertices + np.asarray(by, np.float32), part.triangles, part.materials, part.triangle_materials)


def _turned(part: Mesh, quarters: int) -> Mesh:
    c, s = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters]
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], np.float32)
    return Mesh(part.vertices @ turn.T, part.triangles, part.materials, part.triangle_materials)
