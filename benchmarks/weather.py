"""What weather costs a scan, beside the dry one in the same run, and what the heaviest does.

python benchmarks/weather.py [rounds]

The aim is 1.5 times at most. The meadow with nine rays a pulse and the yard stand for what people scan; the rest is there to
be hard: storms, over the meadow, of which nearly nothing is near, for sensors with many rays a pulse and with one.
"""

import sys

from tussock.air.clouds import DustCloud
from tussock.air.weather import Fog, Weather
from tussock.bench import bench_sensor
from tussock.bench_weather import measure_weather
from tussock.poses import Pose
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
DUST = tuple(
    DustCloud(puff_m=1.5, position_m=(12.0 + 0.5 * i, -10.0 + 0.5 * i, 1.5), density_g_m3=5.0) for i in range(40)
)
HEAVY = {
    "rain 50 mm/h": Weather(rain_mm_h=50.0),
    "rain 100 mm/h": Weather(rain_mm_h=100.0),
    "snow 5 mm/h": Weather(snow_mm_h=5.0),
    "snow 10 mm/h": Weather(snow_mm_h=10.0),
    "40 puffs, 5 g/m³": Weather(dust=DUST),
    "all of it": Weather(rain_mm_h=50.0, snow_mm_h=5.0, fog=Fog(visibility_m=100.0), dust=DUST),
}


def say(where, kind, scene, sensor, **more):
    for weather, ratio in measure_weather(scene, Pose.at(0, 0, 2), sensor=sensor, rounds=ROUNDS, **more).items():
        print(f"{where:8s} {kind:12s} {weather:20s} {ratio:5.2f} × the dry scan", flush=True)


for name, sensor in (("meadow", None), ("yard", load_sensor("hdl-32e"))):
    say(name, "9 rays" if sensor is None else sensor.name, ready_scene(name), sensor)
for kind, sensor in (
    ("9 rays", None),
    *((name, load_sensor(name)) for name in ("hdl-32e", "hdl-64e-s2", "vlp-16")),
    ("1 ray", bench_sensor(1)),
):
    say("meadow", kind, ready_scene("meadow"), sensor, weathers=HEAVY)
