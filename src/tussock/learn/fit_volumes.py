"""Learning volumes from pulses: the story in one function.

Deschaud et al. (2012), section III.C: partition the returns, fit a Gaussian to each part, walk every pulse through
the volumes to count who passed and who ended. The sensor's range noise is taken out of the Gaussians first. A further walk
finds the closure of each volume. Voxels are learned part by part (`tussock.learn.fit_voxels`), ellipsoids here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.attributes.knowledge import Knowledge, known_names, mean_colors, most_labels
from tussock.learn.fit_voxels import VoxelOptions, fit_voxels
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.gaussians import fit_gaussians, inverse
from tussock.learn.partition.growing import grow_ellipsoids
from tussock.learn.partition.two_means import split_in_two
from tussock.learn.partition.voxels import check_voxel
from tussock.learn.permeability import Counting, Escapes, permeabilities, without_own
from tussock.learn.range_noise import noise_sums, without_noise
from tussock.learn.second_returns import Behind, gap_of, gaps_between
from tussock.scene.volumes import DEFAULT_TAU, HELD_STEP, WHOLE, Volumes, check_tau, shell_edges, unpacked
from tussock.threads import resolve_threads
from tussock.trace.volume_hits import gaussians_of
from tussock.version import VERSION

__all__ = ["REGION_FEWEST", "FitOptions", "Method", "check_regions", "fit_volumes"]

REGION_FEWEST = 3.0
"""returns of a voxel where sizes go by region; with half of it there are four times as many volumes, and little is sharper"""

Method = Literal["voxels", "two-means", "growing"]


class FitOptions(TypedDict, total=False):
    """What `fit_volumes` can be told beside the size; who calls it for others hands it on."""

    method: Method
    tau: float
    plain: bool
    box: Sequence[float] | None
    fewest: float
    regions: bool | None
    threads: int | None


def fit_volumes(
    pulses: MeasuredPulses,
    *,
    voxel: float,
    method: Method = "voxels",
    tau: float = DEFAULT_TAU,
    plain: bool = False,
    box: Sequence[float] | None = None,
    fewest: float = 0.0,
    regions: bool | None = None,
    threads: int | None = None,
) -> Volumes:
    """Volumes from pulses, in the pulses' own frame.

    ``voxel`` [m]: side of a voxel, or the size at which the other methods stop (`choose_voxel` finds one by itself).
    ``plain``: one permeability within ``tau`` and no closure, exactly as in the paper. ``box`` (lowest corner, highest
    corner) [m] keeps the returns inside it; all other pulses still count as passing or ending before it. ``fewest``:
    where voxels hold fewer returns each, 4×4×4 of them are learned as one, and as many of those again; 0: all are alike.
    ``regions``: sizes by region: so it is where voxels hold fewer than `REGION_FEWEST`, unless ``fewest`` is given, and what lies
    between the returns is filled (`tussock.learn.partition.filling`).
    """
    if method not in ("voxels", "two-means", "growing"):
        raise InputError.of("method", "must be voxels, two-means or growing", method)
    voxel, tau, workers = check_voxel(voxel), check_tau(tau), resolve_threads(threads)
    if not (np.isfinite(fewest) and fewest >= 0):
        raise InputError.of("fewest", "must be a number of returns from 0 on", fewest)
    check_regions(regions, plain)
    inside = pulses.hit if box is None else pulses.inside(box)
    if not inside.any():
        raise InputError("pulses: no pulse has a return, so there is nothing to learn from")
    origin = pulses.middle
    options = VoxelOptions(
        voxel=voxel,
        tau=tau,
        plain=plain,
        box=box,
        fewest=float(fewest or (REGION_FEWEST if regions else 0.0)),
        filling=bool(regions),
        threads=workers,
        origin=origin,
        reach=pulses.reach,
    )
    if method == "voxels":
        return fit_voxels([pulses], options)
    for name, value in (("fewest", fewest), ("regions", regions)):
        if value:
            raise InputError.of(name, "goes with voxels alone", value, "leave it out")
    return _fit_ellipsoids(pulses.shifted(-origin), inside, method, options)


def check_regions(regions: bool | None, plain: bool) -> None:
    """Sizes by region do not go with the paper's one size."""
    if regions and plain:
        raise InputError.of("regions", "does not go with plain volumes, which are all alike", regions, "leave one out")


def _fit_ellipsoids(
    pulses: MeasuredPulses, inside: NDArray[np.bool_], method: Method, options: VoxelOptions
) -> Volumes:
    """Volumes of any size that may overlap; of all pulses at once, because their partition needs all returns."""
    points, size, plain = pulses.points[inside], options.voxel, options.plain
    labels = np.full(len(pulses), -1, np.int64)
    labels[inside] = split_in_two(points, size) if method == "two-means" else grow_ellipsoids(points, size)
    volumes = int(labels.max()) + 1
    means, covariances = fit_gaussians(points, labels[inside], volumes, size)
    variances = pulses.noise.variances(pulses.intensity[inside], pulses.ranges[inside])
    noise = noise_sums(pulses.directions[inside], variances, labels[inside], volumes)
    covariances, held = without_noise(covariances, noise, np.full(volumes, size))
    closed = _closed(means, covariances, options)
    tables = gaussians_of([closed])
    counting = Counting(tables, options.threads)
    counting.add(pulses, labels)
    passed, ended = (counts[:, :-1] for counts in counting.totals())
    rho, shells, met = permeabilities(passed, ended, closed.edges <= np.float32(options.tau), plain)
    filled, gaps = tables._replace(shells=shells), gaps_between(pulses)
    escapes, behind = (
        Escapes(filled, without_own(passed + ended), options.threads),
        Behind(filled, gap_of(gaps), options.threads),
    )
    closure = np.zeros(volumes)
    if not plain:
        escapes.add(pulses, labels)
        closure = Escapes.closure(filled, *escapes.totals())
    behind.add(pulses, labels)
    meta = {"tussock": VERSION, "method": method, "voxel_m": size, "plain": plain, "pulses": len(pulses),
            "returns": len(points), "lone_returns": int((np.bincount(labels[inside]) == 1).sum()),
            "one_direction": _one_direction(pulses), "complete": bool(pulses.complete), "fewest": 0.0,
            "range_noise_m": float(np.sqrt(variances.mean())), "two_returns": float(np.isfinite(pulses.others).mean()),
            "dead_rings": []}  # fmt: skip
    x, y, z = options.origin.tolist()
    knowledge = Knowledge(volumes)
    knowledge.add(pulses, labels)
    classes = most_labels(knowledge.totals(), np.bincount(labels[inside], minlength=volumes))
    return Volumes(
        closed.means, closed.precisions, rho, shells, np.round(closure * WHOLE).astype(np.uint16), met,
        _intensity(pulses, labels, volumes), closed.cell, closed.edges, closed.partition, options.tau, meta=meta,
        origin=(x, y, z), held=np.minimum(np.round(np.sqrt(held) / HELD_STEP), WHOLE).astype(np.uint16),
        second=np.round(Behind.share(filled, *behind.totals()) * WHOLE).astype(np.uint16), gap=gap_of(gaps),
        labels=classes, colors=mean_colors(knowledge.totals()), label_names=known_names(classes, pulses.label_names),
    )  # fmt: skip


def _closed(means: NDArray[np.float64], covariances: NDArray[np.float64], options: VoxelOptions) -> Volumes:
    """The Gaussians alone, every one of them impermeable."""
    n = len(means)
    edges = shell_edges(options.tau, "ellipsoids", plain=options.plain)
    reach = float(edges[-1]) * np.sqrt(np.linalg.eigvalsh(unpacked(covariances))[:, 2])
    cell = float(np.clip(1.5 * np.median(reach), 1e-3, None))
    none = np.zeros(n, np.float32)
    return Volumes(
        means.astype(np.float32), inverse(covariances).astype(np.float32), none, np.zeros((n, len(edges)), np.uint16),
        np.zeros(n, np.uint16), np.zeros(n, np.uint32), none, cell, edges, "ellipsoids", options.tau,
    )  # fmt: skip


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
