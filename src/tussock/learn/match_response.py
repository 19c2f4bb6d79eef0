"""The response of a scene's vegetation at which a simulated scan spreads the range like a real one.

Mattes and Pace (Neya Systems, 2021), section 4.1 and table 1: the variance of measured − expected range was 1.594 m² in
a real scan and 0.587 m² in a simulated one of plain shapes; what is missing is given to the tagged shapes as Gaussian
range error. Variances add only where nothing stands behind the shapes. The ground and walls there cap the error, so
that first guess falls short; it is mended by scanning again until the variance fits. Every scan has the same chance, so
the variance rises smoothly with σ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.learn.measured_pulses import join_pulses, measured_pulses
from tussock.learn.range_spread import WINDOW, RangeSpread, measure_range_spread
from tussock.poses import Pose, Trajectory
from tussock.scene.response import VegetationResponse, effective_response
from tussock.scene.scene import Scene, SceneObject
from tussock.sensors.sensor import Sensor
from tussock.shown import Shown
from tussock.simulate import scan
from tussock.trace.world import World

__all__ = ["Match", "match_response", "responding", "with_response"]

_CLOSE = 0.005
"""share of the wanted variance that counts as the same"""
_MOST_SCANS = 16
_LARGEST_SIGMA = 100.0


@dataclass(frozen=True, eq=False, repr=False)
class Match(Shown):
    """A scene whose vegetation spreads the range as wanted.

    >>> match = tussock.match_response(scene, sensor, pose, 0.04)  # doctest: +SKIP
    >>> match.sigma  # doctest: +SKIP
    0.21
    """

    scene: Scene
    sigma: float
    """[m] of the response that it was given"""
    before: RangeSpread
    """without any response"""
    after: RangeSpread
    """with it, measured in scans of their own"""


def match_response(
    scene: Scene,
    sensor: Sensor,
    pose: Pose | Trajectory,
    wanted: float,
    *,
    box: Sequence[float] | None = None,
    window: float = WINDOW,
    frames: int = 4,
    seed: int = 0,
    threads: int | None = None,
) -> Match:
    """Give the vegetation of ``scene`` the response at which a scan has the variance ``wanted`` [m²].

    The variance is that of the returns in ``box`` (world, [m]) or, without one, of those from shapes that respond.

    >>> spread = tussock.measure_range_spread(tussock.load_pulses("bushes.pcap"), box)  # doctest: +SKIP
    >>> match = tussock.match_response(scene, sensor, pose, spread.variance)  # doctest: +SKIP
    """
    if not (np.isfinite(wanted) and wanted > 0):
        raise InputError.of("variance", "must be a number above 0 [m²]", wanted)
    if frames < 1:
        raise InputError.of("frames", "must be at least 1", frames)
    numbers = responding(scene)
    if not numbers:
        raise InputError(
            f"scene {scene.name!r}: no shape responds as vegetation; give one the tag 'vegetation' or a response"
        )

    def spread(sigma: float, first: int) -> RangeSpread:
        world = World(with_response(scene, VegetationResponse(sigma_m=sigma)))
        seen = [
            scan(world, sensor, pose, seed=seed, frame=first + k, keep_misses=True, threads=threads)
            for k in range(frames)
        ]
        pulses = join_pulses([measured_pulses(frame) for frame in seen])
        chosen = None if box is not None else np.concatenate([_first_of(frame, numbers) for frame in seen])
        return measure_range_spread(pulses, box, window=window, chosen=chosen)

    before = spread(0.0, 0)
    if before.variance >= wanted:
        raise InputError.of(
            "match", f"the scene already spreads ranges by {before.variance:.4g} m² without a response", f"{wanted:.4g} m²",
            "use coarser shapes, or a box with vegetation only",
        )  # fmt: skip
    share = 1 + float(np.mean(1 / before.neighbours))
    sigma = float(np.sqrt((wanted - before.variance) / share))
    low, high, halved, tries = 0.0, np.inf, np.inf, 0
    for _ in range(_MOST_SCANS):
        found = spread(sigma, 0).variance
        if abs(found - wanted) <= _CLOSE * wanted:
            fitted = with_response(scene, VegetationResponse(sigma_m=round(sigma, 4)))
            return Match(fitted, round(sigma, 4), before, spread(round(sigma, 4), frames))
        low, high = (sigma, high) if found < wanted else (low, sigma)
        if low > _LARGEST_SIGMA:
            break
        grown = sigma * np.sqrt((wanted - before.variance) / max(found - before.variance, 1e-9))
        # Within what is known to be too little and too much; where nothing is too much yet, at most four times as much.
        most = high if np.isfinite(high) else 4 * low
        sigma = float(np.clip(grown, low + 0.1 * (min(high, 2 * low) - low), most))
        if np.isfinite(high):
            # Guesses that nibble at one end give way to the middle, so that what is left is halved every third time.
            halved, tries = (high - low, 0) if high - low <= halved / 2 else (halved, tries + 1)
            sigma = min(sigma, high - 0.1 * (high - low)) if tries < 2 else (low + high) / 2
    raise InputError.of(
        "match", "no response gives the scene this variance: what stands behind, or the box, caps it",
        f"{wanted:.4g} m²", f"the most that was reached is {found:.4g} m²",
    )  # fmt: skip


def responding(scene: Scene) -> list[int]:
    """The numbers of objects of which a surface responds."""
    return [thing.id for thing in scene.objects if _responding_materials(thing).any()]


def with_response(scene: Scene, response: VegetationResponse) -> Scene:
    """The same scene with another response wherever there is one."""
    new = Scene(scene.name, dict(scene.labels))
    new.volumes = list(scene.volumes)
    new.objects = [_changed(thing, response) for thing in scene.objects]
    return new


def _changed(thing: SceneObject, response: VegetationResponse) -> SceneObject:
    """An object that responds as a whole is told so itself; otherwise its materials are told."""
    mine = _responding_materials(thing)
    if not mine.any():
        return thing
    if mine.all() and all(material.response is None for material in thing.mesh.materials):
        return replace(thing, response=response)
    materials = tuple(
        material.changed(response=response.model_dump()) if told else material
        for material, told in zip(thing.mesh.materials, mine, strict=True)
    )
    return replace(thing, mesh=replace(thing.mesh, materials=materials))


def _responding_materials(thing: SceneObject) -> NDArray[np.bool_]:
    """Which materials of an object respond; one with a response of σ = 0 and mean 0 shall not."""
    return np.array(
        [
            effective_response(material.response, material.label, thing.response, thing.tags) is not None
            for material in thing.mesh.materials
        ]
    )


def _first_of(frame: Frame, numbers: list[int]) -> NDArray[np.bool_]:
    """Of the rows that `measured_pulses` keeps, those that met one of the objects."""
    first = frame.return_number <= 1
    return np.isin(frame.object_id[first], numbers)
