"""Learning volumes from beams: the story in one function.

Deschaud et al. (2012), section III.C: partition the returns, fit a Gaussian to each part, walk every beam through
the volumes to count who passed and who ended. The permeability of a shell that few beams met is drawn towards that
of the whole volume, as if `_PRIOR_BEAMS` more had been seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.beams import Beams
from tussock.learn.gaussians import fit_gaussians, packed
from tussock.learn.growing import grow_ellipsoids
from tussock.learn.permeability import count_beams
from tussock.learn.two_means import split_in_two
from tussock.learn.voxels import check_voxel, into_voxels
from tussock.scene.volumes import DEFAULT_TAU, PASSES, Volumes, shell_edges
from tussock.threads import resolve_threads
from tussock.trace.volume_hits import Gaussians, gaussians_of
from tussock.version import VERSION

__all__ = ["Method", "learn"]

Method = Literal["voxels", "two-means", "growing"]

_PRIOR_BEAMS = 1.0


def learn(
    beams: Beams,
    *,
    voxel: float,
    method: Method = "voxels",
    tau: float = DEFAULT_TAU,
    plain: bool = False,
    box: Sequence[float] | None = None,
    threads: int | None = None,
) -> Volumes:
    """Volumes from beams, in the beams' own frame.

    ``voxel`` [m]: side of a voxel, or the size at which the other methods stop (`choose_voxel` finds one by itself).
    ``plain``: one permeability within ``tau``, exactly as in the paper. ``box`` (lowest corner, highest corner) [m]
    keeps the returns inside it; all other beams still count as passing or ending before it.
    """
    if method not in ("voxels", "two-means", "growing"):
        raise InputError.of("method", "must be voxels, two-means or growing", method)
    voxel, workers = check_voxel(voxel), resolve_threads(threads)
    inside = beams.hit if box is None else beams.inside(box)
    if not inside.any():
        raise InputError("beams: no pulse has a return, so there is nothing to learn from")
    points = beams.points[inside]
    labels = np.full(len(beams), -1, np.int64)
    labels[inside], volumes = _partition(points, method, voxel)
    means, covariances = fit_gaussians(points, labels[inside], volumes, voxel)
    model = _without_permeability(means, covariances, method, voxel, tau, plain)
    model = _counted(model, beams, labels, plain, workers)
    meta = {"tussock": VERSION, "method": method, "voxel_m": voxel, "beams": len(beams), "returns": int(inside.sum())}
    return _replaced(model, meta={**meta, **_view(beams)})


def _partition(points: NDArray[np.float64], method: Method, voxel: float) -> tuple[NDArray[np.int64], int]:
    """The volume of each point, and how many volumes there are."""
    if method == "voxels":
        labels, voxels = into_voxels(points, voxel)
        if len(voxels) == len(points) > 1:
            raise InputError.of(
                "voxel", "every voxel holds one point only, so nothing can be learned from them", voxel,
                f"use {_roomier(points, voxel):g} m or more",
            )  # fmt: skip
        return labels, len(voxels)
    labels = split_in_two(points, voxel) if method == "two-means" else grow_ellipsoids(points, voxel)
    return labels, int(labels.max()) + 1


def _roomier(points: NDArray[np.float64], voxel: float) -> float:
    """A voxel size that gives at least half of the points company."""
    while len(into_voxels(points, voxel)[1]) > 0.6 * len(points):
        voxel *= 2
    return float(f"{voxel:.2g}")


def _without_permeability(
    means: NDArray[np.float64],
    covariances: NDArray[np.float64],
    method: Method,
    voxel: float,
    tau: float,
    plain: bool,
) -> Volumes:
    """The Gaussians alone, every one of them closed."""
    n = len(means)
    partition: Literal["voxels", "ellipsoids"] = "voxels" if method == "voxels" else "ellipsoids"
    edges = shell_edges(tau, partition, plain=plain)
    cell = voxel
    if partition == "voxels":
        # A mean that single precision rounds onto a wall must stay in its own voxel.
        low = np.floor(means / voxel) * voxel
        means = np.clip(means, low + 1e-4 * voxel, low + (1 - 1e-4) * voxel)
    else:
        reach = float(edges[-1]) * np.sqrt(np.linalg.eigvalsh(covariances)[:, 2])
        cell = float(np.clip(1.5 * np.median(reach), 1e-3, None))
    return Volumes(
        means=means.astype(np.float32),
        precisions=packed(np.linalg.inv(covariances).astype(np.float64)),
        permeability=np.zeros(n, np.float32),
        shells=np.zeros((n, len(edges)), np.uint16),
        beams=np.zeros(n, np.uint32),
        intensity=np.zeros(n, np.float32),
        cell=cell,
        edges=edges,
        partition=partition,
        tau=tau,
    )


def _counted(model: Volumes, beams: Beams, labels: NDArray[np.int64], plain: bool, threads: int) -> Volumes:
    """The model with what the beams say: permeability, beams seen, intensity."""
    tables: Gaussians = gaussians_of([model])
    passed, ended = count_beams(tables, beams, labels, threads)
    within = model.edges <= np.float32(model.tau)
    m, n = passed[:, :-1][:, within].sum(1), ended[:, :-1][:, within].sum(1)
    met = passed[:, :-1] + ended[:, :-1]
    # ρ = m/(m+n); a volume that no beam comes near (all returns outside τ) stops what it stops in the whole.
    whole_met = met.sum(1)
    whole = passed[:, :-1].sum(1) / np.maximum(whole_met, 1)
    rho = np.where(m + n > 0, m / np.maximum(m + n, 1), whole)
    prior = 0.0 if plain else _PRIOR_BEAMS
    shells = (passed[:, :-1] + prior * whole[:, None]) / np.maximum(met + prior, 1e-9)
    shells = np.where(met + prior > 0, shells, rho[:, None])
    hit = labels >= 0
    total = np.bincount(labels[hit], minlength=len(model))
    intensity = np.bincount(labels[hit], beams.intensity[hit], len(model)) / np.maximum(total, 1)
    return _replaced(
        model,
        permeability=rho.astype(np.float32),
        shells=np.round(shells * PASSES).astype(np.uint16),
        beams=(whole_met).astype(np.uint32),
        intensity=intensity.astype(np.float32),
    )


def _replaced(model: Volumes, **changes: Any) -> Volumes:
    from dataclasses import replace

    return replace(model, **changes)


def _view(beams: Beams) -> dict[str, Any]:
    """How widely the beams' directions differ; volumes seen from one side are guesses from the others."""
    spread = float(np.linalg.norm(beams.directions.mean(0)))
    return {"one_direction": bool(spread > 1 - 1e-9 and len(beams) > 1)}
