"""Two returns a pulse: the strongest and the last one look through grass at the wall behind it."""

import numpy as np

import tussock

scene = tussock.Scene("hedge")
scene.add(tussock.plane((40, 40)), name="ground", label="terrain")
scene.add(tussock.box((0.2, 12, 2)), name="wall", label="wall", position=(10, 0, 1))
tiles = tussock.Placements.of([[x, y, 0] for x in (6, 7, 8) for y in range(-5, 6)])
scene.add(
    tussock.grass_tile(blades=250, height=1.2), name="grass", label="grass", tags=["vegetation"], placements=tiles
)

sensor = tussock.load_sensor("vlp-16").with_(
    **{"beam.rays": 9, "beam.sampling": "full", "receiver.mode": "strongest+last"}
)
frame = tussock.scan(scene, sensor, tussock.Pose.at(0, 0, 0.8), seed=1)

first = frame.select(frame.return_number == 1)
second = frame.select(frame.return_number == 2)
apart = second.true_range - first.true_range[np.searchsorted(first.pulse, second.pulse)]
print(f"{frame.pulses} pulses, {len(first)} with a return, {(apart > 0.1).sum()} whose two returns lie apart")
for name in ("grass", "wall", "ground"):
    of_it = scene[name].id
    print(f"{name:7s} strongest {(first.object_id == of_it).sum():6d}   last {(second.object_id == of_it).sum():6d}")
through = (apart > 0.1) & (second.object_id == scene["wall"].id)
print(f"{through.sum()} pulses saw the wall behind a blade, {apart[through].mean():.2f} m further on average")
