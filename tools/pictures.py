"""The pictures of the README and of the pages that show what things look like: ``python tools/pictures.py [NAME…]``.

Each is taken by Tussock's own camera and saved over the one in ``docs/pictures``; without names all of them are made,
which takes some minutes on two cores. ``--small`` writes quick ones of a third of the size into the current folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

import tussock
from tussock.scene.surfaces import SURFACES

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
Rgb = np.ndarray


def taken(scene: tussock.Scene, place: tuple[float, ...], size: tuple[int, int], **options: float) -> Rgb:
    """A picture from ``place``: x, y, z [m], yaw and pitch (up positive) [deg]."""
    x, y, z, yaw, pitch = place
    light = tussock.Light(
        sun_azimuth_deg=options.get("sun_azimuth", 140.0), sun_elevation_deg=options.get("sun_elevation", 35.0)
    )
    lens = tussock.Pinhole(horizontal_fov_deg=options.get("fov", 60.0))
    camera = tussock.Camera(width=size[0], height=size[1], lens=lens, samples=int(options.get("samples", 16)))
    pose = tussock.Pose.at(x, y, z, yaw=np.deg2rad(yaw), pitch=-np.deg2rad(pitch))
    return tussock.render(scene, camera, pose, light=light, time=options.get("time", 0.0), seed=1).rgb


def plants(scale: float) -> Rgb:
    """Every kind that can be grown, one beside the other, each as large in its picture as the others."""
    wide, high = round(270 * scale), round(340 * scale)
    kinds: list[tuple[Callable[[], tussock.Mesh], float, float]] = [
        (lambda: tussock.grass_tile(blades=500, height=0.3, dead=0.15, seed=2), 0.42, 1.3),
        (lambda: tussock.sward_tile(blades=700, height=0.24, herbs=22, flowers=0.5, seed=3), 0.42, 1.3),
        (lambda: tussock.reeds(size=(1.6, 1.6), density=40, height=2.1, lean=0.06, variation=0.2, seed=4), 2.5, 2.7),
        (lambda: tussock.shrub(triangles=60_000, seed=5), 1.9, 2.3),
        (lambda: tussock.tree(triangles=160_000, seed=7), 10.5, 10.0),
        (lambda: tussock.conifer(triangles=240_000, seed=8), 14.2, 11.0),
    ]
    turf = SURFACES["soil"].changed(name="turf", color=(0.10, 0.115, 0.045), variation=0.6)
    parts = []
    for make, tall, broad in kinds:
        scene = tussock.Scene("plant")
        scene.add(tussock.plane((400, 400), material=turf), name="ground", label="terrain")
        scene.add(make(), name="plant")
        away = max(tall / 0.72, broad * high / wide / 0.85) / (2 * np.tan(np.deg2rad(15))) * 0.9
        place = (-away, 0.0, 0.62 * tall + 0.04 * away, 0.0, -np.rad2deg(np.arctan2(0.10 * tall + 0.04 * away, away)))
        fov = float(np.rad2deg(2 * np.arctan(np.tan(np.deg2rad(17)) * wide / high)))
        parts.append(taken(scene, place, (wide, high), fov=fov, sun_azimuth=215, sun_elevation=38))
    return np.concatenate(parts, 1)


PICTURES: dict[str, Callable[[float], Rgb]] = {"plants": plants}


def main() -> None:
    """Make those that are named."""
    words = [word for word in sys.argv[1:] if word != "--small"]
    unknown = [word for word in words if word not in PICTURES]
    if unknown:
        sys.exit(f"{unknown[0]!r}: no such picture; there are {', '.join(PICTURES)}")
    small = "--small" in sys.argv
    for name in words or PICTURES:
        rgb = PICTURES[name](1 / 3 if small else 1.0)
        path = Path(f"{name}.png") if small else FOLDER / f"{name}.jpg"
        Image.fromarray(rgb).save(path, quality=84, optimize=True)
        print(path, f"{rgb.shape[1]} × {rgb.shape[0]}, {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
