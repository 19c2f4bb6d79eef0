"""The studio in headless Chromium: opened, the sensor typed and dragged elsewhere, points changed, colour changed, a picture
taken, files dropped, the scene saved and scanned by the command line to the same bytes, and the page closed."""

from __future__ import annotations

import shlex
import threading

import numpy as np
import pytest
from in_chromium import NEEDS_CHROMIUM, open_browser, wait_for
from PIL import Image
from scipy.spatial.transform import Rotation
from selenium.webdriver.common.actions.action_builder import ActionBuilder

from tussock.cli.app import app
from tussock.files.formats import load_frame
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def browser():
    with open_browser() as driver:
        yield driver


@pytest.fixture
def studio():
    from tussock.studio.app import Studio

    scene = Scene("lot")
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 3.0)), name="tower", label="building", position=(6.0, 2.0, 1.5))
    made = Studio(scene, sensor="vlp-16", port=0)
    assert made.idle(300)  # the first scan of a new checkout compiles
    yield made
    made.stop()


def press(browser, words: str) -> None:
    """Click a button or a tab by its text, as a hand would."""
    kinds = "self::button or @role='tab'"
    found = browser.find_element("xpath", f"//*[{kinds}][normalize-space()='{words}']")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
    found.click()


def field(browser, label: str):
    """The input that stands beside a label."""
    return browser.find_element("xpath", f"(//label[normalize-space()='{label}']/following::input)[1]")


def pixel(studio, place) -> tuple[int, int]:
    """Where a place in the world [m] is on the page."""
    camera = studio.clients()[0].camera
    w, x, y, z = camera.wxyz
    seen = Rotation.from_quat([x, y, z, w]).inv().apply(place - studio.stage.origin - camera.position)
    scale = camera.image_height / 2 / np.tan(camera.fov / 2)
    right, down = seen[:2] / seen[2] * scale
    return round(camera.image_width / 2 + right), round(camera.image_height / 2 + down)


def drag(browser, start: tuple[int, int], end: tuple[int, int]) -> None:
    """Press, pull slowly and let go, as a hand does."""
    hand = ActionBuilder(browser, duration=60)
    hand.pointer_action.move_to_location(*start)
    hand.pointer_action.pause(0.5)
    hand.pointer_action.pointer_down()
    for share in np.linspace(0, 1, 8)[1:]:
        hand.pointer_action.move_to_location(*(round(a + share * (b - a)) for a, b in zip(start, end, strict=True)))
        hand.pointer_action.pause(0.15)
    hand.pointer_action.pointer_up()
    hand.perform()


def drop(browser, *files: tuple[str, str]) -> None:
    """Files, by name and text, let go over the page."""
    browser.execute_script(
        """
        const box = new DataTransfer();
        for (const [name, text] of arguments[0]) box.items.add(new File([text], name));
        document.getElementById('studio-drop').dispatchEvent(
            new DragEvent('drop', {dataTransfer: box, bubbles: true, cancelable: true}));
        """,
        files,
    )


def test_a_scene_is_seen_scanned_built_and_saved(studio, browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    browser.get(studio.url)
    assert wait_for(lambda: len(studio.clients()) == 1)
    assert wait_for(lambda: "returns of" in browser.page_source), "no line on the first scan"
    assert wait_for(lambda: ">terrain<" in browser.page_source), "no legend"
    assert studio.idle(30)
    first, scans = studio.session.frame, studio.scans

    pose = field(browser, "pose")
    pose.clear()
    pose.send_keys("2,-3,2,0,0,30")
    assert wait_for(lambda: studio.session.ask.pose == "2,-3,2,0,0,30" and studio.scans > scans, 30)
    assert studio.idle(30)
    moved = studio.session.frame
    assert not moved.identical(first) and studio.shown == int(moved.hit.sum())

    colour = field(browser, "colour")
    colour.click()
    browser.find_element("xpath", "//div[@role='option'][normalize-space()='range']").click()
    assert wait_for(lambda: "range [m]" in browser.page_source and "gradient" in browser.page_source, 20)

    # By hand, at the handles of the gizmo: whichever of them is there moves or turns the sensor.
    scans, before = studio.scans, studio.session.ask.pose_now()
    drag(browser, *(pixel(studio, before.position + before.rotation[:, 0] * along) for along in (1.17, 2.67)))
    assert wait_for(lambda: studio.scans > scans, 30) and studio.idle(30)
    after = studio.session.ask.pose_now()
    assert np.abs(after.matrix - before.matrix).max() > 0.01
    assert studio.session.frame.identical(scan(studio.session.scene, load_sensor("vlp-16"), after))

    studio.build_panel.place("post", (4.0, -1.0, 0.0))
    assert studio.idle(30)
    press(browser, "Files")
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    press(browser, "picture of this view")
    assert wait_for(lambda: (tmp_path / "studio.png").exists(), 30), "no picture came down"
    picture = np.asarray(Image.open(tmp_path / "studio.png").convert("RGB"))
    assert picture.shape[0] >= 200 and picture.std() > 10
    assert wait_for(lambda: "save it first" in browser.page_source, 20)
    press(browser, "save the scene")
    assert wait_for(lambda: (tmp_path / "scene.toml").exists() and "wrote scene.toml" in browser.page_source, 20)
    command, _ = studio.session.said("again.npz")
    app(shlex.split(command)[1:], standalone_mode=False)
    assert load_frame("again.npz").identical(studio.session.frame)

    # Files dropped on the page, as the browser hands them over: a picture of text, one that is broken, two, of which one is taken.
    drop(browser)
    drop(browser, ("broken.toml", "= nothing"))
    assert wait_for(lambda: "broken.toml: not valid TOML" in browser.page_source, 20)
    assert studio.session.scene["post"]
    drop(
        browser,
        ("wall.toml", "[[objects]]\nname = 'wall'\nbox = {size_m = [0.2, 9, 3]}\nposition_m = [5, 0, 1]\n"),
        ("b.toml", ""),
    )
    assert wait_for(lambda: [thing.name for thing in studio.session.scene.everything] == ["wall"], 20)
    assert wait_for(lambda: "one file at a time: wall.toml is opened" in browser.page_source, 20)
    assert not [line for line in browser.get_log("browser") if "Uncaught" in line["message"]]

    given_up = threading.Event()
    studio.worker.ask("picture", lambda stop: given_up.set() if stop.wait(60) else None)  # work that lasts
    browser.close()
    assert wait_for(lambda: not studio.clients(), 20)
    assert given_up.wait(10) and studio.idle(10), "closing the page did not stop the work"
