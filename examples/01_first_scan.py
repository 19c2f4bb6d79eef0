"""A wall, a bush of grass and a LIDAR: scan, look at the frame, save it."""

import tussock

scene = tussock.Scene("first")
scene.add(tussock.plane((40, 40)), name="ground", label="terrain")
scene.add(tussock.box((0.2, 10, 3)), name="wall", label="wall", position=(12, 0, 1.5))
tiles = tussock.Placements.of([[x, y, 0] for x in range(3, 9) for y in range(-3, 4)])
scene.add(
    tussock.grass_tile(blades=200, height=0.6), name="grass", label="grass", tags=["vegetation"], placements=tiles
)

sensor = tussock.load_sensor("vlp-16").with_(**{"beam.rays": 9})
frame = tussock.scan(scene, sensor, tussock.Pose.at(0, 0, 1.2), seed=1)

print(f"{frame.pulses} pulses, {len(frame)} returns")
for name in ("ground", "wall", "grass"):
    seen = frame.select(frame.object_id == scene[name].id)
    print(f"{name:8s} {len(seen):6d} returns, nearest at {seen.range.min():.2f} m")
print(f"largest range error {abs(frame.range - frame.true_range).max() * 100:.1f} cm")

tussock.save_frame(frame, "first.pcd", force=True)
again = tussock.load_frame("first.pcd")
print("saved and loaded, the same bits:", frame.identical(again))
