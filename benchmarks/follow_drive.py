"""KISS-ICP, other people's LIDAR odometry, follows a drive of 100 m through the forest from the log that the drive wrote.

    python benchmarks/follow_drive.py [LOG]     with a log of `tussock drive`, follow that one
    python benchmarks/follow_drive.py seeds 5   drive only, with these many seeds, and say how many reached the goal

It sees the points and their times and nothing else. Its track is laid on the truth of the log by the rigid motion that
fits best (Kabsch), and the error is what remains, root mean square; exit status 1 where it exceeds 1 % of the length.
Needs tussock[ros,readers].
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from kiss_icp.config.parser import load_config
from kiss_icp.kiss_icp import KissICP
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from tussock.drive.log import open_drive_log
from tussock.drive.loop import drive_to
from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor

MOST = 0.01
"""of the length: twice what its authors report of the roads of KITTI"""
FOOT = np.array([0.0, 0.0, -DriveSettings().mount_m[2], 1.0])
"""the vehicle's own origin in the sensor's axes, where the sensor stands as usual"""
KINDS = {4: "<u2", 6: "<u4", 7: "<f4", 8: "<f8"}
"""types of sensor_msgs/PointField"""


def error_after_fitting(theirs, ours):
    """Root mean square distance [m] of two tracks (n, 3) after the rigid motion that fits them best."""
    a, b = theirs - theirs.mean(0), ours - ours.mean(0)
    u, _, vt = np.linalg.svd(a.T @ b)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return float(np.sqrt((((a @ (u @ flip @ vt)) - b) ** 2).sum(1).mean()))


# One ray a pulse and half the pulses, for speed: trunks and ground are followed, and there are enough points of them.
SENSOR = load_sensor("vlp-16").with_(**{"beam.rays": 1, "pattern.cycle_us": 2 * 55.296})
SETTINGS = DriveSettings(time_limit_s=200.0)
START, WAY = (-50.0, 3.0), [(0.0, 0.0), (50.0, -3.0)]


def drive(log_file):
    with open_drive_log(log_file, SENSOR, SETTINGS) as log:
        told(drive_to(ready_scene("forest-trail"), SENSOR, WAY, start=START, settings=SETTINGS, watchers=[log]).metrics)


def told(m):
    print(f"{m.message}: {m.length_m:.1f} m driven, {m.frames} looks, {m.collisions} collisions", flush=True)
    return m.success


def seeds(count):
    """Every second frame is looked at, for speed; exit status 1 where fewer than four fifths reach the goal."""
    settings = SETTINGS.changed(scan_every=2)
    stage = Stage(ready_scene("forest-trail"), settings.vehicle)
    drives = (drive_to(stage, SENSOR, WAY, start=START, settings=settings, seed=seed) for seed in range(count))
    there = sum(told(one.metrics) for one in drives)
    print(f"{there} of {count} reached the goal")
    return 0 if there >= 0.8 * count else 1


def follow(log_file):
    """KISS-ICP's track and the true one, of the vehicle's origin, (n, 3) [m]."""
    config = load_config(None)
    config.data.deskew = True
    odometry, track, truth = KissICP(config), [], []
    topics = ["/points", "/truth/odom"]
    with Path(log_file).open("rb") as file:
        for _, channel, _, told in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(
            topics
        ):
            if channel.topic == "/truth/odom":
                at = told.pose.pose.position
                truth.append((at.x, at.y, at.z))
                continue
            fields = told.fields
            points = np.frombuffer(bytes(told.data), np.dtype({
                "names": [f.name for f in fields], "formats": [KINDS[f.datatype] for f in fields],
                "offsets": [f.offset for f in fields], "itemsize": told.point_step,
            }))  # fmt: skip
            odometry.register_frame(
                np.stack([points[axis] for axis in "xyz"], 1).astype(float), points["time"].astype(float)
            )
            track.append((odometry.last_pose @ FOOT)[:3])
    assert len(track) == len(truth), "every frame has its truth"
    return np.array(track), np.array(truth)


def main():
    if sys.argv[1:2] == ["seeds"]:
        return seeds(int(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        log_file = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "drive.mcap"
        if len(sys.argv) == 1:
            drive(log_file)
        track, truth = follow(log_file)
    length = float(np.linalg.norm(np.diff(truth, axis=0), axis=1).sum())
    error = error_after_fitting(track, truth)
    end = np.linalg.norm(track[-1] - track[0]) - np.linalg.norm(truth[-1] - truth[0])
    print(
        f"KISS-ICP followed {length:.1f} m: error {error:.2f} m ({error / length:.2%} of the length); from start to end "
        f"it measured {end:+.2f} m more than there are"
    )
    return 0 if error <= MOST * length else 1


if __name__ == "__main__":
    sys.exit(main())
