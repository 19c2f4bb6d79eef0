"""Learning volumes from pulses: the story in one function.

Deschaud et al. (2012), section III.C: partition the returns, fit a Gaussian to each part, walk every pulse through
the volumes to count who passed and who ended. The permeability of a shell that few pulses met is shrunk towards that
of the whole volume, as if `_PRIOR_PULSES` more had been seen. A second walk finds the closure of each volume.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.gaussians import fit_gaussians, inverse
from tussock.learn.partition.growing import grow_ellipsoids
from tussock.learn.partition.two_means import split_in_two
from tussock.learn.partition.voxels import check_voxel, into_voxels
from tussock.learn.permeability import closure_of, count_pulses
from tussock.scene.volumes import DEFAULT_TAU, WHOLE, Partition, Volumes, check_tau, shell_edges, unpacked, voxels_of
from tussock.threads import resolve_threads
from tussock.trace.volume_hits import Gaussians, gaussians_of
from tussock.version import VERSION

__all__ = ["Method", "fit_volumes"]

Method = Literal["voxels", "two-means", "growing"]

_PRIOR_PULSES = 1.0


class FitOptions(TypedDict, total=False):
    """What `fit_volumes` can be told beside the size; who calls it for others hands it on."""

    method: Method
    tau: float
    plain: bool
    box: Sequence[float] | None
    threads: int | None


def fit_volumes(
    pulses: MeasuredPulses,
    *,
    voxel: float,
    method: Method = "voxels",
    tau: float = DEFAULT_TAU,
    plain: bool = False,
    box: Sequence[float] | None = None,
    threads: int | None = None,
) -> Volumes:
    """Volumes from pulses, in the pulses' own frame.

    ``voxel`` [m]: side of a voxel, or the size at which the other methods stop (`choose_voxel` finds one by itself).
    ``plain``: one permeability within ``tau`` and no closure, exactly as in the paper. ``box`` (lowest corner, highest
    corner) [m] keeps the returns inside it; all other pulses still count as passing or ending before it.
    """
    if method not in ("voxels", "two-means", "growing"):
        raise InputError.of("method", "must be voxels, two-means or growing", method)
    voxel, tau, workers = check_voxel(voxel), check_tau(tau), resolve_threads(threads)
    inside = pulses.hit if box is None else pulses.inside(box)
    origin = pulses.middle
    pulses = pulses.shifted(-origin)
    if not inside.any():
        raise InputError("pulses: no pulse has a return, so there is nothing to learn from")
    points = pulses.points[inside]
    labels = np.full(len(pulses), -1, np.int64)
    labels[inside], volumes = _partition(points, method, voxel)
    means, covariances = fit_gaussians(points, labels[inside], volumes, voxel)
    one_of_each = np.zeros(volumes, np.int64)
    one_of_each[labels[inside]] = np.arange(len(points))
    closed = _closed(means, covariances, voxels_of(points[one_of_each], voxel), method, voxel, tau, plain)
    tables = gaussians_of([closed])
    passed, ended = count_pulses(tables, pulses, labels, workers)
    rho, shells, met = _permeability(passed[:, :-1], ended[:, :-1], closed.edges <= np.float32(tau), plain)
    closure = _closure(tables, shells, passed[:, :-1] + ended[:, :-1], pulses, labels, plain, workers)
    meta = {"tussock": VERSION, "method": method, "voxel_m": voxel, "plain": plain, "pulses": len(pulses),
            "returns": len(points), "lone_returns": int((np.bincount(labels[inside]) == 1).sum()),
            "one_direction": _one_direction(pulses), "complete": bool(pulses.complete)}  # fmt: skip
    return Volumes(
        closed.means, closed.precisions, rho, shells, closure, met, _intensity(pulses, labels, volumes), closed.cell,
        closed.edges, closed.partition, tau, meta=meta, origin=(float(origin[0]), float(origin[1]), float(origin[2])),
    )  # fmt: skip


def _partition(points: NDArray[np.float64], method: Method, voxel: float) -> tuple[NDArray[np.int64], int]:
    """The volume of each point, and how many volumes there are."""
    if method == "voxels":
        return into_voxels(points, voxel)
    labels = split_in_two(points, voxel) if method == "two-means" else grow_ellipsoids(points, voxel)
    return labels, int(labels.max()) + 1


def _closed(
    means: NDArray[np.float64], covariances: NDArray[np.float64], voxels: NDArray[np.float64], method: Method, voxel: float,
    tau: float, plain: bool,
) -> Volumes:  # fmt: skip
    """The Gaussians alone, every one of them impermeable; ``voxels`` is the voxel that each was fitted in."""
    n = len(means)
    partition: Partition = "voxels" if method == "voxels" else "ellipsoids"
    edges = shell_edges(tau, partition, plain=plain)
    cell = voxel
    if partition == "voxels":
        means = _inside_voxels(means, voxels, voxel)
    else:
        reach = float(edges[-1]) * np.sqrt(np.linalg.eigvalsh(unpacked(covariances))[:, 2])
        cell = float(np.clip(1.5 * np.median(reach), 1e-3, None))
    none, nobody = np.zeros(n, np.float32), np.zeros(n, np.uint32)
    return Volumes(
        means.astype(np.float32), inverse(covariances).astype(np.float32), none, np.zeros((n, len(edges)), np.uint16),
        np.zeros(n, np.uint16), nobody, none, cell, edges, partition, tau,
    )  # fmt: skip


def _inside_voxels(means: NDArray[np.float64], voxels: NDArray[np.float64], voxel: float) -> NDArray[np.float64]:
    """Means held off the walls of their voxels, so far that rounding to single precision keeps them inside."""
    margin = np.maximum(1e-4, 2.0**-23 * (np.abs(voxels) + 1))
    held: NDArray[np.float64] = np.clip(means / voxel, voxels + margin, voxels + 1 - margin) * voxel
    return held


def _permeability(
    passed: NDArray[np.uint32], ended: NDArray[np.uint32], within: NDArray[np.bool_], plain: bool
) -> tuple[NDArray[np.float32], NDArray[np.uint16], NDArray[np.uint32]]:
    """ρ of the paper, the permeability of the shells in 1/65535, and the pulses seen; ``within``: shells inside τ."""
    met = passed + ended
    whole_met = met.sum(1, dtype=np.uint32)
    # ρ = m/(m+n) of the pulses within τ; a volume that none came that near to has the ρ of all that it met.
    whole = passed.sum(1, dtype=np.float32) / np.maximum(whole_met, 1)
    m, near = passed[:, within].sum(1, dtype=np.float32), met[:, within].sum(1, dtype=np.float32)
    rho = np.where(near > 0, m / np.maximum(near, 1), whole).astype(np.float32)
    if plain:
        return rho, np.round(rho[:, None] * WHOLE).astype(np.uint16), whole_met
    shells = (passed + np.float32(_PRIOR_PULSES) * whole[:, None]) / (met + np.float32(_PRIOR_PULSES))
    return rho, np.round(shells * np.float32(WHOLE)).astype(np.uint16), whole_met


def _closure(
    tables: Gaussians, shells: NDArray[np.uint16], met: NDArray[np.uint32], pulses: MeasuredPulses, labels: NDArray[np.int64],
    plain: bool, threads: int,
) -> NDArray[np.uint16]:  # fmt: skip
    if plain:
        return np.zeros(len(shells), np.uint16)
    # Leave-one-out: without the pulse itself n is one less in its own volume and m the same, so that the share which
    # passes, m/(m + n), is (m + n)/(m + n − 1) times as large.
    seen = met.astype(np.float32) + np.float32(_PRIOR_PULSES)
    without_own = seen / np.maximum(seen - 1, np.float32(_PRIOR_PULSES))
    closure = closure_of(tables._replace(shells=shells), pulses, labels, without_own, threads)
    return np.round(closure * WHOLE).astype(np.uint16)


def _intensity(pulses: MeasuredPulses, labels: NDArray[np.int64], count: int) -> NDArray[np.float32]:
    """The mean intensity of the returns of each volume."""
    hit = labels >= 0
    total = np.bincount(labels[hit], minlength=count)
    mean = np.bincount(labels[hit], pulses.intensity[hit], count) / np.maximum(total, 1)
    return mean.astype(np.float32)


def _one_direction(pulses: MeasuredPulses) -> bool:
    """Whether all pulses go the same way; volumes seen from one side are guesses from the others."""
    first: Any = pulses.directions[0]
    return len(pulses) > 1 and bool(np.abs(pulses.directions - first).max() < 1e-9)
