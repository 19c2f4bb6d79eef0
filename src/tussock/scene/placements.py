"""Where copies of one shape stand: any number of affine transforms over one mesh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from tussock.arrays import read_only
from tussock.errors import InputError
from tussock.shown import Shown

__all__ = ["Placements"]


@dataclass(frozen=True, eq=False, repr=False)
class Placements(Shown):
    """Transforms that map the shape's coordinates to the world's: ``x_world = A x + b``.

    >>> len(tussock.Placements.of([[0, 0, 0], [5, 0, 0]], yaw=[0.0, 1.0]))
    2
    """

    matrices: NDArray[np.float64]
    """[A | b], shape (n, 3, 4), read-only"""

    def __post_init__(self) -> None:
        matrices = np.asarray(self.matrices, np.float64)
        if matrices.ndim != 3 or matrices.shape[1:] != (3, 4) or len(matrices) == 0:
            raise InputError.of("placements", "must be an array of shape (n, 3, 4)", matrices.shape)
        if not np.isfinite(matrices).all():
            bad = int(np.argmax(~np.isfinite(matrices).all((1, 2))))
            raise InputError.of(f"placement {bad}", "must be finite", matrices[bad].tolist())
        axes = matrices[:, :, :3]
        sizes = np.linalg.norm(axes, axis=1)
        # Relative to the sizes: a model in micrometres is small, not flat.
        flat = (sizes < 1e-9).any(1) | (np.abs(np.linalg.det(axes)) < 1e-9 * sizes.prod(1))
        if flat.any():
            bad = int(np.argmax(flat))
            raise InputError.of(
                f"placement {bad}",
                "must not have zero scale",
                matrices[bad, :, :3].tolist(),
                "use a scale > 0",
            )
        object.__setattr__(self, "matrices", read_only(matrices))

    @classmethod
    def of(
        cls,
        positions: ArrayLike,
        *,
        yaw: ArrayLike | None = None,
        quaternions: ArrayLike | None = None,
        scale: ArrayLike = 1.0,
    ) -> Placements:
        """From positions (n, 3) [m], a turn about z [rad] or quaternions (x, y, z, w), and a scale.

        ``scale`` is one number, one a placement (n,), or three a placement (n, 3) along the shape's own axes.
        """
        place = np.atleast_2d(np.asarray(positions, np.float64))
        if place.shape[1:] != (3,):
            raise InputError.of("placement positions", "must have the shape (n, 3)", place.shape)
        n = len(place)
        matrices = np.zeros((n, 3, 4))
        if quaternions is not None:
            turns = np.atleast_2d(np.asarray(quaternions, np.float64))
            if turns.shape != (n, 4):
                raise InputError.of("placement quaternions", f"must have the shape ({n}, 4)", turns.shape)
            if not (np.linalg.norm(turns, axis=1) > 1e-9).all():
                raise InputError("placement quaternions: must be finite and not zero")
            matrices[:, :, :3] = Rotation.from_quat(turns).as_matrix()
        else:
            angle = np.asarray(0.0 if yaw is None else yaw, np.float64)
            if angle.shape not in ((), (n,)):
                raise InputError.of("placement yaw", f"must be one number or {n}, one a placement", angle.shape)
            c, s = np.cos(angle), np.sin(angle)
            matrices[:, 0, 0], matrices[:, 0, 1] = c, -s
            matrices[:, 1, 0], matrices[:, 1, 1] = s, c
            matrices[:, 2, 2] = 1.0
        sizes = np.asarray(scale, np.float64)
        if sizes.ndim == 1 and sizes.shape != (n,):
            raise InputError.of("placement scale", f"must be one number or {n}, one a placement", sizes.shape)
        if sizes.ndim > 1 and sizes.shape not in ((1, 1), (1, 3), (n, 1), (n, 3)):
            raise InputError.of("placement scale", f"must have the shape ({n}, 3)", sizes.shape)
        sizes = np.broadcast_to(sizes[:, None] if sizes.ndim == 1 else sizes, (n, 3))
        matrices[:, :, :3] *= sizes[:, None, :]
        matrices[:, :, 3] = place
        return cls(matrices)

    @classmethod
    def identity(cls) -> Placements:
        return cls(np.eye(4)[None, :3])

    def __len__(self) -> int:
        return len(self.matrices)
