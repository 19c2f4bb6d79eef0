"""What tests of single pulses need: a sensor that fires where it is told, and walls that face where they are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene, SceneObject
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor


@pytest.fixture(scope="session")
def pencil() -> Callable[..., Sensor]:
    """Makes a sensor that fires along given azimuths and elevations [deg]; dotted settings change the rest."""

    def make(
        azimuth_deg: Sequence[float] = (0.0,), elevation_deg: Sequence[float] = (0.0,), **settings: object
    ) -> Sensor:
        pattern = GridPattern(azimuth_deg=list(azimuth_deg), elevation_deg=list(elevation_deg), frame_hz=10.0)
        sensor = Sensor(name="pencil", pattern=pattern, receiver=Receiver(max_range_m=200.0))
        return sensor.with_(**settings)

    return make


@pytest.fixture(scope="session")
def add_wall() -> Callable[..., SceneObject]:
    """Adds a rectangle at a point that faces along a normal."""

    def add(
        scene: Scene,
        at: ArrayLike,
        normal: ArrayLike,
        *,
        material: Material,
        size: float = 4.0,
        name: str | None = None,
    ) -> SceneObject:
        facing = np.asarray(normal, float) / np.linalg.norm(normal)
        turn, _ = Rotation.align_vectors([facing], [[0.0, 0.0, 1.0]])
        places = Placements.of([np.asarray(at, float)], quaternions=turn.as_quat()[None])
        return scene.add(plane((size, size), material=material), placements=places, name=name)

    return add
