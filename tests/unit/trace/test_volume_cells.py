"""The walk through sparse grids finds what a plain search finds, in the same order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import kernel
from tussock.scene.volumes import Volumes
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import (
    ENTRY,
    EXIT,
    Cells,
    cell_keys,
    cells_of,
    grid_of,
    new_walk,
    next_cell,
    start_walk,
    volume_at,
)
from tussock.trace.volume_hits import gaussians_of, next_volume

CELL = 0.1


@kernel
def crossed(cells: Any, model: int, origins: Any, directions: Any, end: float, found: Any) -> None:
    """The first cells on each ray, with entry and exit; −1 after the last."""
    walk = new_walk()
    for ray in range(len(origins)):
        way = ray_in_row(origins, directions, ray, end)
        found[ray, :, 0] = -1.0
        if not start_walk(cells, model, walk, way):
            continue
        for k in range(found.shape[1]):
            cell = next_cell(cells, model, walk)
            found[ray, k, 0] = cell
            if cell < 0:
                break
            found[ray, k, 1], found[ray, k, 2] = walk.ray[ENTRY], walk.ray[EXIT]


@kernel
def volumes_met(tables: Any, model: int, origins: Any, directions: Any, end: float, found: Any) -> None:
    """The first volumes on each ray, with shell and range; −1 after the last."""
    walk = new_walk()
    for ray in range(len(origins)):
        way = ray_in_row(origins, directions, ray, end)
        found[ray, :, 0] = -1.0
        if not start_walk(tables.cells, model, walk, way):
            continue
        k = 0
        while k < found.shape[1]:
            i, shell, t, _ = next_volume(tables, model, walk, way)
            if i < 0:
                break
            if shell >= 0:
                found[ray, k, 0], found[ray, k, 1], found[ray, k, 2] = i, shell, t
                k += 1


def rays(n: int, seed: int, targets: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rays from all around at some points; every seventh lies in a layer of the grid, some along an axis."""
    rng = np.random.default_rng(seed)
    origins = rng.uniform(-12, 12, (n, 3))
    aims = targets[rng.integers(0, len(targets), n)]
    origins[::7, 2] = aims[::7, 2]
    origins[1::14, :2] = aims[1::14, :2]
    ways = aims - origins
    return origins, ways / np.linalg.norm(ways, axis=1, keepdims=True)


def occupied(seed: int) -> NDArray[np.int64]:
    """Clumps far apart, so that every layer of the grid has something empty."""
    rng = np.random.default_rng(seed)
    middles = rng.integers(-40, 40, (12, 1, 3))
    return np.unique((middles + rng.normal(0, 2.5, (12, 60, 3)).round().astype(int)).reshape(-1, 3), axis=0)


def grid(coordinates: NDArray[np.int64]) -> tuple[Cells, NDArray[np.int64]]:
    keys = cell_keys(coordinates, coordinates.min(0))
    order = np.argsort(keys)
    return grid_of(keys[order], coordinates.min(0), coordinates.max(0), CELL), coordinates[order]


@pytest.mark.parametrize("count", [60, 600])  # few enough to be walked uncompiled, and many
def test_the_walk_finds_the_cells_of_a_plain_search(count: int) -> None:
    cells, coordinates = grid(occupied(1))
    origins, ways = rays(count, 2, (coordinates + 0.3) * CELL)
    found = np.zeros((len(origins), 80, 3))
    crossed(cells, 0, origins, ways, 30.0, found)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = (coordinates * CELL - origins[:, None]) / ways[:, None]
        far = ((coordinates + 1) * CELL - origins[:, None]) / ways[:, None]
    enter = np.fmax.reduce(np.fmin(near, far), axis=2, initial=0.0)
    leave = np.fmin.reduce(np.fmax(near, far), axis=2, initial=30.0)
    # A ray that touches a cell by less than a micrometre may or may not meet it.
    sure, never = leave - enter > 1e-6, leave - enter < -1e-6
    total = 0
    for ray in range(len(origins)):
        crossings = int(np.argmax(np.append(found[ray, :, 0], -1) < 0))
        met = found[ray, :crossings, 0].astype(int)
        assert set(np.flatnonzero(sure[ray])) <= set(met)
        assert not never[ray, met].any()
        assert (np.diff(found[ray, :crossings, 1]) >= -1e-9).all(), "in the order of the ray"
        whole = met[sure[ray, met]]
        assert np.allclose(found[ray, :crossings, 1][sure[ray, met]], enter[ray, whole], atol=1e-6)
        assert np.allclose(found[ray, :crossings, 2][sure[ray, met]], leave[ray, whole], atol=0.1)
        total += len(whole)
    assert total > 1.5 * count, "the rays meet something"


@kernel
def looked_up(cells: Any, places: Any, found: Any) -> None:
    for i in range(len(places)):
        found[i] = volume_at(cells, 0, places[i, 0], places[i, 1], places[i, 2])


def test_a_cell_is_looked_up_as_in_a_plain_table() -> None:
    """Every cell that is occupied, those beside it, and places anywhere, outside of the grid, too."""
    cells, coordinates = grid(occupied(5))
    table = {tuple(place): number for number, place in enumerate(coordinates.tolist())}
    rng = np.random.default_rng(6)
    beside = coordinates + rng.integers(-1, 2, coordinates.shape)
    places = np.concatenate([coordinates, beside, rng.integers(-60, 60, (300, 3))])
    found = np.zeros(len(places), np.int64)
    looked_up(cells, places, found)
    assert found.tolist() == [table.get(tuple(place), -1) for place in places.tolist()]


def some_volumes(partition: Any, n: int, seed: int) -> Volumes:
    rng = np.random.default_rng(seed)
    places = occupied(seed)
    means = ((places + rng.uniform(0.1, 0.9, places.shape)) * CELL)[rng.permutation(len(places))[:n]]
    axes = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    precisions = np.einsum("nik,nk,njk->nij", axes, rng.uniform(0.005, 0.2, (n, 3)) ** -2.0, axes)
    packed = precisions[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    edges = np.array([1.0, 2.0, 3.0] if partition == "ellipsoids" else [1.0, 2.0, np.inf], np.float32)
    return Volumes(
        means.astype(np.float32), packed.astype(np.float32), np.full(n, 0.5, np.float32),
        np.full((n, 3), 32768, np.uint16), np.zeros(n, np.uint16), np.full(n, 5, np.uint32),
        np.full(n, 0.3, np.float32), CELL if partition == "voxels" else 0.35, edges, partition,
    )  # fmt: skip


@pytest.mark.parametrize(("model", "rays_cast"), [(0, 300), (1, 300), (0, 40), (1, 40)])
def test_ellipsoids_are_met_once_each_in_the_order_of_the_ray(model: int, rays_cast: int) -> None:
    """Also where another model stands before it in the same tables."""
    volumes = some_volumes("ellipsoids", 150, 4)
    tables = gaussians_of([volumes] if model == 0 else [some_volumes("voxels", 200, 5), volumes])
    origins, ways = rays(rays_cast, 6, volumes.means.astype(float))
    found = np.zeros((len(origins), 60, 3))
    volumes_met(tables, model, origins, ways, 40.0, found)
    precision = np.linalg.inv(volumes.covariances)
    towards = volumes.means.astype(float) - origins[:, None]
    along = 1 / np.einsum("ri,nij,rj->rn", ways, precision, ways)
    t = np.einsum("ri,nij,rnj->rn", ways, precision, towards) * along  # eq (1)
    off = origins[:, None] + t[..., None] * ways[:, None] - volumes.means
    distance = np.sqrt(np.einsum("rni,nij,rnj->rn", off, precision, off))
    first = 0 if model == 0 else 200
    total = 0
    for ray in range(len(origins)):
        there = (t[ray] > 1e-6) & (t[ray] < 40) & (distance[ray] < 3 * (1 - 1e-4))
        count = int(np.argmax(np.append(found[ray, :, 0], -1) < 0))
        met = found[ray, :count, 0].astype(int) - first
        assert len(set(met)) == count, "each once"
        assert set(np.flatnonzero(there)) <= set(met)
        assert (distance[ray, met] < 3 * (1 + 1e-3)).all()
        assert np.allclose(found[ray, :count, 2], t[ray, met], atol=1e-3)
        assert (np.diff(found[ray, :count, 2]) > 0).all()
        inner = np.abs(distance[ray, met] % 1 - 0.5) < 0.49
        assert (found[ray, :count, 1][inner] == np.floor(distance[ray, met])[inner]).all()
        total += count
    assert total > rays_cast


def test_memory_is_that_of_what_is_occupied() -> None:
    """At most 100 bytes a volume with its grid, however far the volumes are spread."""
    rng = np.random.default_rng(0)
    for spread in (3.0, 300.0):
        places = np.unique(np.floor(rng.normal(0, spread, (40_000, 1, 3)) + rng.uniform(0, 3, (40_000, 8, 3))), axis=0)
        places = np.unique(places.reshape(-1, 3), axis=0)
        n = len(places)
        volumes = Volumes(
            ((places + 0.5) * CELL).astype(np.float32), np.tile(np.float32([1e4, 0, 0, 1e4, 0, 1e4]), (n, 1)),
            np.zeros(n, np.float32), np.zeros((n, 6), np.uint16), np.zeros(n, np.uint16), np.zeros(n, np.uint32),
            np.zeros(n, np.float32), CELL, np.float32([0.5, 1, 1.5, 2, 3, np.inf]),
        )  # fmt: skip
        tables = gaussians_of([volumes])
        held = sum(array.nbytes for array in tables if isinstance(array, np.ndarray)) + tables.cells.nbytes
        kept = volumes.nbytes + tables.cells.nbytes
        assert max(held, kept) / n <= 100, f"spread {spread}"


def test_two_means_in_one_voxel_are_refused() -> None:
    volumes = some_volumes("voxels", 20, 3)
    means = volumes.means.copy()
    means[1] = means[0]
    with pytest.raises(InputError, match="same voxel"):
        cells_of(replace(volumes, means=means))
