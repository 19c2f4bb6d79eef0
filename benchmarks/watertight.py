"""Rays that must meet something and do not: prints a count for each closed or endless surface.

    python benchmarks/watertight.py [MILLIONS]

Twenty million rays (or as many as are given) from inside closed shapes and from above ground, in random directions.
"""

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import tussock
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, plane, sphere
from tussock.trace.rays import trace_rays
from tussock.trace.world import Moving

BATCH = 1_000_000
batches = max(1, round(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0))
hills = ground((4000, 4000), cells=(500, 500), heights=lambda x, y: 2 * np.sin(x / 17) * np.cos(y / 11))
cases = {
    "a grid of 1000 × 1000 cells": (ground((4000, 4000), cells=(1000, 1000)), None),
    "two triangles": (plane((4000, 4000)), None),
    "terrain": (hills, None),
    "terrain, one of two copies": (hills, Placements.of([[0, 0, 0], [9000, 0, 0]], yaw=np.array([0.3, 0.0]))),
    "a ball": (sphere(5.0, subdivisions=5), None),
    "a ball, one of two copies": (sphere(5.0), Placements.of([[0, 0, 0], [90, 0, 0]], scale=np.array([1.1, 0.9]))),
    "a box": (box((9, 8, 7)), None),
    "a ball that moves": (sphere(5.0, subdivisions=5), None),
    "terrain that moves": (hills, None),
}


@dataclass
class Moved:
    """A world with what moves in it, for `trace_rays`."""

    world: tussock.World
    """what moves can be traced for as long as its world lives"""
    still: Moving
    origin: NDArray[np.float64]


for name, (mesh, placements) in cases.items():
    scene = tussock.Scene()
    moves = "moves" in name
    path = tussock.Trajectory.through([0.0, 0.1], [tussock.Pose(), tussock.Pose.at(0.5, 0.2, 0.1, yaw=0.3)])
    scene.add(mesh, placements=placements, motion=path if moves else None)
    world, lost, rng = tussock.World(scene), 0, np.random.default_rng(1)
    if moves:
        world = Moved(world, world.moving(0.0, 0.1), world.origin)
    flat = "ball" not in name and "box" not in name
    for _ in range(batches):
        way = rng.normal(size=(BATCH, 3))
        if flat:
            way[:, 2] = -np.abs(way[:, 2]) - 0.05 * np.linalg.norm(way[:, :2], axis=1)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        start = np.array([0.3, 0.1, 4.0 if flat else 0.2])
        lost += int(np.isnan(trace_rays(world, np.broadcast_to(start, way.shape), way, 1e4)).sum())
    print(f"{name:30} {lost} of {batches * BATCH:,} rays fell through")
