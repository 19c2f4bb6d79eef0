"""Learning voxels from pulses that come in parts: three passes over them, memory by the volumes.

    sum up    the returns of every voxel (`tussock.learn.partition.voxel_sums`)
    fit       a Gaussian to each, coarser voxels where little was seen, the sensor's noise taken out
    count     who passed each volume and who ended in it, shell by shell; what moved is left out, if that is asked for
    close     who would get away behind it and who did; who returned a second time

Everything that is added up over parts is a whole number: how the pulses are cut into parts and what the threads do
does not change a bit. What a pass has found is handed to a `Keeper`, so that it need not be found again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tussock.errors import InputError
from tussock.learn.attributes.knowledge import Knowledge, known_names, mean_colors, most_labels, nearest_seen
from tussock.learn.box import box_corners
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.between_lines import LIFT, line_spacing
from tussock.learn.partition.gaussians import inverse, regular
from tussock.learn.partition.levels import Levelled, levelled
from tussock.learn.partition.voxel_sums import Summing, VoxelSums
from tussock.learn.permeability import (
    SEEN_THROUGH,
    Counting,
    Escapes,
    filled_shells,
    find_volumes,
    permeabilities,
    without_own,
)
from tussock.learn.range_noise import NoiseSums, without_noise
from tussock.learn.second_returns import GAPS, Behind, gap_of, gaps_between
from tussock.scene.volumes import HELD_STEP, WHOLE, Volumes, shell_edges
from tussock.threads import in_blocks
from tussock.trace.volume_hits import Gaussians, gaussians_of
from tussock.version import VERSION

__all__ = ["CHUNK", "Keeper", "VoxelOptions", "fit_voxels"]

CHUNK = 1 << 20
"""pulses that are looked at together"""
_RINGS = 1 << 16
_STRAIGHT = 1e-9
_STEPS = 512  # of a mean to the side of its voxel
_BRIGHTNESSES = 1024  # of an intensity to 1
_SHORT = 30  # scans that something which moves is in one place for
_FEWEST_OF_MOVING, _FEWEST_OTHERWISE = 5, 10  # returns of it, and pulses through its place


@dataclass(frozen=True, kw_only=True)
class VoxelOptions:
    """How voxels are learned; see `tussock.learn.fit_volumes.fit_volumes`."""

    voxel: float
    tau: float
    plain: bool
    box: Sequence[float] | None
    fewest: float
    """returns of a voxel; where there are fewer, 4×4×4 are learned as one; 0: all are alike"""
    filling: bool = False
    """fill what lies between the returns"""
    threads: int
    reach: float | None = None
    """[m] as far as a pulse without return has certainly met nothing; the farthest return if not given"""
    still: bool = False
    """leave out what moved"""
    origin: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    """[m] where coordinates of the volumes begin, shape (3,)"""
    left_out: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """rings of lasers that say nothing"""


class Keeper(Protocol):
    """Keeps what a pass has found."""

    def found(self, name: str, find: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        """What was kept by this name, else what ``find`` finds."""
        ...


class _Memory:
    """Keeps nothing."""

    def found(self, name: str, find: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        return find()


@dataclass(frozen=True)
class Taught:
    """What a first look at all pulses tells."""

    sums: VoxelSums
    fired: NDArray[np.int64]
    """pulses of each ring"""
    returned: NDArray[np.int64]
    """those with a return"""
    spacing: NDArray[np.float64]
    """[rad] between the line of each ring and the next ones"""
    gaps: NDArray[np.int64]
    """how far two returns of a pulse lie apart (`gaps_between`)"""
    rest: NDArray[np.int64]
    """whether pulses go several ways, whether all parts hold those without return, the farthest return [mm], shape (3,)"""


def fit_voxels(
    parts: Iterable[MeasuredPulses], options: VoxelOptions, *, keeper: Keeper | None = None, dead: Any = None
) -> Volumes:
    """Voxels from the pulses of ``parts``, which are gone through three times.

    ``dead`` finds the rings to leave out from the pulses and returns of each, if that is wanted.
    """
    keeper = keeper or _Memory()
    taught = _taught(keeper.found("sums", lambda: _sum(parts, options)), options)
    if not len(taught.sums):
        raise InputError("pulses: no pulse has a return, so there is nothing to learn from")
    if options.reach is None:
        options = replace(options, reach=max(taught.rest[2], 1) / 1000)
    silent = options.left_out if dead is None else dead(taught.fired, taught.returned)
    spacing = None if options.plain else taught.spacing
    tree = levelled(taught.sums, options.fewest, filling=options.filling, spacing=spacing, threads=options.threads)
    closed, held = _gaussians(tree, options)
    tables = gaussians_of([closed])
    counted = keeper.found("counts", lambda: _count(parts, tables, tree, options, silent))
    passed, ended = counted["passed"], counted["ended"]
    labels, colors = most_labels(counted, tree.counts), mean_colors(counted)
    within = passed[:, : _near(options)]
    moved = _moved(tree, within, counted["otherwise"]) if options.still else np.zeros(len(tree), np.bool_)
    left_out = moved | (tree.filled & (within.sum(1) >= SEEN_THROUGH))
    if left_out.any() and not left_out.all():
        tree, passed, ended = tree.select(~left_out), passed[~left_out], ended[~left_out]
        labels, colors = labels[~left_out] if len(labels) else labels, colors[~left_out] if len(colors) else colors
        closed, held = _chosen(closed, ~left_out), held[~left_out]
        tables = gaussians_of([closed])
    rho, shells, met = permeabilities(
        passed[:, :-1], ended[:, :-1], closed.edges <= np.float32(options.tau), options.plain
    )
    if tree.filled.any():
        if len(labels) or len(colors):
            like = nearest_seen(tree.places, tree.filled)
            labels, colors = labels[like] if len(labels) else labels, colors[like] if len(colors) else colors
        rho, shells = filled_shells(rho, shells, tree, passed, ended)
    gap = gap_of(taught.gaps)
    own = without_own(passed[:, :-1] + ended[:, :-1])
    filled = tables._replace(shells=shells)
    got = keeper.found("escapes", lambda: _escape(parts, filled, own, gap, options, silent))
    closure = Escapes.closure(filled, got["expected"], got["observed"]) if not options.plain else np.zeros(len(tree))
    second = Behind.share(filled, got["did"], got["could"])
    noise = float(np.average(tree.variance, weights=tree.counts))
    meta = {
        "tussock": VERSION, "method": "voxels", "voxel_m": options.voxel, "plain": options.plain,
        "pulses": int(taught.fired.sum() - taught.fired[silent].sum()), "returns": int(taught.sums.counts.sum()),
        "lone_returns": int((tree.counts == 1).sum()), "one_direction": not taught.rest[0],
        "complete": bool(taught.rest[1]), "fewest": options.fewest, "range_noise_m": float(np.sqrt(noise)),
        "two_returns": float(taught.gaps.sum() / max(taught.fired.sum(), 1)), "dead_rings": silent.tolist(),
        "moved": int(moved.sum()), "filled": int(tree.filled.sum()),
    }  # fmt: skip
    x, y, z = options.origin.tolist()
    return Volumes(
        closed.means, closed.precisions, rho, shells, np.round(closure * WHOLE).astype(np.uint16), met,
        (np.rint(tree.intensity * _BRIGHTNESSES) / _BRIGHTNESSES).astype(np.float32), closed.cell, closed.edges, closed.partition, options.tau, meta=meta,
        origin=(x, y, z), held=np.minimum(np.round(np.sqrt(held) / HELD_STEP), WHOLE).astype(np.uint16),
        second=np.round(second * WHOLE).astype(np.uint16), levels=closed.levels, gap=gap,
        labels=labels, colors=colors, label_names=known_names(labels, _names(counted)),
    )  # fmt: skip


def _chunks(parts: Iterable[MeasuredPulses]) -> Iterator[MeasuredPulses]:
    for part in parts:
        for first in range(0, len(part), CHUNK):
            yield part.select(slice(first, first + CHUNK)) if len(part) > CHUNK else part


def _shifted(
    parts: Iterable[MeasuredPulses], options: VoxelOptions, silent: NDArray[np.int64] | None = None
) -> Iterator[tuple[MeasuredPulses, NDArray[np.bool_]]]:
    """Pulses in the volumes' own coordinates, and which of them ended in what is learned."""
    for pulses in _chunks(parts):
        if silent is not None and len(silent):
            spoke = ~np.isin(pulses.rings, silent)
            if not spoke.any():
                continue
            pulses = pulses.select(spoke)
        inside = pulses.hit
        if options.box is not None:
            low, high = box_corners(options.box)
            with np.errstate(invalid="ignore"):
                inside = np.all((pulses.points >= low) & (pulses.points < high), axis=1)
        if options.origin.any():
            pulses = pulses.shifted(-options.origin)
        yield pulses if options.reach is None else pulses.with_reach(options.reach), inside


def _sum(parts: Iterable[MeasuredPulses], options: VoxelOptions) -> dict[str, NDArray[Any]]:
    fired, returned, lifted = (np.zeros(_RINGS, np.int64) for _ in range(3))
    gaps = np.zeros(GAPS, np.int64)
    first: NDArray[np.float64] | None = None
    rest = np.array([0, 1, 0])
    summing = Summing(options.voxel, options.threads)
    for pulses, inside in _shifted(parts, options):
        fired += np.bincount(pulses.rings, minlength=_RINGS)
        returned += np.bincount(pulses.rings[pulses.hit], minlength=_RINGS)
        heights = np.rint(pulses.directions[:, 2] * LIFT)
        lifted += np.bincount(pulses.rings, heights, _RINGS).astype(np.int64)
        gaps += gaps_between(pulses)
        first = pulses.directions[0] if first is None else first
        if not rest[0]:
            rest[0] = int(np.abs(pulses.directions - first).max() >= _STRAIGHT or fired.sum() == 1)
        rest[1] &= int(pulses.complete)
        rest[2] = max(rest[2], int(np.ceil(1000 * np.nanmax(pulses.ranges, initial=0.0))))
        summing.add(pulses, inside)
    if first is None:
        raise InputError("pulses: there are none; check the files, the box and the chosen revolutions")
    sums = summing.total()
    return {
        "voxels": sums.voxels, "sums": sums.sums, "fired": fired, "returned": returned, "lifted": lifted, "gaps": gaps,
        "rest": rest,
    }  # fmt: skip


def _taught(found: dict[str, NDArray[Any]], options: VoxelOptions) -> Taught:
    sums = VoxelSums(found["voxels"], found["sums"], options.voxel)
    spacing = line_spacing(found["fired"], found["lifted"])
    return Taught(sums, found["fired"], found["returned"], spacing, found["gaps"], found["rest"])


def _gaussians(tree: Levelled, options: VoxelOptions) -> tuple[Volumes, NDArray[np.float64]]:
    """The Gaussians alone, every one of them impermeable, in the order of the grid, and the noise that each holds [m²]."""

    def fitted(rows: slice) -> tuple[NDArray[Any], ...]:
        return _fitted(tree.part(rows), options.voxel)

    means, precisions, held = in_blocks(fitted, len(tree), options.threads)
    edges = shell_edges(options.tau, "voxels", plain=options.plain)
    n = len(tree)
    none = np.zeros(n, np.float32)
    volumes = Volumes(
        means, precisions, none,
        np.zeros((n, len(edges)), np.uint16), np.zeros(n, np.uint16), np.zeros(n, np.uint32), none, options.voxel, edges,
        "voxels", options.tau, levels=tree.levels,
    )  # fmt: skip
    return volumes, held


def _fitted(tree: Levelled, voxel: float) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Means and precisions, and the noise that each volume holds [m²]."""
    size = (tree.sides * voxel).astype(np.float64)
    noise = NoiseSums(tree.noise, tree.variance, np.maximum(tree.counts, 1))
    fitted = np.where(tree.filled[:, None], tree.scatter, regular(tree.scatter, tree.counts, size))
    covariances, held = without_noise(fitted, noise, size)
    precisions = inverse(covariances + tree.between)
    return _inside(tree, voxel).astype(np.float32), precisions.astype(np.float32), held


def _chosen(volumes: Volumes, rows: NDArray[np.bool_]) -> Volumes:
    """Some of the Gaussians, every one of them impermeable still."""
    chosen = np.flatnonzero(rows)
    names = (
        "means",
        "precisions",
        "permeability",
        "shells",
        "closure",
        "pulses",
        "intensity",
        "held",
        "second",
        "levels",
    )
    columns: dict[str, Any] = {name: np.take(getattr(volumes, name), chosen, axis=0) for name in names}
    return replace(volumes, **columns)


def _inside(tree: Levelled, voxel: float) -> NDArray[np.float64]:
    """Means held off the walls of their voxels, so far that rounding to single precision keeps them inside.

    They are in steps of 1/512 of a voxel's side, or up to half as wide, powers of two: finer ones say nothing, and files are
    smaller by 3 bytes a volume.
    """
    margin = np.maximum(1e-4, 2.0**-23 * (np.abs(tree.voxels) + tree.sides[:, None]))
    low, high = tree.voxels + margin, tree.voxels + tree.sides[:, None] - margin
    held: NDArray[np.float64] = np.clip(tree.places / voxel, low, high) * voxel
    step = 2.0 ** np.floor(np.log2(tree.sides * voxel / _STEPS))[:, None]
    rounded = np.rint(held / step) * step
    return np.where((rounded > low * voxel) & (rounded < high * voxel), rounded, held)


def _count(
    parts: Iterable[MeasuredPulses],
    tables: Gaussians,
    tree: Levelled,
    options: VoxelOptions,
    silent: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:
    seen = tree.seen if options.still else None
    counting = Counting(tables, options.threads, seen=seen, near=_near(options))
    knowledge, names = Knowledge(len(tree)), dict[int, str]()
    for pulses, inside in _shifted(parts, options, silent):
        volumes = find_volumes(tables, pulses, inside, options.threads)
        counting.add(pulses, volumes)
        knowledge.add(pulses, volumes)
        names |= pulses.label_names
    passed, ended = counting.totals()
    told = {"label_numbers": np.array(list(names), np.int64), "label_names": np.array(list(names.values()), str)}
    return {"passed": passed, "ended": ended, "otherwise": counting.otherwise()} | knowledge.totals() | told


def _names(counted: dict[str, NDArray[Any]]) -> dict[int, str]:
    """What the labels were called."""
    return dict(zip(counted["label_numbers"].tolist(), counted["label_names"].tolist(), strict=True))


def _near(options: VoxelOptions) -> int:
    """How many shells lie within τ."""
    return int((shell_edges(options.tau, "voxels", plain=options.plain) <= np.float32(options.tau)).sum())


def _moved(tree: Levelled, within: NDArray[np.uint32], otherwise: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Volumes that were solid for a few scans and not there in many others, and the rims of those, shape (n,).

    ``within`` are the pulses that passed within τ.
    """
    returns = tree.counts
    meanwhile = within.sum(1, dtype=np.int64) - otherwise
    short = tree.seen[:, 1] - tree.seen[:, 0] < _SHORT
    solid = (returns >= _FEWEST_OF_MOVING) & (meanwhile < returns)
    gone: NDArray[np.bool_] = otherwise >= np.maximum(_FEWEST_OTHERWISE, 2 * returns)
    moved = short & solid & gone
    # A rim has few returns, and by itself could be a leaf: it goes with what it touches, if that was there when it was.
    rim = np.flatnonzero(short & gone & ~moved)
    if moved.any() and len(rim):
        cores = np.flatnonzero(moved)
        middle = tree.voxels + tree.sides[:, None] / 2
        apart, nearest = cKDTree(middle[cores]).query(middle[rim], p=np.inf)
        core = cores[nearest]
        touches = apart <= (tree.sides[rim] + tree.sides[core]) / 2
        together = (tree.seen[rim, 0] <= tree.seen[core, 1]) & (tree.seen[rim, 1] >= tree.seen[core, 0])
        moved[rim[touches & together]] = True
    return moved


def _escape(
    parts: Iterable[MeasuredPulses], tables: Gaussians, own: NDArray[np.float32], gap: float, options: VoxelOptions,
    silent: NDArray[np.int64],
) -> dict[str, NDArray[Any]]:  # fmt: skip
    escapes, behind = Escapes(tables, own, options.threads), Behind(tables, gap, options.threads)
    if not options.plain or gap > 0:
        for pulses, inside in _shifted(parts, options, silent):
            labels = find_volumes(tables, pulses, inside, options.threads)
            if not options.plain:
                escapes.add(pulses, labels)
            if gap > 0:
                behind.add(pulses, labels)
    expected, observed = escapes.totals()
    did, could = behind.totals()
    return {"expected": expected, "observed": observed, "did": did, "could": could}
