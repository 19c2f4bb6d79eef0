"""The studio without a browser: what its panels do to the session, and what is on the page afterwards."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import save_frame
from tussock.poses import Pose
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.scene_files.mesh_files import save_mesh
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.studio.building import History

pytest.importorskip("viser", reason="viser is not installed: pip install 'tussock[view]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the web server's own libraries


def small_scene() -> Scene:
    scene = Scene("lot")
    scene.add(ground((40, 40), cells=(40, 40)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 2.0)), name="crate", label="building", position=(6, 2, 1))
    return scene


@pytest.fixture(scope="module")
def shared():
    from tussock.studio.app import Studio

    made = Studio(small_scene(), sensor="vlp-16", pose="0,0,2", port=0)
    assert made.idle(300)  # the first scan of a new checkout compiles
    yield made
    made.stop()


@pytest.fixture
def studio(shared):
    """As it was opened."""
    shared.session.history, shared.session.source = History(small_scene(), saved=False), "scene.toml"
    shared.session.recorded = []
    shared.session.ask = shared.session.ask.at(
        sensor="vlp-16", pose="0,0,2", walk=None, mode=None, weather="", time=0.0, noise=True
    )
    shared.refresh()
    assert shared.idle(300)
    return shared


def wait_for(check) -> bool:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.02)
    return False


def click(studio, tool: str, start, end) -> None:
    studio.top.tool = tool
    studio._clicked(np.array(start, float), np.array(end, float) - np.array(start, float))
    assert studio.idle(300)


def test_what_is_asked_is_shown(studio):
    seen = scan(small_scene(), load_sensor("vlp-16"), Pose.at(0, 0, 2))
    assert studio.session.frame.identical(seen) and studio.shown == int(seen.hit.sum())
    assert f"{studio.shown:,} returns" in studio.top._line.content and not studio.top._progress.visible
    studio.move_sensor("1,-2,2,0,0,45")
    assert studio.idle(300)
    assert studio.session.frame.identical(scan(small_scene(), load_sensor("vlp-16"), Pose.parse("1,-2,2,0,0,45")))
    assert "--pose 1,-2,2,0,0,45" in studio.files_panel._words.content


def test_knobs_ask_and_mistakes_change_nothing(studio):
    studio.scan_panel._mode.value = "last"
    assert wait_for(lambda: studio.session.ask.mode == "last")
    studio.scan_panel._weather.value = "frogs 3 mm/h"
    assert wait_for(lambda: "no such weather" in studio.top._line.content)
    assert studio.session.ask.weather == ""
    studio.scan_panel._weather.value = "fog 30 m"
    assert wait_for(lambda: studio.session.ask.weather == "fog 30 m")
    studio.scan_panel._weather.value = ""
    studio.scan_panel._mode.value = "as its sheet"
    assert wait_for(lambda: (studio.session.ask.weather, studio.session.ask.mode) == ("", None))


def test_colours_and_legend(studio):
    studio.top.color = "range"
    assert "range [m]" in studio.top._legend.content
    studio.top.color = "label"
    assert f"{int((studio.session.frame.label == 72).sum()):,}" in studio.top._legend.content


def test_a_point_is_told_with_its_waveform(studio):
    frame = studio.session.frame
    row = int(np.flatnonzero(frame.hit & (frame.object_id == 2))[40])
    place = frame.world_xyz()[row]
    click(studio, "point", (0, 0, 2.4), place)
    picked = studio.point_panel.row
    assert picked is not None and np.linalg.norm(frame.world_xyz()[picked] - place) < 0.3
    assert "building" in studio.point_panel._facts.content and "measured" in studio.point_panel._facts.content
    assert studio.point_panel._plot is not None and "ns" in studio.point_panel._told.content


def test_a_path_by_clicks_is_walked(studio):
    for x, y in ((0, 0), (0, 0), (4, 0), (4, 4)):  # the same place twice is refused, and forgotten
        click(studio, "path", (x, y, 9), (x, y, 0))
    walk = studio.session.ask.walk
    assert walk is not None and [place[:2] for place in walk.places] == [(0, 0), (4, 0), (4, 4)]
    assert all(place[2] == pytest.approx(2.0, abs=1e-3) for place in walk.places)
    studio.scan_panel.set_time(1.0)
    assert studio.idle(300)
    assert studio.session.frame.trajectory.pose(1.0).position[0] == pytest.approx(1.4, abs=0.01)
    assert "--trajectory path.tum --from 1.0" in studio.session.said()[0]


def test_things_are_placed_moved_copied_grown_removed_and_undone(studio):
    panel = studio.build_panel
    panel._kind.value = "post"
    click(studio, "place", (3, -4, 9), (3, -4, 0))
    scene = studio.session.scene
    assert panel.chosen.name == "post" and scene["post"].placements.matrices[0, :, 3].tolist() == [3, -4, 1.5]
    assert any(studio.session.frame.object_id == scene["post"].id)
    panel._knobs["height"].value = 5.0
    assert wait_for(lambda: np.ptp(studio.session.scene["post"].mesh.bounds[:, 2]) == pytest.approx(5.0))
    matrix = studio.session.scene["post"].placements.matrices[0].copy()
    matrix[0, 3] = 5.0
    panel.move_chosen(matrix)
    panel.copy_chosen()
    assert studio.session.scene["post"].placements.matrices[:, 0, 3].tolist() == [5.0, 6.0]
    panel.remove_chosen()
    assert len(studio.session.scene["post"].placements) == 1 and panel.chosen is None
    click(studio, "select", (6, 2, 9), (6, 2, 0))
    assert panel.chosen.name == "crate"
    for _ in range(5):
        panel._step(back=True)
    assert "post" not in studio.session.scene and panel._undo.disabled
    panel._step(back=False)
    assert "post" in studio.session.scene
    assert studio.idle(300) and set(studio.stage._drawn) == {"ground", "crate", "post"}


def test_grass_is_painted_and_erased_where_it_is_clicked(studio):
    click(studio, "paint", (-5, -5, 9), (-5, -5, 0))
    grass = studio.session.scene["grass"]
    assert len(grass.placements) > 20 and np.hypot(*(grass.placements.matrices[:, :2, 3] + 5).T).max() <= 3.0
    assert any(studio.session.frame.object_id == grass.id)
    click(studio, "erase", (-5, -5, 9), (-5, -5, 0))
    assert "grass" not in studio.session.scene


def test_two_are_compared(studio):
    studio.compare_panel.compare(mode="last")
    assert wait_for(lambda: studio.session.other is not None and studio.session.other.mode == "last")
    assert wait_for(lambda: studio.session.other_frame is not None) and studio.idle(300)
    for view in ("first", "second", "beside", "difference"):
        studio.compare_panel.view = view
        assert studio.shown > 0
    assert "range difference" in studio.compare_panel._table.content
    both = int(studio.session.frame.hit.sum()) + int(studio.session.other_frame.hit.sum())
    studio.compare_panel.view = "beside"
    assert studio.shown == both
    studio.compare_panel.compare(on=False)
    assert wait_for(lambda: studio.session.other is None and studio.shown < both)


def test_the_camera_takes_a_picture_from_the_sensor(studio):
    studio.top.camera = True
    assert studio.idle(300)
    assert studio.top._picture.visible and studio.top._picture.image.shape == (200, 320, 3)
    studio.top.camera = False


def test_files_from_the_page_open(studio, tmp_path):
    frame = studio.session.frame
    save_frame(frame, tmp_path / "seen.npz")
    studio.files_panel.take("../seen.npz", (tmp_path / "seen.npz").read_bytes())
    assert studio.idle(300) and studio.session.recorded[0].identical(frame) and studio.shown == int(frame.hit.sum())
    text = b"[[objects]]\nname = 'wall'\nbox = {size_m = [0.2, 9, 3]}\nposition_m = [5, 0, 1]\n"
    studio.files_panel.take("wall.toml", text)
    assert studio.idle(300) and [thing.name for thing in studio.session.scene.everything] == ["wall"]
    assert not studio.session.recorded
    with pytest.raises(InputError, match="TOML"):
        studio.files_panel.take("bad.toml", b"= nothing")


def test_captures_volumes_and_packs_from_the_page_open(studio, tmp_path):
    import tussock

    sensor = tussock.load_sensor("vlp-16")
    with tussock.open_recording(tmp_path / "seen.pcap", sensor) as run:
        run.write(tussock.scan(small_scene(), sensor, tussock.Pose.at(0, 0, 2), keep_misses=True))
    tussock.save_volumes(
        tussock.learn_volumes(tussock.load_pulses(tmp_path / "seen.pcap"), voxel=0.5), tmp_path / "seen.volumes"
    )
    tussock.save_pack(small_scene(), tmp_path / "seen.tussock")
    for name, recorded, things in (
        ("seen.pcap", 2, None),
        ("seen.volumes", 0, ["ground", "seen"]),
        ("seen.tussock", 0, [thing.name for thing in small_scene().everything]),
    ):
        studio.files_panel.take(name, (tmp_path / name).read_bytes())
        assert studio.idle(300)
        assert len(studio.session.recorded) == recorded and studio.shown > 100, name
        if things is not None:
            assert [thing.name for thing in studio.session.scene.everything] == things


def test_a_file_from_the_page_goes_by_its_own_name(studio):
    """Its copy lies in a folder that nobody knows, and that is gone when the studio ends."""
    text = b"[[objects]]\nname = 'wall'\nbox = {size_m = [0.2, 9, 3]}\nposition_m = [5, 0, 1]\n"
    studio.files_panel.take("wall.toml", text)
    assert studio.idle(300)
    command, program = studio.session.said()
    assert "tmp" not in command + program and "scan scene.toml" in command
    assert "save it first" in studio.session.unsaid
    for name, content, words in (
        ("lost.toml", b"[[objects]]\nmesh = 'oak.obj'\n", r"^lost\.toml: .*oak\.obj: no such mesh file.*drop a pack"),
        ("bad.toml", b"= nothing", r"^bad\.toml: not valid TOML"),
        ("empty.toml", b"", r"^empty\.toml: objects: is required$"),
        ("bad.pcd", b"nope", r"^bad\.pcd: "),
        ("note", b"", r"^note: its name must end as what it holds"),
        ("photo.heic", b"", r"got 'photo\.heic'"),
    ):
        with pytest.raises(InputError, match=words) as told:
            studio.files_panel.take(name, content)
        assert "tussock-" not in str(told.value)
        assert [thing.name for thing in studio.session.scene.everything] == ["wall"], "what was open stays open"


def test_no_points_take_the_old_ones_from_the_page(studio):
    assert studio.shown and studio._server.scene.get_handle_by_name("/points") is not None
    studio.move_sensor("0,0,900000")
    assert studio.idle(300) and studio.shown == 0
    assert studio._server.scene.get_handle_by_name("/points") is None
    assert "0 returns" in studio.top._line.content and "below" not in studio.top._line.content
    studio.move_sensor("0,0,2")
    assert studio.idle(300) and studio._server.scene.get_handle_by_name("/points") is not None


def test_a_sensor_below_the_ground_is_told_so(studio):
    studio.move_sensor("0,0,-3")
    assert studio.idle(300) and "the sensor is 3.00 m below the ground" in studio.top._line.content
    studio.move_sensor("0,0,2")
    assert studio.idle(300) and "below the ground" not in studio.top._line.content


def test_a_mesh_from_the_page_is_placed_before_the_sensor(studio, tmp_path):
    studio.move_sensor("-3,-6,2,0,0,90")
    save_mesh(box((1.0, 1.0, 2.0)), tmp_path / "box.ply")
    studio.files_panel.take("my box.ply", (tmp_path / "box.ply").read_bytes())
    assert studio.idle(300) and studio.build_panel.chosen.name == "my box"
    low, high = studio.session.scene["my box"].mesh.bounds + studio.session.scene["my box"].placements.matrices[0, :, 3]
    middle = (low + high) / 2
    assert low[2] == pytest.approx(0.0, abs=2e-3) and middle[0] == pytest.approx(-3.0, abs=2e-3)
    assert middle[1] == pytest.approx(-6 + 5 + 0.5**0.5, abs=2e-3)
    assert any(studio.session.frame.object_id == studio.session.scene["my box"].id)
    studio.files_panel._meshes.value = "opens alone"
    studio.files_panel.take("box.ply", (tmp_path / "box.ply").read_bytes())
    assert studio.idle(300) and len(studio.session.scene.everything) == 1
    studio.files_panel._meshes.value = "is placed here"


def test_what_is_refused_before_a_page_is_opened():
    from tussock.studio.app import Studio

    for given, words in (
        ({"sensor": "vlp-17"}, "not in the catalogue"), ({"pose": "1,2"}, "pose"), ({"color": "smell"}, "color"),
        ({"port": 99999}, "port"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            Studio(small_scene(), **given)
    with pytest.raises(InputError, match="no such ready scene"):
        Studio("yrad")
