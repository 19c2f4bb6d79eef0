"""What weather costs a scan, beside the dry one in the same run: no more than 1.5 times.

python benchmarks/weather.py [rounds]
"""

import sys

from tussock.bench_weather import measure_weather
from tussock.poses import Pose
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
for name, sensor in (("meadow", None), ("yard", load_sensor("hdl-32e"))):
    for weather, ratio in measure_weather(ready_scene(name), Pose.at(0, 0, 2), sensor=sensor, rounds=ROUNDS).items():
        print(f"{name:8s} {weather:20s} {ratio:5.2f} × the dry scan")
