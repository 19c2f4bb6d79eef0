"""Scan a moving scene over a time range, stop half way, and take it up again."""

from pathlib import Path

import tussock

scene = tussock.ready_scene("crossing")
folder = Path("crossing_run")
folder.mkdir(exist_ok=True)
run = tussock.Run(
    scene, tussock.load_sensor("vlp-16"), tussock.ready_pose("crossing"), folder / "f.npz", start=3.0, end=3.6
)
world = tussock.World(scene)
for done in run.scan(world, finished=run.prepare(force=True)):
    print(f"{done.file}: {len(done.frame):,} returns")
    if done.number == 32:
        break  # as if somebody had pulled the plug
kept = run.prepare()
print(f"{len(kept)} frames are kept")
for done in run.scan(world, finished=kept):
    print(f"{done.file}: {'kept' if done.frame is None else 'done now'}")
