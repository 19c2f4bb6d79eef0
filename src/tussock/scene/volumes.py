"""Vegetation without surfaces: small volumes that a pulse ends in or passes through, as learned from real scans.

Deschaud et al. (2012), section III: each volume holds a 3-D Gaussian of the returns inside it and a permeability
ρ = m/(m+n): of the pulses whose smallest Mahalanobis distance to the Gaussian, eq (1), is below τ, m passed and n
ended there.

One number for all of them loses pulses in two ways. A Gaussian has 13 % of its mass beyond τ = 2, where nothing is
ever hit, so that share slips through. And a leaf in the middle of a volume stops the pulses that meet the middle,
while the mean of all lets some of them pass and stops others that would not have been. Both disappear where the
permeability is counted by shells of the Mahalanobis distance, out to the edge of the volume. Simulation uses the
shells; ρ itself is kept beside them.

A third way remains. Volumes are sampled one after the other, so a pulse may pass the ground where it happens to be let
through and go on where no pulse has ever been. Each volume therefore knows its *closure*: of the pulses that would get
away behind it, as the last volume that they meet, the share that must have ended instead, for as many to get away as
did when it was learned.

A model with the single shell [0, τ) and no closure is exactly the paper's.

The returns that a Gaussian was fitted to carry the noise of the sensor that measured them, which whoever scans it adds
again. It is taken out of the Gaussians as far as they go (`tussock.learn.range_noise`); what is left of it in a volume
is *held*, and is not added again there.

Where the sensor reported two returns, each volume knows how often a *second* one came of pulses that ended in it.

Where the returns had labels or colours, each volume has the label of most of them and their mean colour.

Volumes come in two partitions. *Voxels*: a regular grid through ``origin``, coarser by 4 or 16 where little was seen; a
volume is met by the pulses that cross its voxel. *Ellipsoids*: volumes of any size that may overlap; a volume is met by the pulses that come within
its outermost shell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import read_only
from tussock.errors import InputError
from tussock.scene.material import Material
from tussock.scene.mesh import FARTHEST
from tussock.shown import Shown

__all__ = [
    "DEFAULT_TAU",
    "HELD_STEP",
    "MOST_VOXELS",
    "WHOLE",
    "Partition",
    "Volumes",
    "check_tau",
    "positive_definite",
    "shell_edges",
    "unpacked",
    "voxels_of",
]

Partition = Literal["voxels", "ellipsoids"]

DEFAULT_TAU = 2.0
"""Mahalanobis distance below which a pulse counts as inside a volume (Deschaud et al. 2012, section III.C)"""
WHOLE = 65535
"""what stands for 1 in `Volumes.shells` and `Volumes.closure`"""

MOST_VOXELS = 21
"""voxels lie within 2 to the power of this from the origin: single precision then keeps a mean inside its voxel"""

_SHELLS = (0.25, 0.5, 0.75, 1.0, 1.5)
"""edges of the shells as multiples of τ; a voxel has one more shell, the rest of it"""

_ARRAYS: dict[str, tuple[str, int]] = {
    "means": ("f4", 3),
    "precisions": ("f4", 6),
    "permeability": ("f4", 1),
    "shells": ("u2", 0),
    "closure": ("u2", 1),
    "pulses": ("u4", 1),
    "intensity": ("f4", 1),
    "held": ("u2", 1),
    "second": ("u2", 1),
    "levels": ("u1", 1),
    "labels": ("u2", 1),
    "colors": ("u1", 4),
}
_LATER = ("held", "second", "levels")
"""arrays that files of older versions have not; there they are 0"""
_MAY_LACK = ("labels", "colors")
"""arrays that hold no row where nothing is known"""

HELD_STEP = 1e-4
"""[m] what stands for 1 in `Volumes.held`"""


def shell_edges(tau: float, partition: Partition, *, plain: bool = False) -> NDArray[np.float32]:
    """Outer Mahalanobis distances of the shells, rising, shape (s,); ``plain``: the paper's one shell."""
    tau = check_tau(tau)
    if plain:
        return np.array([tau], np.float32)
    rest = [np.inf] if partition == "voxels" else []
    return np.array([share * tau for share in _SHELLS] + rest, np.float32)


@dataclass(frozen=True, eq=False, repr=False)
class Volumes(Shown):
    """A partition of space into Gaussians with permeability, in its own coordinates [m]; the arrays are read-only.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> volumes = tussock.learn_volumes(pulses, voxel=0.5)
    >>> volumes.means.shape == (len(volumes), 3)
    True
    """

    means: NDArray[np.float32]
    """[m], counted from ``origin``, shape (n, 3)"""
    precisions: NDArray[np.float32]
    """inverse covariances (xx, xy, xz, yy, yz, zz) [1/m²], shape (n, 6)"""
    permeability: NDArray[np.float32]
    """ρ, the share of pulses within τ that pass, shape (n,)"""
    shells: NDArray[np.uint16]
    """the share that pass in each shell, in 1/65535, shape (n, s)"""
    closure: NDArray[np.uint16]
    """the share that end of those that would get away behind it, in 1/65535, shape (n,)"""
    pulses: NDArray[np.uint32]
    """how many pulses the permeability was counted from, shape (n,)"""
    intensity: NDArray[np.float32]
    """mean relative intensity of the returns, 0 to 1, shape (n,)"""
    cell: float
    """[m] side of a voxel; for ellipsoids, of the grid that finds them"""
    edges: NDArray[np.float32]
    """outer Mahalanobis distance of each shell, rising, shape (s,); beyond the last a volume is not there"""
    partition: Partition = "voxels"
    tau: float = DEFAULT_TAU
    material: Material = field(default_factory=lambda: Material(name="volume"))
    """names the surface in a frame; its reflectance is not used, the volumes have their own intensity"""
    meta: dict[str, Any] = field(default_factory=dict)
    """plain data, ready for JSON: what it was learned from and how"""
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """[m] where the means count from, in double precision: volumes in map coordinates have theirs nearby"""
    held: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    """standard deviation of the sensor's range noise that is left in the Gaussians, in 0.1 mm, shape (n,); 0 if not given"""
    second: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    """the share of pulses that return a second time, of those that end here and have a volume behind it, in 1/65535, shape
    (n,); 0 if not given"""
    levels: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    """of voxels: the side of this one is ``cell``·4 to this power, 2 at most, shape (n,); 0 if not given"""
    gap: float = 0.0
    """[m] what lies between two returns of a pulse at least"""
    labels: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    """class of most of the returns, 0 where most had none, shape (n,); no rows where no return had one"""
    colors: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 4), np.uint8))
    """red, green and blue (sRGB), and 255 where they are known, else four zeros, shape (n, 4); no rows where none is"""
    label_names: dict[str, int] = field(default_factory=dict)
    """number of each label that is there"""

    def __post_init__(self) -> None:
        origin = np.asarray(self.origin, np.float64)
        if origin.shape != (3,) or not (np.abs(origin) <= FARTHEST).all():
            raise InputError.of("volumes origin", f"must be three numbers within {FARTHEST:g} [m]", origin.tolist())
        x, y, z = origin.tolist()
        object.__setattr__(self, "origin", (x, y, z))
        n = len(np.asarray(self.means))
        if n == 0:
            raise InputError("volumes: hold no volume; learn from pulses that have returns")
        edges = read_only(self.edges, np.float32)
        if edges.ndim != 1 or len(edges) == 0 or not (np.diff(edges, prepend=0) > 0).all():
            raise InputError.of("volumes edges", "must be rising distances above 0", edges.tolist())
        object.__setattr__(self, "edges", edges)
        if not (np.isfinite(self.gap) and self.gap >= 0):
            raise InputError.of("volumes gap", "must be a length from 0 on [m]", self.gap)
        for name, (dtype, width) in _ARRAYS.items():
            given = getattr(self, name)
            if name in _MAY_LACK and not len(given):
                object.__setattr__(self, name, read_only(np.zeros((0, width) if width > 1 else 0, dtype), dtype))
                continue
            array = read_only(np.zeros(n, dtype) if name in _LATER and not len(given) else given, dtype)
            shape = (n,) if width == 1 else (n, width or len(edges))
            if array.shape != shape:
                raise InputError.of(f"volumes {name}", f"must have the shape {shape}", array.shape)
            if not np.isfinite(array).all():
                raise InputError(f"volumes {name}: must be finite, got NaN or infinity")
            object.__setattr__(self, name, array)
        if self.permeability.min() < 0 or self.permeability.max() > 1:
            worst = self.permeability[np.argmax(np.abs(self.permeability - 0.5))]
            raise InputError.of("volumes permeability", "must lie within 0 and 1", float(worst))
        if self.intensity.min() < 0:
            raise InputError.of("volumes intensity", "must not be negative", float(self.intensity.min()))
        if self.partition not in ("voxels", "ellipsoids"):
            raise InputError.of("volumes partition", "must be voxels or ellipsoids", self.partition)
        if self.partition == "ellipsoids" and not np.isfinite(edges[-1]):
            raise InputError.of("volumes edges", "must be finite for ellipsoids", edges.tolist())
        if self.levels.max() > (2 if self.partition == "voxels" else 0):
            raise InputError.of(
                "volumes levels", "must be 0, 1 or 2 of voxels, 0 of ellipsoids", int(self.levels.max())
            )
        _check_names(self.label_names)
        check_tau(self.tau)
        if not (np.isfinite(self.cell) and self.cell > 0):
            raise InputError.of("volumes cell", "must be a length above 0 [m]", self.cell)
        if (np.abs(self.means).max() / self.cell) > 2**MOST_VOXELS:
            raise InputError.of(
                "volumes cell", f"must be at least 2^-{MOST_VOXELS} of the furthest mean [m]", float(self.cell)
            )
        sound = positive_definite(self.precisions)
        if not sound.all():
            raise InputError(f"volumes precisions: must be positive definite, volume {int(np.argmin(sound))} is not")

    def _facts(self) -> dict[str, object]:
        low, high = self.means.min(0), self.means.max(0)
        known = [name for name, there in (("labels", len(self.labels)), ("colours", len(self.colors))) if there]
        return {
            "volumes": f"{len(self):,} {self.partition} of {self.cell:g} m",
            "size": " × ".join(f"{side:.3g}" for side in high - low) + " m",
            "pass": f"{100 * float(self.permeability.mean()):.0f} % of pulses on average",
            **({"know": " and ".join(known)} if known else {}),
            **({"origin": str(self.origin)} if any(self.origin) else {}),
        }

    def __len__(self) -> int:
        return len(self.means)

    @property
    def covariances(self) -> NDArray[np.float64]:
        """[m²], shape (n, 3, 3)"""
        return np.linalg.inv(unpacked(self.precisions).astype(np.float64))

    @property
    def extents(self) -> NDArray[np.float64]:
        """half sides [m] of the box around each ellipsoid at its outermost finite shell, shape (n, 3)"""
        reach = float(self.edges[np.isfinite(self.edges)].max(initial=0.0)) or self.tau
        return reach * np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def bounds(self) -> NDArray[np.float64]:
        """lowest and highest corner [m], shape (2, 3)"""
        if self.partition == "voxels":
            low, side = self.voxels, 4 ** self.levels[:, None].astype(np.int64)
            return np.stack([low.min(0) * self.cell, (low + side).max(0) * self.cell]) + self.origin
        return np.stack([(self.means - self.extents).min(0), (self.means + self.extents).max(0)]) + self.origin

    @property
    def voxels(self) -> NDArray[np.int64]:
        """the lowest cell of each volume's voxel, shape (n, 3)"""
        side = 4.0 ** self.levels[:, None]
        return (np.floor(self.means.astype(np.float64) / (self.cell * side)) * side).astype(np.int64)

    @property
    def nbytes(self) -> int:
        """memory of the arrays"""
        return sum(getattr(self, name).nbytes for name in _ARRAYS)


def _check_names(names: dict[str, int]) -> None:
    for name, number in names.items():
        if not (isinstance(number, int) and 0 <= number <= 65535):
            raise InputError.of(f"volumes label {name!r}", "must be a whole number from 0 to 65535", number)


def voxels_of(points: NDArray[Any], cell: float) -> NDArray[np.float64]:
    """Which voxel of side ``cell`` [m] each point is in, as whole numbers along x, y and z, shape (n, 3).

    The one rule for points on a wall: learning, grids and bounds all ask it.
    """
    places: NDArray[np.float64] = np.floor(points.astype(np.float64) / cell)
    return places


def check_tau(tau: float) -> float:
    """τ must be a number above 0."""
    if not (np.isfinite(tau) and tau > 0):
        raise InputError.of("tau", "must be a Mahalanobis distance above 0", tau, "the paper uses 2.0")
    return float(tau)


def unpacked(packed: NDArray[Any]) -> NDArray[np.float64]:
    """Symmetric matrices (n, 3, 3) from (xx, xy, xz, yy, yz, zz)."""
    return packed.astype(np.float64)[:, [[0, 1, 2], [1, 3, 4], [2, 4, 5]]]


def positive_definite(packed: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether symmetric matrices (xx, xy, xz, yy, yz, zz) are positive definite, by their leading minors, shape (n,)."""
    a, b, c, d, e, f = packed.astype(np.float64).T
    return (a > 0) & (a * d - b * b > 0) & (a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d) > 0)
