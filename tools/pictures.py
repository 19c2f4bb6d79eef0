"""The pictures of the README and of the pages that show what things look like: ``python tools/pictures.py [NAME…]``.

Each is taken by Tussock's own camera and saved over the one in ``docs/pictures``; without names all of them are made,
which takes some minutes on two cores. ``--small`` writes quick ones of a third of the size into the current folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

import tussock
from tussock.ground.turf import turfed
from tussock.plots.point_colors import paint_points
from tussock.scene.surfaces import SURFACES
from tussock.scenes.car import car

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
Rgb = np.ndarray


class Shot(NamedTuple):
    """Where a camera stands, and the light."""

    place: tuple[float, float, float]
    """[m]"""
    yaw: float
    pitch: float
    """[deg], up positive"""
    fov: float = 70.0
    """[deg] across"""
    sun: tuple[float, float] = (140.0, 35.0)
    """[deg] azimuth and elevation"""
    time: float = 0.0

    @property
    def pose(self) -> tussock.Pose:
        return tussock.Pose.at(*self.place, yaw=np.deg2rad(self.yaw), pitch=-np.deg2rad(self.pitch))

    def taken(self, scene: tussock.Scene | tussock.World, size: tuple[int, int]) -> Rgb:
        lens = tussock.Pinhole(horizontal_fov_deg=self.fov)
        camera = tussock.Camera(width=size[0], height=size[1], lens=lens, samples=16)
        light = tussock.Light(sun_azimuth_deg=self.sun[0], sun_elevation_deg=self.sun[1])
        return tussock.render(scene, camera, self.pose, light=light, time=self.time, seed=1).rgb


def of_scene(name: str, shot: Shot, scale: float) -> Rgb:
    """A ready scene."""
    return shot.taken(tussock.ready_scene(name), (round(960 * scale), round(540 * scale)))


def seen_twice(shot: Shot, scale: float) -> Rgb:
    """The forest trail as a camera sees it and, towards the right, as the points of a LIDAR beside it."""
    wide, high = round(1280 * scale), round(560 * scale)
    world = tussock.World(tussock.ready_scene("forest-trail"))
    photo = shot.taken(world, (wide, high)).astype(float)
    points = np.full_like(photo, np.array([13.0, 17.0, 20.0]))
    sensor = tussock.load_sensor("os1-128").with_(**{"beam.rays": 9})
    # Three frames from places a hand apart: more points than one has, without a pattern in them.
    frames = [
        tussock.scan(world, sensor, tussock.Pose.at(x, y, z + 0.1 * k, yaw=0.7 * k), seed=k)
        for k, (x, y, z) in enumerate([shot.place] * 3)
    ]
    for frame in frames:
        _drawn(points, frame, shot, scale)
    across = np.linspace(0, 1, wide)[None] + 0.12 * np.linspace(0.5, -0.5, high)[:, None]
    share = np.clip((across - 0.5) / 0.02, 0, 1)[..., None]
    return np.asarray(photo * (1 - share) + points * share, np.uint8)


def _drawn(image: Rgb, frame: tussock.Frame, shot: Shot, scale: float) -> None:
    """The points of a frame, near ones over far ones, near ones larger, in the colours of their labels."""
    high, wide, _ = image.shape
    seen = (frame.world_xyz() - np.array(shot.place)) @ shot.pose.rotation
    colors = paint_points(frame, "label").colors
    before = seen[:, 0] > 0.5
    seen, colors = seen[before], colors[before]
    order = np.argsort(-seen[:, 0])
    seen, colors = seen[order], colors[order].astype(float)
    focal = wide / 2 / np.tan(np.deg2rad(shot.fov) / 2)
    x, y = wide / 2 - focal * seen[:, 1] / seen[:, 0], high / 2 - focal * seen[:, 2] / seen[:, 0]
    bright = frame.intensity[before][order][:, None]
    colors *= np.clip(1.25 - seen[:, :1] / 60, 0.45, 1.0) * np.clip(0.5 + 0.6 * bright / np.median(bright), 0.6, 1.25)
    colors = np.clip(colors, 0, 255)
    for reach, size in ((99.0, 2), (14.0, 3), (6.0, 4)):
        near = seen[:, 0] < reach
        dots = max(1, round(size * scale))
        for dx in range(dots):
            for dy in range(dots):
                i, j = np.floor(y[near]).astype(int) + dy, np.floor(x[near]).astype(int) + dx
                inside = (i >= 0) & (i < high) & (j >= 0) & (j < wide)
                image[i[inside], j[inside]] = colors[near][inside]


def plants(scale: float) -> Rgb:
    """Every kind that can be grown, one beside the other, each as large in its picture as the others."""
    wide, high = round(270 * scale), round(340 * scale)
    # how it is made; how high and broad [m] what is to be seen is; how steeply it is looked down on
    kinds: list[tuple[Callable[[], tussock.Mesh], float, float, float]] = [
        (lambda: tussock.grass_tile(blades=500, height=0.3, dead=0.15, seed=2), 0.4, 1.12, 0.12),
        (lambda: tussock.sward_tile(blades=700, height=0.24, herbs=22, flowers=0.5, seed=3), 0.4, 1.12, 0.12),
        (
            lambda: tussock.reeds(size=(1.2, 1.2), density=45, height=1.9, lean=0.06, variation=0.2, seed=4),
            2.2,
            1.6,
            0.1,
        ),
        (lambda: tussock.shrub(triangles=60_000, seed=5), 1.8, 2.0, 0.1),
        (lambda: tussock.tree(triangles=200_000, seed=7), 12.6, 9.5, 0.05),
        (lambda: tussock.conifer(crown_radius=3.0, triangles=300_000, seed=8), 14.5, 7.0, 0.05),
    ]
    parts = []
    for make, tall, broad, down in kinds:
        scene = tussock.Scene("plant")
        scene.add(turfed(tussock.plane((400, 400))), name="ground", label="terrain")
        scene.add(make(), name="plant")
        away = float(max(tall / 0.84, broad * high / wide) / (2 * np.tan(np.deg2rad(17))))
        place = (-away, 0.0, 0.5 * tall + down * away)
        fov = float(np.rad2deg(2 * np.arctan(np.tan(np.deg2rad(17)) * wide / high)))
        shot = Shot(place, 0.0, -float(np.rad2deg(np.arctan(down))), fov, (215.0, 38.0))
        parts.append(shot.taken(scene, (wide, high)))
    return np.concatenate(parts, 1)


def weather_dust(scale: float) -> Rgb:
    """A car on a dry track with its dust behind it, by the camera, and beside it from above what an HDL-32E gets of it."""
    dry = SURFACES["soil"].changed(name="track", color=(0.30, 0.22, 0.13), variation=0.3)
    scene = tussock.Scene("track")
    scene.add(tussock.plane((240, 240), material=dry), name="ground", label="terrain")
    x, y = (part.ravel() for part in np.meshgrid(np.arange(-50, 50, 2.0) + 1.0, np.arange(-26, 40, 2.0) + 1.0))
    beside = np.abs(y - 10.0 - 2.0 * np.sin(x / 18.0)) > 3.0
    places = np.stack([x, y, np.zeros_like(x)], 1)[beside]
    sward = tussock.sward_tile(size=2.0, blades=900, height=0.16, herbs=20, flowers=0.2, seed=3)
    scene.add(sward, name="meadow", label="grass", placements=tussock.Placements.of(places))
    for k, place in enumerate([(-14.0, 24.0), (12.0, 27.0), (32.0, 22.0), (-36.0, 30.0)]):
        scene.add(tussock.tree(triangles=40_000, seed=k), name=f"tree {k}", label="tree", position=(*place, 0.0))
    times = np.linspace(0.0, 8.0, 17)
    along = -48.0 + 7.0 * times
    path = [
        tussock.Pose.at(at, 10.0 + 2.0 * np.sin(at / 18.0), 0.0, yaw=np.arctan(2.0 / 18.0 * np.cos(at / 18.0)))
        for at in along
    ]
    way = tussock.Trajectory.through(times, path)
    scene.add(car(SURFACES["car-paint"]), name="car", label="car", motion=way)
    dust = tussock.DustTrail(
        behind="car", offset_m=(-2.2, 0.0, 0.4), puff_m=0.8, every_s=0.12, density_g_m3=5.0, lasts_s=7.0
    )
    scene.weather = tussock.Weather(dust_trails=[dust], wind_m_s=(0.0, 0.6, 0.05))
    time = 7.6
    wide, high = round(860 * scale), round(430 * scale)
    shot = Shot((-4.0, 0.5, 1.8), 68.0, -2.0, 80.0, (250.0, 38.0), time).taken(scene, (wide, high))
    return np.concatenate([shot, _from_above(scene, time, high)], 1)


def _from_above(scene: tussock.Scene, time: float, side: int) -> Rgb:
    """The returns of an HDL-32E at (0, 0), 26 m to each side: dust orange, the car red, the rest blue."""
    sensor = tussock.load_sensor("hdl-32e")
    frame = tussock.scan(scene, sensor, tussock.Pose.at(0, 0, 2.0), frame=round(time / sensor.frame_period), seed=1)
    out = np.full((side, side, 3), 255, np.uint8)
    for label, color, grow in (("", (52, 110, 175), 1), ("dust", (226, 120, 40), 3), ("car", (190, 20, 30), 3)):
        chosen = frame.label == scene.labels[label] if label else np.ones(len(frame), bool)
        across = ((frame.true_xyz[chosen, :2] / 26.0 * [1, -1] + [1, 1]) / 2 * side).astype(int)
        for dx in range(grow):
            for dy in range(grow):
                at = across + np.array([dx, dy])
                at = at[((at >= 0) & (at < side)).all(1)]
                out[at[:, 1], at[:, 0]] = color
    return out


_TRAIL = Shot((-12.0, -5.6, 2.2), 28.0, -3.0, sun=(215.0, 40.0))
PICTURES: dict[str, Callable[[float], Rgb]] = {
    "plants": plants,
    "weather_dust": weather_dust,
    "seen_twice": partial(seen_twice, _TRAIL),
    "pasture": partial(of_scene, "pasture", Shot((-14.0, -6.0, 1.2), 24.0, -3.0)),
    "courtyard": partial(of_scene, "courtyard", Shot((0.0, 0.0, 1.7), 0.0, -5.0)),
    "crossing": partial(of_scene, "crossing", Shot((-1.5, -16.0, 2.6), 85.0, -7.0, 60.0, (215.0, 30.0), 5.6)),
    "forest_trail": partial(of_scene, "forest-trail", _TRAIL),
}


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
        Image.fromarray(rgb).save(path, quality=82, optimize=True)
        print(path, f"{rgb.shape[1]} × {rgb.shape[0]}, {path.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
