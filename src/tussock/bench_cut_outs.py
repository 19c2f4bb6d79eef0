"""What cut-outs cost: leaves as pictures on cards, cut out, beside the same leaves as triangles, in turns of one run.

Plants of three crossed cards stand at random places around a sensor. On each card are nine leaves, ellipses of 24 corners:
as a picture of 256 × 256 whose see-through pixels are cut out, as triangles, and as a picture of which nothing is cut out.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import card, plane
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance
from tussock.scene.texture import Texture
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World

__all__ = ["LeavesAs", "measure_cut_outs"]

_PIXELS, _LEAVES, _CROSSED = 256, 9, 3
_CORNERS = 24


class LeavesAs(NamedTuple):
    """One way to have leaves."""

    triangles: int
    """of a plant"""
    share: float
    """of the returns that are from leaves"""
    time: float
    """processor time of a scan over that with leaves as triangles; median over the rounds"""


def measure_cut_outs(*, plants: int = 4000, rounds: int = 9) -> dict[str, LeavesAs]:
    """Scans of a field of ``plants`` by an HDL-64E with four rays a pulse, on one thread."""
    rng = chance("cut-outs", 1)
    rims = _rims(rng.uniform(0.2, 0.8, (_LEAVES, 2)), rng.uniform(0, np.pi, _LEAVES))
    picture = Texture(_drawn(rims))
    shapes = {
        "triangles": _fans(rims),
        "cut out": card(crossed=_CROSSED, material=Material(texture=picture)),
        "solid cards": card(crossed=_CROSSED, material=Material(texture=picture, opacity_cutoff=0.0)),
    }
    spots = np.concatenate([rng.uniform(-40, 40, (plants, 2)), np.zeros((plants, 1))], 1)
    spots = spots[np.linalg.norm(spots, axis=1) > 2.0]
    turned = Placements.of(spots, yaw=rng.uniform(0, 2 * np.pi, len(spots)))
    worlds = {}
    for name, mesh in shapes.items():
        scene = Scene(name)
        scene.add(plane((200, 200)), name="ground")
        scene.add(mesh, placements=turned, name="leaves")
        worlds[name] = World(scene)
    sensor, pose = load_sensor("hdl-64e-s3").with_(**{"beam.rays": 4}), Pose.at(0, 0, 1.5)
    seconds: dict[str, list[float]] = {name: [] for name in worlds}
    share = {}
    for turn in range(rounds + 1):
        for name, world in worlds.items():
            begun = time.process_time()
            frame = scan(world, sensor, pose, seed=1, threads=1)
            if turn:  # the first one compiles
                seconds[name].append(time.process_time() - begun)
            share[name] = float((frame.object_id == 2).mean())
    return {
        name: LeavesAs(
            len(mesh.triangles), share[name], float(np.median(np.array(seconds[name]) / np.array(seconds["triangles"])))
        )
        for name, mesh in shapes.items()
    }


def _rims(places: FloatArray, turns: FloatArray) -> FloatArray:
    """Corners (leaves, corners, 2) of ellipses in the unit square of a card, counter-clockwise."""
    angles = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    flat = np.stack([0.05 * np.cos(angles), 0.17 * np.sin(angles)], 1)
    cos, sin = np.cos(turns), np.sin(turns)
    turned = np.einsum("kc,lcd->lkd", flat, np.stack([np.stack([cos, sin], 1), np.stack([-sin, cos], 1)], 1))
    return np.asarray(places[:, None] + turned)


def _drawn(rims: FloatArray) -> NDArray[np.uint8]:
    """The picture: opaque where a pixel's middle is inside any rim."""
    x, y = np.meshgrid((np.arange(_PIXELS) + 0.5) / _PIXELS, 1 - (np.arange(_PIXELS) + 0.5) / _PIXELS)
    inside = np.zeros((_PIXELS, _PIXELS), bool)
    for rim in rims:
        leaf = np.ones_like(inside)
        for (px, py), (qx, qy) in zip(rim, np.roll(rim, -1, 0), strict=True):
            leaf &= (qx - px) * (y - py) - (qy - py) * (x - px) >= 0
        inside |= leaf
    pixels = np.full((_PIXELS, _PIXELS, 4), 255, np.uint8)
    pixels[..., :3], pixels[..., 3] = (60, 120, 40), 255 * inside
    return pixels


def _fans(rims: FloatArray) -> Mesh:
    """The leaves of crossed cards as triangles."""
    across, up = rims.reshape(-1, 2).T
    turns = np.pi * np.arange(_CROSSED)[:, None] / _CROSSED
    corners = np.stack([np.cos(turns) * (across - 0.5), np.sin(turns) * (across - 0.5), up + 0 * turns], 2)
    k = np.arange(1, _CORNERS - 1)
    fan = np.stack([0 * k, k, k + 1], 1)
    triangles = fan[None] + _CORNERS * np.arange(_CROSSED * len(rims))[:, None, None]
    return Mesh.of(corners.reshape(-1, 3), triangles.reshape(-1, 3))
