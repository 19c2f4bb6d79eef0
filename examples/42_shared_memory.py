"""A program in the loop with the simulator, through shared memory: it sees every frame and says where to go next.

The simulator runs in a process of its own and waits for each answer (lock step). Start it by hand with
    tussock stream yard --sensor vlp-16 --share demo --lockstep
and write your own consumer: everything below the line is one. `43_shared_memory.c` and `44_shared_memory.m` do the
same in C and in MATLAB.
"""

import os
import subprocess
import sys

import numpy as np

import tussock

NAME = f"tussock-example-{os.getpid()}"
command = f"stream yard --sensor vlp-16 --share {NAME} --lockstep --timeout 60".split()
start = "from tussock.cli.app import main; main()"
simulator = subprocess.Popen([sys.executable, "-c", start, *command])

# ---------------------------------------------------------------------------------------------------------------
with tussock.SharedSegment.attach(NAME, wait=60, control=True) as shared:
    position = np.array([0.0, 0.0, 2.0])
    for _ in range(5):
        step = shared.await_step(timeout=60)
        points = shared.latest("points").array
        nearest = np.linalg.norm(points[:, :3], axis=1).min()
        print(f"step {step}: {len(points):,} points, the nearest {nearest:.2f} m away; sensor at {position}")
        position += [0.5, 0.0, 0.0]
        shared.publish("pose_in", [*position, 0, 0, 0, 1])
        if step == 5:
            shared.publish("command", [tussock.Command.STOP])
        shared.answer(step)
simulator.wait()
