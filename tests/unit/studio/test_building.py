"""Building: every change is a new scene that saves, loads and scans to the same bytes; undo and redo; grass."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.studio.building import History, Thing, copied, matrix_of, moved, parts_of, placed, removed, reshaped
from tussock.studio.grass_brush import erased, ground_world, painted
from tussock.studio.kinds import PLACEABLE, kind_named, shape_of


def slope(x, y):
    return 0.1 * x - 0.05 * y


def small_scene() -> Scene:
    scene = Scene("lot")
    scene.add(ground((30, 30), cells=(30, 30), heights=slope), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 2.0)), name="crate", label="building", position=(6, 2, 1))
    return scene


def test_history_goes_back_and_forth_and_forgets_what_was_undone():
    a, b, c = Scene("a"), Scene("b"), Scene("c")
    history = History(a)
    history.do(b)
    assert (history.back, history.forth, history.changed) == (1, 0, True)
    assert history.undo() is a and not history.changed and history.undo() is a
    assert history.redo() is b and history.redo() is b
    history.undo()
    history.do(c)
    assert history.forth == 0 and history.now is c
    history.saved()
    assert not history.changed


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["place", "copy", "move", "remove"]), st.integers(0, 10**6)), max_size=8))
def test_any_changes_leave_a_scene_with_numbers_from_one(changes):
    scene = small_scene()
    for change, seed in changes:
        rng = np.random.default_rng(seed)
        thing = scene.everything[rng.integers(len(scene.everything))]
        chosen = Thing(thing.name, int(rng.integers(len(thing.placements))))
        if change == "place":
            scene, _ = placed(scene, shape_of("box"), rng.normal(0, 9, 3), name="box", label="building")
        elif change == "copy":
            scene, _ = copied(scene, chosen)
        elif change == "move":
            scene = moved(scene, chosen, matrix_of(rng.normal(0, 9, 3), (1, 0, 0, 0), np.eye(3, 4)))
        elif len(scene.everything) > 1:
            scene = removed(scene, chosen)
    assert [one.id for one in scene.everything] == list(range(1, len(scene.everything) + 1))
    assert len({one.name for one in scene.everything}) == len(scene.everything)
    assert all(scene[one.name] is one for one in scene.objects)


def test_a_built_scene_is_saved_loaded_and_scanned_to_the_same_bytes(tmp_path):
    scene = small_scene()
    scene, shrub = placed(
        scene, shape_of("shrub"), (4, -3, slope(4, -3)), name="shrub", label="shrub", tags=("vegetation",)
    )
    scene, second = copied(scene, shrub, (1.5, 0.5, 0.1))
    scene = moved(
        scene, second, matrix_of((5.1234567, -2, 0.5), (0.9, 0, 0, 0.4), scene["shrub"].placements.matrices[1])
    )
    scene = removed(scene, Thing("crate"))
    scene = painted(scene, ground_world(scene), shape_of("grass", {"blades": 40}), np.array([-3.0, 2.0, 0.0]), 3.0)
    save_scene(scene, tmp_path / "built.toml")
    sensor, pose = load_sensor("vlp-16"), Pose.at(0, 0, 2)
    assert scan(load_scene(tmp_path / "built.toml"), sensor, pose).identical(scan(scene, sensor, pose))


def test_old_scenes_stay_as_they_were_and_shapes_are_shared():
    first = small_scene()
    second, thing = copied(first, Thing("crate"))
    assert len(first["crate"].placements) == 1 and len(second["crate"].placements) == 2
    assert second["crate"].mesh is first["crate"].mesh and thing == Thing("crate", 1)
    third = reshaped(second, thing, shape_of("ball"))
    assert third["crate"].mesh is shape_of("ball") and second["crate"].mesh is first["crate"].mesh
    assert shape_of("tree", {"height": 5.0}) is shape_of("tree", {"height": 5.0})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_gizmo_keeps_the_size_and_rounds_the_turn(seed):
    rng = np.random.default_rng(seed)
    old = np.concatenate([np.diag(rng.uniform(0.5, 2, 3)), rng.normal(0, 5, (3, 1))], 1)
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    new = matrix_of((1.23456, 2, 3), quaternion, old)
    assert np.linalg.norm(new[:, :3], axis=0) == pytest.approx(np.linalg.norm(old[:, :3], axis=0))
    assert new[:, 3].tolist() == [1.235, 2.0, 3.0]
    place, wxyz = parts_of(new)
    assert place.tolist() == new[:, 3].tolist()
    assert abs(abs(wxyz @ quaternion) - 1) < 2e-5  # within some tenths of a degree


def test_what_is_refused():
    scene = small_scene()
    path = Trajectory.through([0, 1], [Pose.at(0), Pose.at(1)])
    scene.add(box((1, 1, 1)), name="cart", motion=path)
    with pytest.raises(InputError, match="moves by itself"):
        moved(scene, Thing("cart"), np.eye(3, 4))
    with pytest.raises(InputError, match="not in the scene"):
        removed(scene, Thing("crate", 3))
    with pytest.raises(InputError, match="not in the scene"):
        copied(scene, Thing("nobody"))
    with pytest.raises(InputError, match="nothing of this name"):
        kind_named("unicorn")
    with pytest.raises(InputError, match="no such knob"):
        shape_of("tree", {"hight": 3.0})
    alone = Scene("alone")
    alone.add(box((1, 1, 1)), name="box")
    with pytest.raises(InputError, match="last thing"):
        removed(alone, Thing("box"))
    with pytest.raises(InputError, match="radius"):
        painted(scene, ground_world(scene), shape_of("grass"), np.zeros(3), 400.0)


@pytest.mark.parametrize("name", [name for name in PLACEABLE if name not in ("tree", "conifer")])
def test_every_kind_can_be_made_and_stands_on_the_ground(name):
    kind, mesh = kind_named(name), shape_of(name)
    low = float(mesh.bounds[0, 2])
    assert kind.rests or abs(low) < 0.3, "its zero is where it stands"
    for knob in kind.knobs:
        assert knob.low <= knob.usual <= knob.high


def test_grass_is_painted_once_on_the_slope_and_erased():
    scene = small_scene()
    floor = ground_world(scene)
    tile = shape_of("grass", {"blades": 40})
    once = painted(scene, floor, tile, np.array([2.0, 1.0, 0.2]), 3.0)
    grass = once["grass"].placements.matrices
    assert 24 <= len(grass) <= 33  # 9π square metres
    np.testing.assert_allclose(grass[:, 2, 3], slope(grass[:, 0, 3], grass[:, 1, 3]), atol=2e-3)
    # Sheared with the slope: the tile's own x and y, turned into the world, rise as the ground does.
    rises = np.einsum("pij,pi->pj", grass[:, :2, :2], np.broadcast_to([0.1, -0.05], (len(grass), 2)))
    np.testing.assert_allclose(grass[:, 2, :2], rises, atol=5e-3)
    again = painted(once, floor, tile, np.array([2.0, 1.0, 0.2]), 3.0)
    assert len(again["grass"].placements) == len(grass)
    wider = painted(once, floor, tile, np.array([5.0, 1.0, 0.5]), 3.0)
    cells = {tuple(c) for c in np.floor(wider["grass"].placements.matrices[:, :2, 3]).astype(int).tolist()}
    assert len(cells) == len(wider["grass"].placements) > len(grass)
    assert painted(scene, floor, tile, np.array([200.0, 0.0, 0.0]), 2.0) is scene  # no ground there
    half = erased(once, np.array([2.0, 1.0, 0.0]), 1.5)
    left = half["grass"].placements.matrices[:, :2, 3]
    assert 0 < len(left) < len(grass) and (np.hypot(*(left - (2.0, 1.0)).T) > 1.5).all()
    assert "grass" not in erased(once, np.array([2.0, 1.0, 0.0]), 10.0)
