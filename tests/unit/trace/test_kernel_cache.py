from __future__ import annotations

import os
import subprocess
import sys

SCAN = """
import json
from tussock.frames import collect
from tussock.pulse.plain import plain_loop
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

scene = Scene()
scene.add(plane((10, 10)), position=(0, 0, -1))
scan(scene, load_sensor("vlp-16"), threads=2)
hits = misses = 0
for dispatcher in (plain_loop(), collect._fill):
    hits += sum(dispatcher.stats.cache_hits.values())
    misses += sum(dispatcher.stats.cache_misses.values())
print(json.dumps([hits, misses]))
"""


def test_the_second_start_does_not_compile() -> None:
    answers = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", SCAN], capture_output=True, text=True, timeout=300, env=os.environ, check=False
        )
        assert done.returncode == 0, done.stderr[-800:]
        answers.append(done.stdout.strip())
    assert answers[1] == "[2, 0]", f"cache hits and misses of two kernels: {answers[1]}"
