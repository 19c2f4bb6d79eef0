"""The viewer in headless Chromium: the page loads, points are in the picture, the slider moves time."""

from __future__ import annotations

import io

import numpy as np
import pytest
from in_chromium import NEEDS_CHROMIUM, open_browser, wait_for

from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan_range
from tussock.viewer import Viewer

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def browser():
    with open_browser() as driver:
        yield driver


@pytest.fixture
def viewer():
    scene = Scene("yard")
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 3.0)), name="tower", label="building", position=(6.0, 2.0, 1.5))
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 2), Pose.at(6, -4, 2)])
    frames = list(scan_range(scene, load_sensor("vlp-16"), path, start=0.0, end=0.5))
    shown = Viewer(frames, color="label", port=0)
    yield shown
    shown.stop()


def picture(browser) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")).astype(int)


def points_in(image: np.ndarray) -> int:
    """Pixels in the colour of terrain (#c2a878), left of the panel."""
    canvas = image[:, : image.shape[1] * 6 // 10]
    return int((np.abs(canvas - np.array([0xC2, 0xA8, 0x78])).max(2) < 24).sum())


def test_page_points_and_slider(viewer, browser):
    browser.get(viewer.url)
    assert wait_for(lambda: "Tussock" in browser.title or "Tussock" in browser.page_source)
    assert wait_for(lambda: points_in(picture(browser)) > 500), "no points in the screenshot"
    assert viewer.index == 0
    before = picture(browser)

    sliders = browser.find_elements("css selector", "[role=slider]")
    assert len(sliders) >= 2  # time, point size
    for step in range(1, 4):
        sliders[0].send_keys("\ue014")  # arrow to the right
        assert wait_for(lambda step=step: viewer.index == step, 20), f"the slider did not reach frame {step}"
    assert viewer.time == pytest.approx(0.3)
    assert wait_for(lambda: (np.abs(picture(browser) - before).max(2) > 30).sum() > 500), "the picture stays the same"
    assert wait_for(lambda: "frame 4 of 5" in browser.page_source, 20)
