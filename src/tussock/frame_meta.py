"""What a frame says about itself: how it was made, and the names of what it may have met."""

from __future__ import annotations

import pickle
from typing import Any

from tussock.once import once_for_each
from tussock.sensors.sensor import Sensor
from tussock.trace.world import World
from tussock.version import VERSION

__all__ = ["frame_meta"]


def frame_meta(world: World, sensor: Sensor, seed: int, frame: int, pulses: int) -> dict[str, Any]:
    """What a frame says about itself."""
    named = pickle.loads(_named(world))  # the fastest way to a copy that is the frame's own
    meta = {
        "tussock": VERSION,
        "seed": seed,
        "frame": frame,
        "start_s": frame * sensor.frame_period,
        "pulses": pulses,
        "scene": world.name,
        "tracer": {"embree": world.device.version, "isa": world.device.isa}
        | ({"edges": "own"} if world.device.edges == "own" else {}),
        "sensor": pickle.loads(_told(sensor)),
        "objects": named["objects"],
        "labels": world.labels,
        "materials": named["materials"],
        "first_instance": named["first_instance"],
    }
    if world.weather is not None:
        meta["weather"] = world.weather.model_dump(mode="json", exclude_unset=True)
    if world.wind is not None:
        meta["wind"] = world.wind.model_dump(mode="json", exclude_unset=True)
    return meta


@once_for_each
def _told(sensor: Sensor) -> bytes:
    return pickle.dumps(sensor.told())


@once_for_each
def _named(world: World) -> bytes:
    """What a frame says of what it may have met."""
    return pickle.dumps(
        {
            "objects": {str(thing.id): thing.name for thing in world.named},
            "materials": [material.name for material in world.materials],
            "first_instance": world.instances.starts.tolist(),
        }
    )
