"""The weather of a scene in a picture: airlight, streaks and flakes, dust.

What is everywhere fades distant things into the horizon's light as e^(−αr) (Koschmieder 1924): the loop over pixels does
that with the haze of the `Light`, to which the weather's α is added here. Clouds do the same with their own optical depth,
each in its own colour. Drops and flakes near the camera are drawn one by one from their law of sizes: in the time that the
shutter is open each falls, and drifts with the air, by its speed times that time and leaves a streak, whose light is spread over its length (Garg and
Nayar 2007, IJCV 75, 3-27). A flake is white, a drop shows the sky. Wet ground is darker because its material is.

Left out: drops further than those drawn are part of the even haze; clouds cast no shadow.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from tussock.air.clouds import BOX, CloudRow
from tussock.air.kinds import Kind
from tussock.air.particles import SizeLaw, fall_speed
from tussock.air.weather import WeatherNow
from tussock.arrays import FloatArray
from tussock.cameras.camera import Camera
from tussock.cameras.shading.light import Light, LightNumbers
from tussock.poses import Pose
from tussock.randomness import Purpose, words_array

__all__ = ["Sight", "add_weather", "hazy"]

_NEAREST, _FURTHEST = 0.3, 12.0  # [m] between which drops are drawn
_MOST = 60_000  # drops in a picture: the further ones are haze
_LAYER = 150.0  # [m] how high fog and rain reach
_DUST = np.array([1.0, 0.80, 0.56])  # the colour of dust, of the light around


class Sight(NamedTuple):
    """What a camera sees without drops and clouds."""

    camera: Camera
    pose: Pose
    light: NDArray[np.float32]
    """linear RGB, shape (height, width, 3)"""
    ranges: NDArray[np.float32]
    """[m], infinite where nothing is met, shape (height, width)"""
    seed: int
    draw: int
    """number of the picture among all that are drawn with the seed"""


def hazy(light: Light, now: WeatherNow | None) -> LightNumbers:
    """The light for kernels, with the haze of the weather."""
    return light.numbers(0.0 if now is None else now.extinction)


def add_weather(sight: Sight, now: WeatherNow, light: LightNumbers) -> NDArray[np.float32]:
    """The picture's light with clouds, drops and flakes in it."""
    shown = sight.light.astype(np.float64)
    around = light.around.astype(np.float64) + 0.3 * light.sun
    height, width = sight.ranges.shape
    v, u = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    starts, directions = sight.camera.rays(np.stack([u.ravel(), v.ravel()], 1).astype(float))
    shown = _sky_behind(shown, sight, directions, now.extinction, light)
    if now.clouds:
        starts, along = starts @ sight.pose.rotation.T + sight.pose.position, directions @ sight.pose.rotation.T
        far = sight.ranges.reshape(-1).astype(float)
        depths = {kind: np.zeros(len(far)) for kind in (Kind.DUST, Kind.FOG)}
        for row in now.clouds:
            depths[row.kind] += depth_through(row, starts, along, far)
        for kind, color in ((Kind.DUST, _DUST * around), (Kind.FOG, light.horizon.astype(np.float64))):
            left = np.exp(-depths[kind]).reshape(height, width, 1)
            shown = shown * left + color * (1 - left)
    for law in now.particles:
        covers = _cover_of(sight, law, directions, np.array(now.velocity))
        color = around if law.kind == Kind.SNOW else (light.zenith + light.horizon) / 2
        shown = shown * (1 - covers[..., None]) + color * covers[..., None]
    return shown.astype(np.float32)


def _sky_behind(
    shown: FloatArray, sight: Sight, directions: FloatArray, alpha: float, light: LightNumbers
) -> FloatArray:
    """The sky through what is everywhere, which reaches up to `_LAYER`; things the loop over pixels has done."""
    up = (directions @ sight.pose.rotation.T)[:, 2].reshape(sight.ranges.shape)
    way = np.where(np.isinf(sight.ranges), _LAYER / np.maximum(up, 1e-3), 0.0)
    left = np.exp(-alpha * way)[..., None]
    return np.asarray(shown * left + light.horizon * (1 - left))


def depth_through(row: CloudRow, starts: FloatArray, directions: FloatArray, far: FloatArray) -> FloatArray:
    """Optical depth of a cloud along rays (n, 3) up to ``far`` [m]."""
    away = row.centre - starts
    if row.shape == BOX:
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (away - row.size) / directions, (away + row.size) / directions
        enters = np.nanmax(np.minimum(one, two), 1).clip(0)
        leaves = np.minimum(np.nanmin(np.maximum(one, two), 1), far)
        return np.asarray(row.extinction * np.maximum(leaves - enters, 0))
    s = float(row.size[0])
    along = (away * directions).sum(1)
    off2 = np.maximum((away**2).sum(1) - along**2, 0)
    passed = erf((far - along) / (math.sqrt(2) * s)) + erf(along / (math.sqrt(2) * s))
    depth = row.extinction * s * math.sqrt(math.pi / 2) * np.exp(-off2 / (2 * s * s)) * np.maximum(passed, 0)
    return np.asarray(np.nan_to_num(depth))


def _cover_of(sight: Sight, law: SizeLaw, directions: FloatArray, air: FloatArray) -> FloatArray:
    """How much of each pixel drops of a law cover that fall in ``air`` of a velocity [m/s], shape (height, width)."""
    camera, (height, width) = sight.camera, sight.ranges.shape
    pixel = _pixel_angle(directions.reshape(height, width, 3))
    room = pixel**2 * height * width / 3
    far = min(_FURTHEST, (_NEAREST**3 + _MOST / (law.number * room)) ** (1 / 3))
    count = round(law.number * room * (far**3 - _NEAREST**3))
    words = words_array(sight.seed, Purpose.WEATHER, sight.draw, np.arange(count), 1000 + int(law.kind))
    a, b, c, d = ((words[:, i] + 0.5) / 2.0**32 for i in range(4))
    r = (_NEAREST**3 + a * (far**3 - _NEAREST**3)) ** (1 / 3)
    diameter = -np.log(b) / law.slope
    place = np.stack([c * width - 0.5, d * height - 0.5], 1)
    start, along = camera.rays(place)
    seen = np.isfinite(along).all(1)
    points = (start + along * r[:, None]) @ sight.pose.rotation.T + sight.pose.position
    moves = air - np.array([0, 0, 1.0]) * fall_speed(law.kind, diameter)[:, None]
    fallen = points + moves * camera.shutter.exposure_s
    ends = camera.project(fallen, sight.pose)
    seen &= np.isfinite(ends).all(1)
    column, line = (np.clip(np.round(place[:, i]), 0, most - 1).astype(int) for i, most in ((0, width), (1, height)))
    seen &= r < sight.ranges[line, column]
    return _splatted(place[seen], ends[seen], (diameter * 1e-3 / (r * pixel))[seen], height, width)


def _splatted(begins: FloatArray, ends: FloatArray, wide: FloatArray, height: int, width: int) -> FloatArray:
    """Streaks of a width [pixels] from pixels to pixels: each covers as much as its drop, spread over its length."""
    length = np.linalg.norm(ends - begins, axis=1)
    wide = np.minimum(wide, 40.0)
    across = np.ceil(wide).astype(int).clip(1)
    pieces = np.ceil(length + wide).astype(int).clip(1, 4 * (height + width))
    each = pieces * across
    which = np.repeat(np.arange(len(each)), each)
    number = np.arange(len(which)) - np.repeat(np.cumsum(each) - each, each)
    t = (number // across[which] + 0.5) / pieces[which]
    side = ((number % across[which] + 0.5) / across[which] - 0.5) * wide[which]
    direction = np.where(length[:, None] > 1e-9, (ends - begins) / np.maximum(length, 1e-9)[:, None], [0.0, 1.0])
    reach = (length + wide) / np.maximum(length, 1e-9)
    middle = (begins + ends) / 2
    along = ((t - 0.5) * np.where(length > 1e-9, reach * length, wide)[which])[:, None] * direction[which]
    at = middle[which] + along + side[:, None] * direction[which][:, ::-1] * [1.0, -1.0]
    u, v = np.round(at[:, 0]).astype(int), np.round(at[:, 1]).astype(int)
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    cover = np.zeros(height * width)
    np.add.at(cover, v[inside] * width + u[inside], (math.pi / 4 * wide**2 / each)[which][inside])
    return np.minimum(cover, 1.0).reshape(height, width)


def _pixel_angle(directions: FloatArray) -> float:
    """The side of a pixel as an angle [rad], in the middle of the image."""
    middle = directions[directions.shape[0] // 2, directions.shape[1] // 2]
    beside = directions[directions.shape[0] // 2, directions.shape[1] // 2 - 1]
    return max(float(np.linalg.norm(middle - beside)), 1e-9)
