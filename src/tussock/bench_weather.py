"""What weather costs: each kind beside the same dry scan, in turns of one run."""

from __future__ import annotations

from typing import Any

from tussock.air.clouds import DustCloud
from tussock.air.weather import Fog, Weather
from tussock.bench import bench_sensor, timed_in_turns
from tussock.poses import Pose
from tussock.scene.scene import Scene
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

__all__ = ["WEATHERS", "measure_weather"]

WEATHERS: dict[str, Weather] = {
    "fog 80 m": Weather(fog=Fog(visibility_m=80.0)),
    "rain 20 mm/h": Weather(rain_mm_h=20.0),
    "snow 2 mm/h": Weather(snow_mm_h=2.0),
    "40 puffs of dust": Weather(
        dust=tuple(
            DustCloud(puff_m=1.5, position_m=(12.0 + 0.5 * i, -10.0 + 0.5 * i, 1.5), density_g_m3=0.5)
            for i in range(40)
        )
    ),
    "rain, fog and dust": Weather(
        rain_mm_h=10.0,
        fog=Fog(visibility_m=200.0),
        dust=(DustCloud(puff_m=3.0, position_m=(15.0, 0.0, 1.0), density_g_m3=0.5),),
    ),
}
"""what is measured"""


def measure_weather(
    scene: Scene, pose: Pose, *, sensor: Sensor | None = None, rounds: int = 9, threads: int | None = None,
    weathers: dict[str, Weather] = WEATHERS,
) -> dict[str, float]:  # fmt: skip
    """Time of a scan in each weather over that of the dry one."""
    device = sensor or bench_sensor(9)
    worlds = [World(scene.with_weather(weather)) for weather in (None, *weathers.values())]

    def job(world: World) -> Any:
        return lambda: scan(world, device, pose, threads=threads)

    dry, *others = timed_in_turns(*[job(world) for world in worlds], rounds=rounds)
    return {name: time / dry for name, time in zip(weathers, others, strict=True)}
