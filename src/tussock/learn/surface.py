"""The usual way, to compare with: a surface mesh through the points, met by one ray.

Deschaud et al. (2012), sections V.C and VI: robust implicit moving least squares (RIMLS; Öztireli et al. 2009) and
marching cubes, 1 cm cells and a kernel of 4 cm for a target at 8 m, 0.3 m and 0.4 m for a whole place; one ray a
pulse and Gaussian noise with σ = 5 mm. Done by PyMeshLab (``pip install 'tussock[surface]'``).

PyMeshLab's kernel is relative to the local spacing of the points, which differs wildly within one laser's row and
across rows, and it only looks within twice that spacing. So the points are first thinned to half a kernel: averaged
in cells, then moved to the mean of all points within half a kernel, which undoes the layers that noise makes. Sheets
further than a kernel from every point are artefacts of the method and are dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.voxels import into_voxels
from tussock.randomness import Purpose, normal_array
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene

__all__ = ["SURFACE_SIGMA", "scan_surface", "surface_mesh"]

SURFACE_SIGMA = 0.005
"""[m] range noise of an HDL-64E on a plane (Deschaud et al. 2012, section V.C)"""
_SPACING_NEIGHBOURS = 16  # as PyMeshLab measures spacing: 2 √(d²₁₆ / 16)
_NORMAL_NEIGHBOURS = 24


def surface_mesh(pulses: MeasuredPulses, *, cell: float = 0.01, kernel: float = 0.04) -> Mesh:
    """The surface through the returns of ``pulses``, in their frame; ``cell`` and ``kernel`` [m].

    >>> mesh = tussock.surface_mesh(tussock.load_pulses("wall.npz"))  # doctest: +SKIP
    """
    meshlab = _meshlab()
    for name, size in (("cell", cell), ("kernel", kernel)):
        if not (np.isfinite(size) and size > 0):
            raise InputError.of(f"surface {name}", "must be a length above 0 [m]", size)
    points = pulses.points[pulses.hit]
    if len(points) < _SPACING_NEIGHBOURS + 1:
        raise InputError.of("pulses", f"need {_SPACING_NEIGHBOURS + 1} returns or more for a surface", len(points))
    fine, weights = _averaged(points, np.ones(len(points)), cell / 2)
    middle = fine.mean(0)  # MeshLab computes in single precision
    fine -= middle
    thin = _thinned(fine, weights, kernel / 2)
    if len(thin) <= _SPACING_NEIGHBOURS:
        raise InputError.of("kernel", "leaves too few points for a surface", kernel, "use a smaller kernel")
    near, _ = cKDTree(thin).query(thin, _SPACING_NEIGHBOURS + 1)
    spacing = 2 * near[:, -1] / np.sqrt(_SPACING_NEIGHBOURS)
    cloud = meshlab.MeshSet()
    normals = _normals(thin, pulses.origins.mean(0) - middle, 2.5 * kernel)
    cloud.add_mesh(meshlab.Mesh(vertex_matrix=thin, v_normals_matrix=normals))
    longest = float(np.ptp(thin, axis=0).max())
    cloud.generate_marching_cubes_rimls(
        filterscale=float(2 * kernel / np.median(spacing)),
        resolution=max(8, int(np.ceil(longest / cell))),
        # MeshLab moves the corners onto the surface in steps, and whether it takes more than one does not depend on
        # its input alone: one gives the same mesh every time.
        maxprojectioniters=1,
    )
    made = cloud.current_mesh()
    vertices, faces = made.vertex_matrix(), made.face_matrix()
    # Where the implicit function has no gradient MeshLab leaves corners undefined: not finite, or anywhere at all.
    with np.errstate(invalid="ignore"):
        sound = (np.abs(vertices) <= 2 * longest + kernel).all(1)
    faces = faces[sound[faces].all(1)]
    vertices = np.where(sound[:, None], vertices, 0.0)
    away, _ = cKDTree(fine).query(vertices[faces].mean(1)) if len(faces) else (np.zeros(0), None)
    faces = faces[away < kernel]
    if len(faces) == 0:
        raise InputError.of("surface", "no surface was found at this kernel", kernel, "use a larger kernel or cell")
    return Mesh.of(vertices + middle, faces)


def _averaged(
    points: NDArray[np.float64], weights: NDArray[np.float64], cell: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean point of every occupied cell, and its weight."""
    labels, count = into_voxels(points, cell)
    total = np.bincount(labels, weights, count)
    means = np.stack([np.bincount(labels, points[:, a] * weights, count) for a in range(3)], 1)
    return (means / total[:, None]).astype(np.float64), total.astype(np.float64)


def _thinned(points: NDArray[np.float64], weights: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Points about a radius apart, each the mean of all points within a radius of it."""
    thin, _ = _averaged(points, weights, radius)
    tree = cKDTree(points)
    for _ in range(2):
        around = tree.sparse_distance_matrix(cKDTree(thin), radius, output_type="ndarray")
        i, j, share = around["i"], around["j"], weights[around["i"]]
        total = np.bincount(j, share, len(thin))
        moved = np.stack([np.bincount(j, points[i, a] * share, len(thin)) for a in range(3)], 1)
        thin = np.where(total[:, None] > 0, moved / np.maximum(total, 1e-9)[:, None], thin)
    return _averaged(thin, np.ones(len(thin)), radius)[0]


def _normals(points: NDArray[np.float64], viewpoint: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Directions in which the neighbourhood of each point is thinnest, turned to the viewpoint; shape (n, 3)."""
    k = min(_NORMAL_NEIGHBOURS, len(points))
    distance, index = cKDTree(points).query(points, k, distance_upper_bound=radius)
    found = np.isfinite(distance)
    around = points[np.where(found, index, 0)]
    mean = (around * found[..., None]).sum(1) / found.sum(1)[:, None]
    off = (around - mean[:, None]) * found[..., None]
    _, axes = np.linalg.eigh(np.einsum("nka,nkb->nab", off, off))
    thinnest = axes[:, :, 0]
    side = np.sign(((viewpoint - points) * thinnest).sum(1))
    return thinnest * np.where(side == 0, 1.0, side)[:, None]


def scan_surface(mesh: Mesh, like: MeasuredPulses, *, sigma: float = SURFACE_SIGMA, seed: int = 0) -> MeasuredPulses:
    """Fire the pulses of ``like`` at a mesh in the same frame: one ray each, Gaussian range noise [m].

    >>> wall = tussock.box((0.2, 9, 9))
    >>> like = tussock.MeasuredPulses.of([-5, 0, 0], [[1, 0, 0]], [1.0], reach=20)
    >>> float(tussock.scan_surface(wall, like, sigma=0.0).ranges.round(3)[0])
    4.9
    """
    from tussock.trace.rays import trace_rays
    from tussock.trace.world import World

    scene = Scene("surface")
    scene.add(mesh)
    ranges: NDArray[np.float64] = trace_rays(World(scene), like.origins, like.directions, like.reach).astype(float)
    noise = sigma * normal_array(seed, Purpose.RAY_NOISE, 0, np.arange(len(ranges)))
    ranges = np.maximum(ranges + noise, 0.0)
    return replace(like, ranges=ranges, intensity=np.where(np.isfinite(ranges), 0.3, 0).astype(np.float32))


def _meshlab() -> Any:
    try:
        import pymeshlab
    except ImportError:
        raise InputError("surface: needs PyMeshLab; install it with `pip install 'tussock[surface]'`") from None
    return pymeshlab
