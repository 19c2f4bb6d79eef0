"""Who passed and who ended, counted by the walk and by a plain search over all volumes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.permeability import Counting
from tussock.scene.volumes import Partition, Volumes, shell_edges, unpacked
from tussock.trace.volume_hits import gaussians_of


def cloud(partition: Partition, seed: int) -> Volumes:
    """Slanted Gaussians about (6, 0, 0): one a voxel of 0.5 m, or large ones that overlap."""
    rng = np.random.default_rng(seed)
    voxels = np.unique(rng.integers([10, -3, -3], [14, 3, 3], (60, 3)), axis=0)
    means = ((voxels + rng.uniform(0.2, 0.8, voxels.shape)) * 0.5).astype(np.float32)
    n = len(means)
    turns = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    sizes = rng.uniform(0.05, 0.12, (n, 3)) * (1.0 if partition == "voxels" else 3.0)
    precisions = turns / sizes[:, None, :] ** 2 @ np.swapaxes(turns, 1, 2)
    packed = precisions[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]].astype(np.float32)
    edges = shell_edges(2.0, partition)
    none = np.zeros(n)
    made = Volumes(means, packed, none, np.zeros((n, len(edges))), none, none, none, 0.5, edges, partition)
    # In the order of the tables, so that both count by the same numbers.
    order = [int(np.flatnonzero((means == mean).all(1))[0]) for mean in gaussians_of([made]).means]
    return replace(made, means=made.means[order], precisions=made.precisions[order])


def fired(volumes: Volumes, seed: int, count: int = 3000) -> tuple[MeasuredPulses, NDArray[np.int64]]:
    """Pulses through the cloud, a third without return, the others ended in a volume that is named, or in none."""
    rng = np.random.default_rng(seed)
    own = rng.integers(-1, len(volumes), count)
    aim = volumes.means[np.maximum(own, 0)].astype(float) + rng.normal(0, 0.08, (count, 3))
    origins = rng.uniform([-1, -2, -2], [1, 2, 2], (count, 3))
    ranges = np.linalg.norm(aim - origins, axis=1)
    ranges[rng.random(count) < 0.3] = np.nan
    labels = np.where(np.isfinite(ranges), own, -1)
    return MeasuredPulses.of(origins, aim - origins, ranges, reach=12.0), labels


def counted_plainly(
    volumes: Volumes, pulses: MeasuredPulses, labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Eq (1) of Deschaud et al. for every pulse and volume; shells in columns, what lies outside all in the last."""
    precisions = unpacked(volumes.precisions)
    shape = (len(volumes), len(volumes.edges) + 1)
    passed, ended = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    low = np.floor(volumes.means.astype(float) / volumes.cell) * volumes.cell
    for origin, way, end, own in zip(pulses.origins, pulses.directions, pulses.ranges, labels, strict=True):
        towards = volumes.means.astype(float) - origin
        t = np.einsum("i,nij,nj->n", way, precisions, towards) / np.einsum("i,nij,j->n", way, precisions, way)
        off = origin + t[:, None] * way - volumes.means
        distance = np.sqrt(np.einsum("ni,nij,nj->n", off, precisions, off))
        shell = np.searchsorted(volumes.edges, distance, side="right")
        stop = end if np.isfinite(end) else pulses.reach
        if volumes.partition == "ellipsoids":
            # An ellipsoid is passed where the pulse is nearest to it, if it came as far.
            met = (t > 0) & (t < stop)
        else:
            with np.errstate(divide="ignore"):
                one, two = (low - origin) / way, (low + volumes.cell - origin) / way
            enter, leave = np.minimum(one, two).max(1), np.maximum(one, two).min(1)
            met = (enter < leave) & (leave > 0) & (enter < stop)
            if own >= 0:
                met &= enter < enter[own]
        for i in np.flatnonzero(met):
            if i != own:
                passed[i, shell[i]] += 1
        if own >= 0:
            ended[own, shell[own]] += 1
    return passed, ended


@pytest.mark.parametrize("partition", ["voxels", "ellipsoids"])
@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_a_plain_search(partition: Partition, seed: int) -> None:
    volumes = cloud(partition, seed)
    pulses, labels = fired(volumes, seed + 100)
    # A return lies in its own voxel by definition, and nothing that was crossed lies behind it.
    if partition == "voxels":
        inside = np.floor(pulses.points / volumes.cell) == np.floor(volumes.means[np.maximum(labels, 0)] / volumes.cell)
        labels = np.where(inside.all(1), labels, -1)
    counting = Counting(gaussians_of([volumes]), threads=2)
    half = len(pulses) // 2
    for rows in (slice(half), slice(half, None)):
        counting.add(pulses.select(rows), labels[rows])
    passed, ended = counting.totals()
    wanted_passed, wanted_ended = counted_plainly(volumes, pulses, labels)
    inner = slice(None, -1) if partition == "ellipsoids" else slice(None)  # far ones are not looked at
    assert wanted_passed[:, inner].sum() > 1000 and wanted_ended.sum() > 500
    # float32 means and a float64 walk may disagree on what lies on an edge to the last bit
    assert np.abs(passed[:, inner].astype(int) - wanted_passed[:, inner]).sum() <= 2
    assert np.abs(ended.astype(int) - wanted_ended).sum() <= 2
