"""Scan a .blend, if Blender is here; `docs/blender.md` says how a scene is prepared."""

import sys
from pathlib import Path

import tussock

if len(sys.argv) < 2:
    print("usage: 24_blender.py scene.blend  (a camera in it has the custom property tussock_sensor)")
    sys.exit(0)
blend = tussock.load_blend(Path(sys.argv[1]))
for station in blend.sensors:
    frame = tussock.scan(blend.scene, station.sensor, station.path)
    print(f"{station.name}: {station.sensor.name}, {len(frame):,} returns")
