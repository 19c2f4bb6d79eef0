"""The session without a page: worlds are kept, words wait for a save, recordings follow time; picking and comparing."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.files.formats import save_frame
from tussock.poses import Pose
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.simulate import scan_range
from tussock.studio.ask import Ask, Walk
from tussock.studio.building import History, Thing, copied
from tussock.studio.compare import difference
from tussock.studio.opening import open_path
from tussock.studio.outline import outline_of
from tussock.studio.picking import met_along, nearest_point, point_facts
from tussock.studio.session import Session
from tussock.trace.world import World


def small_scene() -> Scene:
    scene = Scene("lot")
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 2.0)), name="crate", label="building", position=(6, 2, 1))
    return scene


@pytest.fixture
def session() -> Session:
    return Session(History(small_scene()), "lot.toml", Ask(pose="0,0,2"))


def test_worlds_are_built_once_for_a_scene_and_its_air(session):
    ask = session.ask
    one = session.world(ask)
    assert session.world(ask.at(seed=3, rays=2)) is one
    foggy = session.world(ask.at(weather="fog 50 m"))
    assert foggy is not one and session.world(ask) is one
    session.history.do(copied(session.scene, Thing("crate"))[0])
    assert session.world(ask) is not one


def test_words_say_that_a_changed_scene_is_to_be_saved(session, tmp_path):
    assert session.unsaid == "" and "lot.toml" in session.said()[0]
    session.history.do(copied(session.scene, Thing("crate"))[0])
    assert "save it first" in session.unsaid
    session.save(tmp_path / "new.toml")
    assert session.unsaid == "" and str(tmp_path / "new.toml") in session.said()[0]
    with pytest.raises(OutputError, match="exists"):
        session.save(tmp_path / "new.toml")
    session.save(tmp_path / "new.toml", force=True)


def test_paths_are_saved_whole_and_not_over_others(session, tmp_path):
    with pytest.raises(InputError, match="there is none"):
        session.save_path(tmp_path / "p.tum")
    session.ask = session.ask.at(walk=Walk(((0, 0, 2), (4, 0, 2))))
    session.save_path(tmp_path / "p.tum")
    with pytest.raises(OutputError, match="exists"):
        session.save_path(tmp_path / "p.tum")
    assert session.seconds == pytest.approx(4 / 1.4)


def test_recorded_frames_follow_time(session, tmp_path):
    frames = list(scan_range(session.scene, load_sensor("vlp-16"), Pose.at(0, 0, 2), end=0.3))
    for k, frame in enumerate(frames):
        save_frame(frame, tmp_path / f"f{k}.npz")
    found = open_path(str(tmp_path), print)
    shown = Session(None, found.name, Ask(), recorded=list(found.frames))
    assert [shown.recorded_at(t) for t in (0.0, 0.1, 0.19, 0.2, 9.0)] == [0, 1, 1, 2, 2]
    assert shown.scanned(Ask(time=0.1)).identical(frames[1])
    assert shown.step == pytest.approx(0.1) and shown.said() == ("", "")
    with pytest.raises(InputError, match="only recorded"):
        shown.world(Ask())
    with pytest.raises(InputError, match="no scene to save"):
        shown.save(tmp_path / "x.toml")


def test_opening_tells_scenes_from_frames(tmp_path):
    from tussock.scene_files.mesh_files import save_mesh

    save_mesh(box((1, 1, 1)), tmp_path / "crate.ply")
    assert open_path(str(tmp_path / "crate.ply"), print).scene is not None
    frame = next(scan_range(small_scene(), load_sensor("vlp-16"), Pose.at(0, 0, 2), end=0.1))
    save_frame(frame, tmp_path / "cloud.ply")
    assert len(open_path(str(tmp_path / "cloud.ply"), print).frames) == 1
    assert open_path("yard", print).pose == "0,0,2,0,0,0"
    with pytest.raises(InputError, match="no such file"):
        open_path(str(tmp_path / "none.npz"), print)
    with pytest.raises(InputError, match="no such ready scene"):
        open_path("yrad", print)


def test_the_point_that_a_ray_passes_closest_to_is_picked():
    rng = np.random.default_rng(1)
    points = rng.uniform(-10, 10, (500, 3)) + np.array([40.0, 0.0, 0.0])
    for wanted in range(0, 500, 50):
        start = rng.normal(0, 1, 3)
        found = nearest_point(points, start, points[wanted] - start)
        along = (points - start) / np.linalg.norm(points - start, axis=1)[:, None]
        assert along[found] @ along[wanted] > np.cos(2e-3)
    assert nearest_point(points, np.zeros(3), (-1, 0, 0)) is None
    assert nearest_point(np.zeros((0, 3)), np.zeros(3), (1, 0, 0)) is None
    line = np.array([[5.0, 0, 0], [3.0, 0, 0]])
    assert nearest_point(line, np.zeros(3), (1, 0, 0)) == 1  # the nearer of two on one line


def test_a_ray_meets_what_stands_there():
    world = World(small_scene())
    met = met_along(world, (0, 2, 1), (1, 0, 0))
    assert met.object_id == 2 and met.place.tolist() == pytest.approx([5.0, 2.0, 1.0], abs=1e-4)
    down = met_along(world, (1, 1, 5), (0, 0, -1))
    assert down.object_id == 1 and down.place.tolist() == pytest.approx([1.0, 1.0, 0.0], abs=1e-4)
    assert met_along(world, (0, 0, 5), (0, 0, 1)) is None


def test_facts_have_truth_beside_measurement(session):
    frame = session.scanned(session.ask)
    facts = {name: (measured, true) for name, measured, true in point_facts(frame, 100)}
    assert float(facts["range [m]"][0]) == pytest.approx(float(frame.range[100]), abs=1e-4)
    assert float(facts["range [m]"][1]) == pytest.approx(float(frame.true_range[100]), abs=1e-4)
    assert facts["label"][1] in ("terrain", "building") and "copy 0" in facts["object"][1]
    assert "x, y, z of the world [m]" in facts


def test_frames_are_compared_pulse_by_pulse_or_place_by_place(session):
    first = session.scanned(session.ask)
    same = difference(first, session.scanned(session.ask))
    assert same.by == "pulse" and not same.values.any() and same.only_first == same.only_second == 0
    quiet = session.scanned(session.ask.at(noise=False))
    noisy = difference(quiet, first)
    both = np.isin(first.pulse, quiet.pulse) & first.hit
    expected = (first.range - first.true_range)[both]
    assert noisy.by == "pulse" and np.sqrt((noisy.values**2).mean()) == pytest.approx(
        float(np.sqrt((expected**2).mean())), rel=0.05
    )
    other = difference(first, session.scanned(session.ask.at(sensor="hdl-32e")))
    assert other.by == "place" and other.second > other.first and (other.values >= 0).all()
    assert all(isinstance(text, str) for _, text in other.facts)
    assert difference(first, first.select(first.hit & False)).second == 0


@pytest.mark.parametrize("sensor", [name for name in sensor_names() if "128" not in name][::3])
def test_an_outline_lies_around_the_pulses(sensor):
    device = load_sensor(sensor)
    drawn = outline_of(device, reach=2.0, radius=1.0)
    lengths = np.linalg.norm(drawn.edges, axis=2)
    assert ((np.abs(lengths - 2.0) < 1e-5) | (lengths < 1e-6)).all()
    assert np.linalg.norm(drawn.pattern, axis=1) == pytest.approx(np.ones(len(drawn.pattern)), abs=1e-4)
    assert drawn.colors.shape == drawn.pattern.shape
