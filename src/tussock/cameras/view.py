"""A view: what every pixel of a camera sees, exactly and without noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.projection import rays_of
from tussock.cameras.shot import Shot
from tussock.errors import InputError
from tussock.scene.instances import Instances

__all__ = ["View"]


@dataclass(frozen=True, eq=False, repr=False)
class View(Shot):
    """Images of shape (height, width), one value a pixel's middle.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> view = tussock.look(scene, tussock.Camera(width=16, height=8))
    >>> bool((view.object_id[4] == wall.id).all())
    True
    """

    range: NDArray[np.float32]
    """[m] along the ray, infinite where nothing is"""
    object_id: NDArray[np.uint32]
    """0 where nothing is"""
    placement: NDArray[np.uint32]
    """which copy of the object's shape"""
    label: NDArray[np.uint16]
    """class label, 0 where nothing is"""
    material: NDArray[np.uint16]
    """index into ``meta["materials"]``"""
    normal: NDArray[np.float32]
    """unit normals in the world on the side of the camera, shape (height, width, 3); zero where nothing is"""
    instances: Instances
    meta: dict[str, Any] = field(default_factory=dict)
    """plain data: version, seed, camera, scene, names of objects, labels and materials"""

    @cached_property
    def depth(self) -> NDArray[np.float32]:
        """[m] along the camera's axis, infinite where nothing is"""
        return along_axis(self.camera, self.range)

    @cached_property
    def instance(self) -> NDArray[np.uint32]:
        """one number for every copy of every object, 0 where nothing is; see `tussock.scene.instances`"""
        self._check_truth()
        return self.instances.of(self.object_id, self.placement)

    def _check_truth(self) -> None:
        if self.object_id.size == 0:
            raise InputError("view: was made for depth alone; look again without depth_only")


def along_axis(camera: Camera, ranges: NDArray[np.float32]) -> NDArray[np.float32]:
    """Depths along the camera's axis of ranges along the rays, (height, width)."""
    v, u = np.mgrid[0 : camera.height, 0 : camera.width].astype(np.float64)
    _, directions = rays_of(camera.numbers, np.stack([u.ravel(), v.ravel()], 1))
    share = directions[:, 2].reshape(ranges.shape)
    # Nothing at a right angle to the axis is nothing still, not 0 · ∞.
    return np.where(np.isfinite(ranges), ranges * share, np.inf).astype(np.float32)
