"""The viewer without a browser: what it shows, and what it refuses."""

from __future__ import annotations

import pytest

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan, scan_range
from tussock.viewer import Viewer

pytest.importorskip("viser", reason="viser is not installed: pip install 'tussock[view]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the web server's own libraries


def small_scene() -> Scene:
    scene = Scene("yard")
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    path = Trajectory.through([0.0, 1.0], [Pose.at(6, 2, 1), Pose.at(9, 2, 1)])
    scene.add(box((2.0, 2.0, 2.0)), name="car", label="car", motion=path)
    return scene


def test_one_frame_is_shown_up_to_the_slider():
    frame = scan(small_scene(), load_sensor("vlp-16"), Pose.at(0, 0, 2))
    viewer = Viewer([frame], scene=small_scene(), port=0)
    try:
        assert viewer.shown == frame.hit.sum() and viewer.url.startswith("http://127.0.0.1:")
        viewer.time = 0.05
        viewer._show()
        assert 0.4 < viewer.shown / frame.hit.sum() < 0.6
    finally:
        viewer.stop()


def test_several_frames_are_chosen_by_time():
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 2), Pose.at(2, 0, 2)])
    frames = list(scan_range(small_scene(), load_sensor("vlp-16"), path, start=0.0, end=0.4))
    viewer = Viewer(frames[::-1], port=0)  # in any order
    try:
        assert [f.meta["start_s"] for f in viewer.frames] == pytest.approx([0.0, 0.1, 0.2, 0.3])
        viewer.time = 0.27
        viewer._show()
        assert viewer.index == 2 and viewer.shown == frames[2].hit.sum()
    finally:
        viewer.stop()


def test_the_legend_counts_the_points_of_the_frame():
    frame = scan(small_scene(), load_sensor("vlp-16"), Pose.at(0, 0, 2))
    viewer = Viewer([frame], color="label", port=0)
    try:
        assert f"{int((frame.label == 72).sum()):,}" in viewer._legend.content
        viewer._color.value = "range"
        assert "gradient" in viewer._legend.content
    finally:
        viewer.stop()


def test_what_it_refuses():
    frame = scan(small_scene(), load_sensor("vlp-16"), Pose.at(0, 0, 2))
    with pytest.raises(InputError, match="at least one frame"):
        Viewer([])
    with pytest.raises(InputError, match="colouring"):
        Viewer([frame], color="smell")
    with pytest.raises(InputError, match="port"):
        Viewer([frame], port=99999)
