"""Another program drives: it sees points, GPS and compass through shared memory and answers with speed and turn rate.

The simulator is started here; by hand it is
    tussock drive yard --from=-20,-20 --to 0,0 --out drive --share demo
`65_drive_client.c` does the same in C. It steers to the goal and away from what stands in the way, no more.
"""

import math
import os
import subprocess
import sys

import numpy as np

import tussock

NAME = f"tussock-drive-{os.getpid()}"
command = (
    f"drive yard --from=-20,-20 --to=-12,-12 --out drive --share {NAME} --no-camera --no-film --timeout 120".split()
)
simulator = subprocess.Popen([sys.executable, "-c", "from tussock.cli.app import main; main()", *command])

with tussock.SharedSegment.attach(NAME, wait=240, control=True) as shared:
    while True:
        try:
            step = shared.await_step(timeout=120)
        except tussock.InputError:  # the drive is over
            break
        points = shared.latest("points").array
        time, goal_x, goal_y, _, x, y, _, _, yaw = shared.latest("state").array[:9]
        bearing = (math.atan2(goal_y - y, goal_x - x) - yaw + math.pi) % (2 * math.pi) - math.pi
        # Something as high as the bumper, near and ahead, is steered away from.
        low = (points[:, 2] > -1.4) & (points[:, 2] < 0.3) & (points[:, 0] > 0) & (points[:, 0] < 6)
        ahead = points[low & (np.abs(points[:, 1]) < 1.5)]
        away = -0.6 * np.sign(np.median(ahead[:, 1])) if len(ahead) > 20 else 0.0
        shared.publish("command", [2.0 if abs(bearing) < 0.5 else 0.3, 1.0 * bearing + away])
        shared.answer(step)
raise SystemExit(simulator.wait())
