"""The root scene at its full size: time until it is ready, first and kept, peak memory, and two scans with pictures.

    python benchmarks/root_scene.py FOLDER

Run it twice: the first run makes the root and keeps it (in ``TUSSOCK_CACHE``), the second finds it.
"""

import sys
import time
from pathlib import Path

from tussock.bench import peak_memory
from tussock.plots.frame import plot_frame
from tussock.plots.scene import plot_scene
from tussock.scenes.ready import ready_pose, ready_scene, ready_view
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World

if len(sys.argv) != 2:
    sys.exit("FOLDER: name the one that the pictures go to, as in: python benchmarks/root_scene.py root_out")
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
begin, used = time.perf_counter(), time.process_time()
scene = ready_scene("root")
grown, grown_cpu = time.perf_counter() - begin, time.process_time() - used
world = World(scene)
print(f"{scene.triangles:,} triangles, {len(scene['root'].mesh.triangles):,} of them in the root mesh")
print(f"{len(scene['grass'].placements) + len(scene['trees'].placements):,} grass and tree placements")
print(f"grown in {grown:.1f} s ({grown_cpu:.1f} s of processor time), ready in {time.perf_counter() - begin:.1f} s "
      f"({time.process_time() - used:.1f} s of processor time), peak {peak_memory():.2f} GiB")  # fmt: skip
for name in ("hdl-32e", "vlp-16"):
    sensor = load_sensor(name)
    scan(world, sensor, ready_pose("root"))
    started = time.perf_counter()
    frame = scan(world, sensor, ready_pose("root"))
    print(f"{name}: {frame.pulses:,} pulses, {len(frame):,} returns in {time.perf_counter() - started:.3f} s")
    plot_frame(frame, folder / f"root_{name}.png", color="label", force=True)
plot_scene(world, folder / "root.png", ready_view("root"), force=True)
print(f"peak {peak_memory():.2f} GiB in all")
