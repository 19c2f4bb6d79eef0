"""What wind costs over the courtyard's two million blades: time and memory of a scan, and how grass moves in it.

    python benchmarks/wind.py [SCANS]

Still and windy scans take turns in one process, so that both meet the same machine; what is compared is the CPU time of
all threads, medians of as many scans as given (7). Memory is the peak of a process that does nothing else.
"""

import resource
import subprocess
import sys
import time

import numpy as np

import tussock
from tussock.scene.wind import Wind
from tussock.scenes.ready import ready_pose, ready_scene
from tussock.sensors.catalogue import load_sensor

WIND = Wind(speed_m_s=6.0, from_deg=240.0, gusts=0.5)


def world(windy):
    scene = ready_scene("courtyard")
    scene.wind = WIND if windy else None
    return tussock.World(scene)


def memory(windy):
    """Peak of a process of its own that scans once [MB]."""
    done = subprocess.run(
        [sys.executable, __file__, "wind" if windy else "still"], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


if sys.argv[1:] and sys.argv[1] in ("wind", "still"):
    tussock.scan(world(sys.argv[1] == "wind"), load_sensor("hdl-64e-s2"), ready_pose("courtyard"))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    sys.exit()

scans = int(sys.argv[1]) if len(sys.argv) > 1 else 7
place, worlds, spent = ready_pose("courtyard"), {"still": world(False), "wind": world(True)}, {}
for name in ("hdl-64e-s2", "hdl-32e"):
    sensor = load_sensor(name)
    for frame in range(-1, scans):
        for kind, where in worlds.items():
            begin, cpu = time.perf_counter(), time.process_time()
            tussock.scan(where, sensor, place, frame=max(frame, 0))
            if frame >= 0:
                spent.setdefault((name, kind), []).append((time.process_time() - cpu, time.perf_counter() - begin))
    still, wind = (np.median(spent[name, kind], axis=0) for kind in worlds)
    print(
        f"{name}: still {still[0]:.3f} s of CPU time, wind {wind[0]:.3f} s: {wind[0] / still[0]:.2f} ×; "
        f"by the clock {still[1]:.3f} s and {wind[1]:.3f} s: {wind[1] / still[1]:.2f} ×"
    )
still, wind = memory(False), memory(True)
print(f"memory: still {still:.0f} MB, wind {wind:.0f} MB: {wind / still:.2f} ×")
