"""Pack a scene with its sensor, pose and seed into one file, and get the same points from it."""

import tussock

scene, sensor, pose = tussock.ready_scene("rods"), tussock.load_sensor("lms-291-s05"), tussock.Pose.at(0, 0, 1.0)
tussock.save_pack(scene, "rods.tussock", sensor=sensor, place=pose, seed=7, force=True)
inside = tussock.load_pack("rods.tussock")
first = tussock.scan(scene, sensor, pose, seed=7)
again = tussock.scan(inside.scene, inside.sensor, inside.path, seed=inside.seed)
print(f"{len(again)} returns, the same bits: {again.identical(first)}")
