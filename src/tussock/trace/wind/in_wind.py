"""Which objects of a scene sway in its wind, and the tables that say how.

Plants sway: what is labelled or tagged as one, stands, keeps its shape, and is not a whole field in one mesh (wider than
twenty times its height), which has no one root to bend about. Each copy bends by itself: with its own phases, its own
height and with it its own frequency (f ∝ 1/h, within ±15 % by chance), and at its own place in the gusts. All that one
copy holds moves together: the blades of one tile of grass have one phase.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.randomness import Purpose, uniform_array
from tussock.scene.labels import PLANTS
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.response import VEGETATION
from tussock.scene.scene import SceneObject
from tussock.scene.stems import Stem, default_stem, response, tip_displacement
from tussock.scene.wind import Waves, Wind, spectrum, speed_at, turbulence_length, waves
from tussock.trace.transforms import shape_middle
from tussock.trace.wind.sway import GAINS, MOST_LEAN, PLANT_NUMBERS
from tussock.trace.wind.sway_geometry import Copies

__all__ = ["InWind", "flutters", "in_wind", "root_of"]

_FIELD = 20.0
"""times as wide as high: a field in one mesh"""
_SUNK = 0.1
"""of the height that may lie below z = 0, where a plant is rooted; a shape further down is rooted at its lowest point"""
_MOST_GUST = 2.5  # standard deviations
_SPREAD = 0.15  # of own frequencies
_ACROSS = 0.53
"""sway across the wind over that along it: σ_v = 0.75 σ_u, drag goes with v once and with u twice; one wave, not two"""
_FLUTTER = 0.0015  # [m] for each m/s of the wind at the plant's top
_MOST_FLUTTER = 0.01  # [m]
_FLUTTER_HZ = 5.0


class InWind(NamedTuple):
    """An object that sways."""

    number: int
    """of its geometry"""
    copies: Copies


def flutters(material: Material) -> bool:
    """Whether a surface is one of leaves."""
    return material.label == "leaf"


def in_wind(wind: Wind | None, things: list[SceneObject], origin: NDArray[np.float64]) -> list[InWind]:
    """The objects that sway among those that stand, by their geometry numbers; none in still air."""
    if wind is None:
        return []
    _check_names(wind, things)
    if wind.speed_m_s == 0.0:
        return []
    gusts = waves(wind)
    return [
        InWind(number, _copies(wind, gusts, thing, *root, origin))
        for number, thing in enumerate(things)
        if (root := _root(wind, thing)) is not None
    ]


def _check_names(wind: Wind, things: list[SceneObject]) -> None:
    known = [thing.name for thing in things]
    for key, names in (("stems", wind.stems), ("still", wind.still)):
        for name in names:
            if name not in known:
                raise InputError(f"wind.{key}: no object {name!r} stands in the scene; {nearest(name, known)}")


def _root(wind: Wind, thing: SceneObject) -> tuple[float, float] | None:
    """Height of the root in the shape's coordinates and height above it [m]; None for what does not sway."""
    named = thing.name in wind.stems
    plant = thing.label in PLANTS or VEGETATION in thing.tags
    if thing.name in wind.still or not (named or plant):
        return None
    base, height = root_of(thing.mesh)
    wide = float(np.ptp(thing.mesh.bounds, axis=0)[:2].max())
    return None if height <= 0.0 or (not named and wide > _FIELD * height) else (base, height)


def root_of(mesh: Mesh) -> tuple[float, float]:
    """Height of a plant's root in its own coordinates, and its height above that [m]."""
    low, high = (float(z) for z in mesh.bounds[:, 2])
    base = 0.0 if low >= -_SUNK * (high - low) and high > 0.0 else low
    return base, high - base


def _copies(
    wind: Wind, gusts: Waves, thing: SceneObject, base: float, height: float, origin: NDArray[np.float64]
) -> Copies:
    stem = wind.stems.get(thing.name) or default_stem(height, thing.label)
    matrices = thing.placements.matrices
    middle = shape_middle(thing.mesh)
    tall = height * np.linalg.norm(matrices[:, :, 2], axis=1)
    draws = [uniform_array(wind.seed, Purpose.WIND, thing.id, np.arange(len(tall)), d) for d in range(4)]
    frequency = stem.frequency_hz * height / tall * (1.0 + _SPREAD * (2.0 * draws[3].astype(float) - 1.0))
    speed = speed_at(wind.speed_m_s, tall)
    lean = tip_displacement(stem, stem.frequency_hz * height / tall, speed)
    own = lean * 2.0 * wind.gusts * np.sqrt(_resonance(stem, frequency, tall, speed))
    axes = _axes(matrices, wind)
    plants = np.zeros((len(tall), PLANT_NUMBERS), np.float32)
    columns = [
        *(matrices[:, :2, 3] + (matrices[:, :2, :3] @ middle) - origin[:2]).T, lean, frequency, own, _ACROSS * own,
        *draws[:3], *axes, tall, np.ones(len(tall)),
    ]  # fmt: skip
    plants[:] = np.stack(columns, 1)
    answer = response(stem, gusts.frequency / stem.frequency_hz)
    gains = 2.0 * wind.gusts * gusts.amplitude * np.abs(answer)
    shape = np.zeros(GAINS + 2 * len(gains))
    flutter = min(_FLUTTER * float(speed_at(wind.speed_m_s, height)), _MOST_FLUTTER)
    most = _MOST_GUST * float(np.sqrt((gains**2).sum() / 2.0))
    shape[:GAINS] = base - middle[2], height, stem.damping, flutter, _FLUTTER_HZ, most, len(tall)
    shape[GAINS::2], shape[GAINS + 1 :: 2] = gains, -np.angle(answer) / (2 * np.pi)
    return Copies(
        shape, plants, _flat(gusts, origin), _back(thing, matrices, middle, origin),
        (thing.mesh.bounds - middle).reshape(6).astype(np.float32),
        _bounds(thing, matrices, plants, most, origin),
    )  # fmt: skip


def _resonance(
    stem: Stem, frequency: NDArray[np.float64], tall: NDArray[np.float64], speed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(σ / u)² over (2 I)², see `tussock.scene.stems`."""
    return np.asarray(np.pi / (4.0 * stem.damping) * spectrum(frequency * turbulence_length(tall) / speed))


def _axes(matrices: NDArray[np.float64], wind: Wind) -> NDArray[np.float64]:
    """The wind's way and what is left of it, in the shapes' coordinates: four rows (n,); 0 where a copy lies on its side."""
    a, b, c, d = matrices[:, 0, 0], matrices[:, 0, 1], matrices[:, 1, 0], matrices[:, 1, 1]
    area = a * d - b * c
    lying = np.abs(area) < 1e-3 * np.linalg.norm(matrices[:, :, 0], axis=1) * np.linalg.norm(matrices[:, :, 1], axis=1)
    per = np.where(lying, 0.0, 1.0 / np.where(lying, 1.0, area))
    x, y = wind.towards
    return np.stack([per * (d * x - b * y), per * (a * y - c * x), per * (-d * y - b * x), per * (a * x + c * y)])


def _flat(gusts: Waves, origin: NDArray[np.float64]) -> NDArray[np.float64]:
    """Waves as kernels take them, with places counted from ``origin``."""
    phase = np.mod(gusts.phase + gusts.turns @ origin[:2], 1.0)
    return np.ascontiguousarray(np.stack([gusts.turns[:, 0], gusts.turns[:, 1], gusts.frequency, phase], 1)).ravel()


def _back(
    thing: SceneObject, matrices: NDArray[np.float64], middle: NDArray[np.float64], origin: NDArray[np.float64]
) -> NDArray[np.float32]:
    """World to shape, as `Copies.back` has it."""
    place = matrices[:, :, 3] + matrices[:, :, :3] @ middle - origin
    return np.concatenate([np.linalg.inv(matrices[:, :, :3]).reshape(-1, 9), place], 1).astype(np.float32)


def _bounds(
    thing: SceneObject, matrices: NDArray[np.float64], plants: NDArray[np.float32], gust: float,
    origin: NDArray[np.float64],
) -> NDArray[np.float32]:  # fmt: skip
    """Where each copy may be, as `Copies.bounds` has it."""
    _, _, lean, _, own, across, _, _, _, ax, ay, bx, by, tall, _ = plants.T.astype(float)
    least, most = lean * (1.0 - gust) - 2.0 * own, lean * (1.0 + gust) + 2.0 * own
    end = MOST_LEAN * tall
    least, most = (way / np.sqrt(1.0 + (way / end) ** 2) for way in (np.minimum(least, 0.0), most))
    aside = np.minimum(across, end)
    low, high = thing.mesh.bounds.astype(float)
    boxes = np.empty((len(plants), 2, 3))
    for k, (along, over) in enumerate(((ax, bx), (ay, by))):
        ends = np.stack([along * least, along * most])
        boxes[:, 0, k] = low[k] + ends.min(0) - np.abs(over) * aside
        boxes[:, 1, k] = high[k] + ends.max(0) + np.abs(over) * aside
    boxes[:, :, 2] = low[2], high[2]
    centre, half = boxes.mean(1), (boxes[:, 1] - boxes[:, 0]) / 2
    turn = matrices[:, :, :3]
    centre = np.einsum("nij,nj->ni", turn, centre) + matrices[:, :, 3] - origin
    reach = np.einsum("nij,nj->ni", np.abs(turn), half) + 1e-4
    bounds = np.zeros((len(plants), 8), np.float32)
    bounds[:, :3], bounds[:, 4:7] = centre - reach, centre + reach
    return bounds
