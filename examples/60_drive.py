"""A vehicle finds its way through the yard by what its LIDAR, GPS and compass tell it."""

import tussock

settings = tussock.DriveSettings(time_limit_s=6.0)  # leave it out to drive all the way
result = tussock.drive_to(
    tussock.ready_scene("yard"), tussock.load_sensor("vlp-16"), (20, 20), start=(-20, -20), settings=settings, seed=1
)
print(result.metrics.message)
print(f"{result.metrics.length_m:.1f} m driven, {result.metrics.collisions} collisions")
tussock.plot_drive(result, "drive.png", title="yard")
