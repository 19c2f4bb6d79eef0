"""Where copies are, as Embree takes it: 3×4 transforms in single precision, several over time for what moves.

A shape in map coordinates is shared about its own middle m, and its copies carry the rest: A x + b = A (x − m) + (A m + b).
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.scene.mesh import FARTHEST, Mesh
from tussock.scene.scene import Scene, SceneObject
from tussock.trace.embree import MAX_TIME_STEPS

__all__ = [
    "column_major",
    "near_zero",
    "origin_of",
    "shape_middle",
    "shared_vertices",
    "standing_transforms",
    "time_steps",
]

_FAR_FROM_ZERO = 100.0  # [m] up to here single precision has steps of 4 µm at most
_ONE_PLACE = 1e6
"""[m] from the tracer's zero, where single precision has steps of 6 cm: what stands further off is elsewhere"""
_PATH_TOLERANCE = 1e-4  # [m] how far the time steps of a moving object may leave its path


def near_zero(bounds: NDArray[Any]) -> NDArray[np.float64]:
    """What to take off coordinates within ``bounds`` (2, 3) [m]: whole metres, 0 along axes that are near zero."""
    middle = bounds.astype(np.float64).mean(0)
    return np.where(np.abs(middle) > _FAR_FROM_ZERO, np.round(middle), 0.0)


def origin_of(scene: Scene) -> NDArray[np.float64]:
    """Where the tracer's zero is [m], shape (3,): in the middle of the scene, which must be one place."""
    with np.errstate(over="ignore", invalid="ignore"):
        boxes = scene.boxes
    far = ~(np.abs(boxes) <= FARTHEST).all((1, 2))  # NaN is far too
    if far.any():
        bad = int(np.argmax(far))
        worst = boxes[bad].ravel()[np.argmax(np.nan_to_num(np.abs(boxes[bad]).ravel(), nan=np.inf))]
        name, rule = scene.everything[bad].name, f"must lie within {FARTHEST:g} m of zero"
        raise InputError.of(f"object {name!r}", rule, f"{worst:g} m", "give it a smaller scale or a nearer place")
    origin = near_zero(np.stack([boxes[:, 0].min(0), boxes[:, 1].max(0)]))
    away = np.abs(boxes.mean(1) - origin).max(1)
    if away.max() > _ONE_PLACE:
        name = scene.everything[int(np.argmax(away))].name
        rule = f"must lie within {_ONE_PLACE:g} m of the middle of the scene"
        remedy = "bring all objects into the same coordinates"
        raise InputError.of(f"object {name!r}", rule, f"{away.max():.0f} m", remedy)
    return origin


def shape_middle(mesh: Mesh) -> NDArray[np.float64]:
    """What is taken off the coordinates of a shared shape [m], shape (3,)."""
    return near_zero(mesh.bounds)


def shared_vertices(mesh: Mesh) -> NDArray[np.float32]:
    """The vertices of a shared shape, about its middle, shape (n, 3)."""
    middle = shape_middle(mesh)
    return (mesh.vertices - middle if middle.any() else mesh.vertices).astype(np.float32, copy=False)


def _about_middle(thing: SceneObject) -> NDArray[np.float64]:
    """Placements of the shape as it is shared, about its middle."""
    matrices = thing.placements.matrices.copy()
    matrices[:, :, 3] += matrices[:, :, :3] @ shape_middle(thing.mesh)
    return matrices


def standing_transforms(thing: SceneObject, origin: NDArray[np.float64]) -> NDArray[np.float32]:
    """Transforms of what stands, counted from ``origin`` [m], as one time step; shape (1, copies, 12)."""
    return column_major(_about_middle(thing) - _shift(origin))[None]


def time_steps(thing: SceneObject, start: float, end: float, origin: NDArray[np.float64]) -> NDArray[np.float32]:
    """Transforms at equal time steps, as many as keep the object on its path; shape (steps, copies, 12)."""
    motion = thing.motion
    assert motion is not None
    rest = _about_middle(thing)
    corners = np.array(list(product(*(thing.mesh.bounds - shape_middle(thing.mesh)).T.astype(float))))
    # Copies may stand far out from the object's own zero: what counts is where their corners are.
    reach = np.abs(corners @ np.swapaxes(rest[:, :, :3], 1, 2) + rest[:, None, :, 3]).max()
    fine = np.linspace(start, end, 8 * (MAX_TIME_STEPS - 1) + 1)
    exact = motion.matrices(fine)
    count = 2
    while count < MAX_TIME_STEPS:
        coarse = motion.matrices(np.linspace(start, end, count))
        place = np.linspace(0, count - 1, len(fine))
        low = np.minimum(place.astype(int), count - 2)
        share = (place - low)[:, None, None]
        error = np.abs(coarse[low] * (1 - share) + coarse[low + 1] * share - exact)
        if (error[:, :, :3].sum(2) * reach + error[:, :, 3]).max() < _PATH_TOLERANCE:
            break
        count = 2 * count - 1
    path = motion.matrices(np.linspace(start, end, count))
    turned = np.einsum("tij,pjk->tpik", path[:, :, :3], rest)
    turned[..., 3] += path[:, None, :, 3]
    return column_major(turned - _shift(origin))


def column_major(matrices: NDArray[np.float64]) -> NDArray[np.float32]:
    """3×4 matrices (…, 3, 4) as Embree reads them: four columns one after the other, (…, 12)."""
    turned = np.swapaxes(matrices, -1, -2).astype(np.float32)
    return np.ascontiguousarray(turned).reshape(*matrices.shape[:-2], 12)


def _shift(origin: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix to subtract so that translations count from ``origin``."""
    shift = np.zeros((3, 4))
    shift[:, 3] = origin
    return shift
