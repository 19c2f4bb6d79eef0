"""The log of a drive: what others read in it, the same bytes for the same seed, and readable after a kill."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from small_drives import eye, stage

from tussock.drive.camera import FrontCamera
from tussock.drive.files import save_metrics, save_truth
from tussock.drive.film import Film
from tussock.drive.log import open_drive_log
from tussock.drive.loop import drive_to
from tussock.drive.settings import DriveSettings
from tussock.errors import InputError

pytest.importorskip(
    "mcap_ros2", reason="reading ROS 2 messages needs mcap-ros2-support: pip install 'tussock[readers]'"
)

GOAL, START = (12.0, 5.0), (-12.0, 5.0, 0.0)


def logged(path, seconds=2.0, camera=False):
    settings, place = DriveSettings(time_limit_s=seconds), stage()
    front = FrontCamera(place.world) if camera else None
    film = Film()
    with open_drive_log(path, eye(), settings, camera=front) as log:
        result = drive_to(place, eye(), GOAL, start=START, settings=settings, watchers=[log, film])
    return result, film


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drive")
    return *logged(folder / "drive.mcap", camera=True), folder


def messages(path):
    from mcap.reader import make_reader
    from mcap_ros2.decoder import DecoderFactory

    found = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, message, said in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time, said))
    return found


def seconds_of(stamp):
    return stamp.sec + stamp.nanosec * 1e-9


def test_other_peoples_reader_finds_all_of_it(drive):
    result, _, folder = drive
    found = messages(folder / "drive.mcap")
    frames = result.metrics.frames
    assert {topic: len(found[topic]) for topic in ("/points", "/estimate", "/cmd_vel", "/truth/odom")} == dict.fromkeys(
        ("/points", "/estimate", "/cmd_vel", "/truth/odom"), frames
    )
    assert len(found["/tf"]) == 100
    assert (len(found["/imu"]), len(found["/compass"]), len(found["/odom"]), len(found["/gps/fix"])) == (
        200, 200, 100, 20,
    )  # fmt: skip
    assert len(found["/camera/image"]) == len(found["/camera/camera_info"]) == 2
    assert {edge.child_frame_id for edge in found["/tf_static"][0][1].transforms} == {
        "lidar", "gps", "camera", "camera_optical", "odom",
    }  # fmt: skip
    known = {"map", *(edge.child_frame_id for topic in ("/tf", "/tf_static") for edge in found[topic][0][1].transforms)}
    frames_named = {
        said.header.frame_id for all_said in found.values() for _, said in all_said if hasattr(said, "header")
    }
    assert frames_named <= known, "Foxglove shows nothing whose frame no transform leads to"
    assert found["/status"][0][1].data == "time limit"
    last = found["/truth/odom"][-1][1]
    assert last.pose.pose.position.x == pytest.approx(result.truth[-1, 0])
    assert last.twist.twist.linear.x == pytest.approx(result.truth[-1, 6])


def test_the_map_is_the_map_with_x_along_its_rows(drive):
    result, _, folder = drive
    grid = messages(folder / "drive.mcap")["/map"][-1][1]
    values = np.array(grid.data, np.int8).reshape(grid.info.height, grid.info.width)
    c = result.cost_map
    np.testing.assert_array_equal(values >= 0, c.seen.T)
    np.testing.assert_array_equal(values[c.seen.T], np.round(c.costs).T[c.seen.T])
    assert (grid.info.origin.position.x, grid.info.origin.position.y) == (c.low_x, c.low_y)
    assert grid.info.resolution == pytest.approx(0.5)


def test_the_plan_ends_at_the_goal_and_transforms_are_the_truth(drive):
    result, _, folder = drive
    found = messages(folder / "drive.mcap")
    end = found["/plan"][-1][1].poses[-1].pose.position
    assert (end.x, end.y) == GOAL
    first = seconds_of(found["/tf"][0][1].transforms[0].header.stamp)
    for _, message in found["/tf"][::17]:
        edge = message.transforms[0]
        at = seconds_of(edge.header.stamp) - first
        expected = [np.interp(at, result.times, result.truth[:, k]) for k in range(3)]
        t = edge.transform.translation
        np.testing.assert_allclose([t.x, t.y, t.z], expected, atol=1e-6)


def test_readings_are_in_the_log_as_the_sensors_gave_them(drive):
    _, _, folder = drive
    found = messages(folder / "drive.mcap")
    imu = found["/imu"][0][1]
    assert imu.linear_acceleration.z == pytest.approx(9.81, abs=0.1)
    assert imu.orientation_covariance[0] == -1
    turn = found["/compass"][0][1].quaternion
    assert np.hypot(turn.x, np.hypot(turn.y, np.hypot(turn.z, turn.w))) == pytest.approx(1.0)
    fix = found["/gps/fix"][0][1]
    assert fix.latitude == pytest.approx(48.0, abs=0.001)
    assert fix.position_covariance[0] == pytest.approx(0.008**2 + 0.010**2)


def test_points_and_their_transform_put_the_wall_where_it_is(drive):
    result, _, folder = drive
    found = messages(folder / "drive.mcap")
    cloud = found["/points"][0][1]
    points = np.frombuffer(
        bytes(cloud.data), np.dtype({"names": "xyz", "formats": ["<f4"] * 3, "offsets": [0, 4, 8], "itemsize": 22})
    )
    assert cloud.header.frame_id == "lidar"
    x = points["x"] + START[0]  # it stands and looks along x
    near = (np.abs(points["z"] + 2.0 - 1.5) < 1.0) & (np.abs(points["y"]) < 3) & (points["x"] > 0)
    assert np.median(x[near]) == pytest.approx(-0.3, abs=0.1)
    del result


def test_the_same_seed_gives_the_same_bytes(drive, tmp_path):
    result, film, folder = drive
    again, film_again = logged(tmp_path / "drive.mcap", camera=True)
    assert (tmp_path / "drive.mcap").read_bytes() == (folder / "drive.mcap").read_bytes()
    for name, save in (
        ("metrics.json", metrics_of),
        ("truth.csv", save_truth),
        ("drive.png", picture),
        ("drive.gif", None),
    ):
        first, second = folder / name, tmp_path / name
        if save is None:
            from tussock.plots.drive_film import save_film

            save_film(result, film.snapshots, first)
            save_film(again, film_again.snapshots, second)
        else:
            save(result, first)
            save(again, second)
        assert first.read_bytes() == second.read_bytes(), name


def metrics_of(result, path):
    save_metrics(result, path, scene="field", sensor=eye(), seed=0)


def picture(result, path):
    from tussock.plots.drive import plot_drive

    plot_drive(result, path, title="field")


def test_a_log_has_its_ending(tmp_path):
    with pytest.raises(InputError, match=r"ends in \.mcap"), open_drive_log(tmp_path / "a.bag", eye(), DriveSettings()):
        pass


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from small_drives import eye, stage
from tussock.drive.log import open_drive_log
from tussock.drive.loop import drive_to
from tussock.drive.settings import DriveSettings

class Count:
    def watch(self, step):
        print(step.sensed.number, flush=True)

with open_drive_log(Path(sys.argv[1]), eye(), DriveSettings()) as log:
    drive_to(stage(), eye(), (12.0, 5.0), start=(-12.0, 5.0, 0.0), watchers=[log, Count()], speed=1.0)
"""


def test_a_kill_leaves_a_log_that_is_whole_up_to_then(tmp_path):
    from mcap.exceptions import McapError
    from mcap.reader import NonSeekingReader
    from mcap_ros2.decoder import DecoderFactory

    path = tmp_path / "drive.mcap"
    folder = str(Path(__file__).parent)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), folder], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if int(line) >= 30:
            break
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    clouds, poses = 0, 0
    try:
        with path.open("rb") as file:
            reader = NonSeekingReader(file, decoder_factories=[DecoderFactory()])
            for _, channel, _, message in reader.iter_decoded_messages(log_time_order=False):
                clouds += channel.topic == "/points" and message.width > 0
                poses += channel.topic == "/truth/odom"
    except (McapError, EOFError):
        pass  # where the last chunk was cut off
    assert clouds >= 24  # the log may lag four steps behind, and the last chunk is not whole
    assert poses >= 20
