"""What a click means: the point nearest to its ray, or what of the scene the ray meets; and all that is known of a point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look
from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.return_modes import KINDS
from tussock.trace.world import World

__all__ = ["Met", "met_along", "nearest_point", "point_facts"]

_EYE = Camera(name="click", width=1, height=1, lens=Pinhole(horizontal_fov_deg=1.0), samples=1, max_range_m=5000.0)
_WIDEST = np.deg2rad(1.5)
"""[rad] between a click and a point that is still meant"""


def nearest_point(points: NDArray[np.floating[Any]], origin: ArrayLike, direction: ArrayLike) -> int | None:
    """Which of the points (n, 3) a ray passes closest to, by angle; of several in the same place the nearest.

    None where none lies within a degree and a half.
    """
    start, along = np.asarray(origin, float), np.asarray(direction, float)
    along = along / np.linalg.norm(along)
    off = np.asarray(points, float) - start
    depth = off @ along
    aside = np.linalg.norm(off - depth[:, None] * along, axis=1)
    angle = np.where(depth > 1e-6, np.arctan2(aside, np.maximum(depth, 1e-6)), np.inf)
    if not len(angle) or angle.min() > _WIDEST:
        return None
    # Points that a hand cannot tell apart: the one in front is meant.
    close = np.flatnonzero(angle <= angle.min() + 1e-3)
    return int(close[np.argmin(depth[close])])


class Met(NamedTuple):
    """What a ray meets first."""

    place: NDArray[np.float64]
    """[m], world, shape (3,)"""
    object_id: int
    copy: int
    """which of the object's placements"""


def met_along(world: World, origin: ArrayLike, direction: ArrayLike, time: float = 0.0) -> Met | None:
    """What lies along a ray in the world [m]; None where nothing does. Exact: by the simulator's own shapes."""
    start, along = np.asarray(origin, float), np.asarray(direction, float)
    along = along / np.linalg.norm(along)
    yaw, pitch = np.arctan2(along[1], along[0]), -np.arcsin(np.clip(along[2], -1, 1))
    view = look(world, _EYE, Pose.at(*start, yaw=float(yaw), pitch=float(pitch)), time=time, threads=1)
    distance = float(view.range[0, 0])
    if not np.isfinite(distance) or distance <= 0:
        return None
    return Met(start + distance * along, int(view.object_id[0, 0]), int(view.placement[0, 0]))


def point_facts(frame: Frame, row: int) -> list[tuple[str, str, str]]:
    """Name, measured and true value of everything known of a row; the true one is empty where there is none."""
    value = {column.name: getattr(frame, column.name)[row] for column in COLUMNS}
    objects, labels, materials = (frame.meta.get(key) or {} for key in ("objects", "labels", "materials"))
    thing = int(value["object_id"])
    error = float(value["range"] - value["true_range"])
    facts = [
        ("range [m]", f"{value['range']:.4f}", _number(value["true_range"])),
        ("error [m]", f"{error:+.4f}" if np.isfinite(error) else "", "0"),
        ("x, y, z of the sensor [m]", _triple(value["xyz"]), _triple(value["true_xyz"])),
    ]
    if frame.trajectory is not None:
        one = frame.select([row])
        facts.append(("x, y, z of the world [m]", _triple(one.world_xyz()[0]), _triple(one.world_xyz(true=True)[0])))
    facts += [
        ("intensity", f"{value['intensity']:.4f}", ""),
        ("signal over noise", _number(value["signal"]), ""),
        ("radial speed [m/s]", _number(value["speed"]), _number(value["true_speed"])),
        ("near infrared", _number(value["near_infrared"]), ""),
        ("return", f"{value['return_number']} of {value['return_count']}, {KINDS[int(value['return_kind'])]}", ""),
        ("label", "", _named(labels, int(value["label"]))),
        ("object", "", f"{_object(objects, thing)}, copy {value['placement']}" if thing else "nothing"),
        ("material", "", _material(materials, int(value["material"]))),
        ("time [s]", f"{value['time']:.6f}", ""),
        ("pulse, laser", f"{value['pulse']}, {value['laser']}", ""),
        ("azimuth, elevation [°]", f"{np.degrees(value['azimuth']):.3f}, {np.degrees(value['elevation']):.3f}", ""),
    ]
    return [fact for fact in facts if fact[1] or fact[2]]


def _number(value: Any) -> str:
    return f"{value:.4f}" if np.isfinite(value) else ""


def _triple(values: Any) -> str:
    return ", ".join(f"{v:.3f}" for v in values) if np.isfinite(values).all() else ""


def _named(numbers: Any, number: int) -> str:
    """The name of a number in a table of numbers by name."""
    names = {value: name for name, value in numbers.items()} if isinstance(numbers, dict) else {}
    return str(names.get(number, number))


def _object(names: Any, number: int) -> str:
    table = names if isinstance(names, dict) else {}
    return str(table.get(number, table.get(str(number), number)))


def _material(names: Any, number: int) -> str:
    return str(names[number]) if isinstance(names, list | tuple) and number < len(names) else str(number)
