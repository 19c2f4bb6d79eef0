"""One step of the autonomy replaced by one's own function: a planner that goes straight to the goal, whatever is there."""

import numpy as np

import tussock


def straight(cost_map, here, goal):
    """A path (k, 2) [m] from here to the goal."""
    share = np.linspace(0, 1, 40)[:, None]
    return (1 - share) * np.array(here) + share * np.array(goal)


settings = tussock.DriveSettings(time_limit_s=4.0)
yard = tussock.Stage(tussock.ready_scene("yard"), settings.vehicle)  # built once for both
sensor = tussock.load_sensor("vlp-16")
for name, steps in (("A*", tussock.Steps()), ("straight", tussock.Steps(plan=straight))):
    result = tussock.drive_to(yard, sensor, (20, 20), start=(-20, -20), settings=settings, steps=steps)
    print(f"{name}: {result.metrics.length_m:.1f} m, work {result.metrics.drive_work_j / 1e3:.1f} kJ")
