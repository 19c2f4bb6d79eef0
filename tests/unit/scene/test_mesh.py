"""Meshes, placements and scenes from arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.scene import Scene

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("vertices", "triangles", "said"),
    [
        ([[0, 0, np.nan], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], "vertex 0: must be finite"),
        ([[0, 0, 0], [1, np.inf, 0], [0, 1, 0]], [[0, 1, 2]], "vertex 1: must be finite"),
        ([[0, 0, 0], [1, 1e300, 0], [0, 1, 0]], [[0, 1, 2]], "vertex 1: must be finite"),
        (CORNERS, [[0, 1, 3]], "must index vertices 0 to 2, got 3"),
        (CORNERS, [[0, 1, -1]], "must index vertices 0 to 2, got -1"),
        (CORNERS, np.zeros((0, 3), int), r"must be an array of shape \(m, 3\)"),
        (CORNERS, [[0.0, 1.0, 2.0]], "must be whole numbers"),
        (np.zeros((0, 3)), [[0, 1, 2]], r"must be an array of shape \(n, 3\)"),
    ],
)
def test_a_mesh_that_cannot_be_is_refused(vertices, triangles, said):
    with pytest.raises(InputError, match=said):
        Mesh.of(vertices, triangles)


@pytest.mark.parametrize("chosen", [[2], [-1]])
def test_material_index_out_of_range(chosen):
    with pytest.raises(InputError, match="must index materials 0 to 1"):
        Mesh.of(CORNERS, [[0, 1, 2]], (Material(), Material(name="b")), chosen)


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_reflectance_outside_its_range(value):
    with pytest.raises(InputError, match="reflectance"):
        Material(reflectance=value)


def test_joined_meshes_keep_their_triangles_and_share_equal_materials():
    red, blue = Material(name="red"), Material(name="blue")
    first = Mesh.of(CORNERS, [[0, 1, 2]], (red,))
    both = Mesh.of([*CORNERS, [0, 0, 1]], [[0, 1, 2], [0, 1, 3]], (blue, red), [0, 1])
    joined = Mesh.joined([first, both])
    assert [m.name for m in joined.materials] == ["red", "blue"]
    assert joined.material_of_triangles.tolist() == [0, 1, 0]
    for part, at in ((first, slice(0, 1)), (both, slice(1, 3))):
        np.testing.assert_array_equal(joined.vertices[joined.triangles[at]], part.vertices[part.triangles])


def test_areas_of_a_box():
    assert box((2, 3, 4)).areas.sum() == pytest.approx(2 * (6 + 8 + 12))


@pytest.mark.parametrize("scale", [0.0, [[1, 1, 0]]])
def test_zero_scale_is_refused(scale):
    with pytest.raises(InputError, match="must not have zero scale"):
        Placements.of([[0, 0, 0]], scale=scale)


def test_a_flattening_transform_is_refused():
    flat = np.eye(4)[None, :3].copy()
    flat[0, 2, :3] = flat[0, 0, :3]
    with pytest.raises(InputError, match="placement 0: must not have zero scale"):
        Placements(flat)


def test_a_tiny_scale_is_not_zero():
    assert len(Placements.of([[0, 0, 0]], scale=1e-6)) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"yaw": [0.0, 1.0]}, "placement yaw"),
        ({"scale": [1.0, 1.0]}, "placement scale"),
        ({"quaternions": [[0, 0, 0, 0]] * 3}, "must be finite and not zero"),
        ({"quaternions": [[0, 0, 0, 1]]}, r"shape \(3, 4\)"),
    ],
)
def test_lists_that_do_not_fit_the_positions(options, said):
    with pytest.raises(InputError, match=said):
        Placements.of(np.zeros((3, 3)), **options)


def test_placements_turn_scale_and_shift():
    placed = Placements.of([[1, 2, 3]], yaw=[np.pi / 2], scale=[[2, 3, 4]]).matrices[0]
    np.testing.assert_allclose(placed[:, :3] @ [1, 1, 1] + placed[:, 3], [1 - 3, 2 + 2, 3 + 4], atol=1e-12)


def test_scene_knows_its_labels_names_and_size():
    scene = Scene(labels={"moss": 200})
    cube = box()
    scene.add(cube, name="a", label="moss", placements=Placements.of([[0, 0, 0], [4, 0, 0]], scale=2))
    scene.add(cube, position=(0, 0, 5), motion=Trajectory.through([0, 1], [Pose.at(10), Pose.at(20)]))
    assert [thing.id for thing in scene.objects] == [1, 2]
    assert scene.triangles == 36
    np.testing.assert_allclose(scene.bounds, [[-1, -1, -1], [10.5, 1, 5.5]])
    with pytest.raises(InputError, match="unknown label; did you mean 'moss'"):
        scene.add(cube, label="mos")
    with pytest.raises(InputError, match="must be unique"):
        scene.add(cube, name="a")
    with pytest.raises(InputError, match="did you mean 'object2'"):
        scene["objekt2"]
    with pytest.raises(InputError, match="unknown label"):
        scene.add(box(material=Material(label="barkk")))
    with pytest.raises(InputError, match="three numbers"):
        scene.add(cube, position=(1, 2))


def test_a_label_number_must_fit_the_column():
    with pytest.raises(InputError, match="0 to 65535, got 70000"):
        Scene(labels={"moss": 70000})


def test_replaced_material_stays_shared():
    scene = Scene()
    cube = box(material=Material(name="paint"))
    scene.add(cube)
    scene.add(cube)
    scene.replace_material("paint", Material(name="paint", reflectance=0.9))
    assert scene.objects[0].mesh is scene.objects[1].mesh
    assert scene.materials["paint"].reflectance == 0.9
    with pytest.raises(InputError, match="did you mean 'paint'"):
        scene.replace_material("pain", Material())


def test_a_name_is_looked_up_not_searched_for(monkeypatch) -> None:
    """100,000 objects are added in seconds: no step goes through all that are there."""
    scene, mesh = Scene(), box()
    monkeypatch.setattr(Scene, "everything", property(lambda self: pytest.fail("goes through everything")))
    rebuilt = 0

    class Counted(dict):
        def __init__(self, *given):
            nonlocal rebuilt
            rebuilt += 1
            super().__init__(*given)

    scene._places = Counted()
    for number in range(2000):
        scene.add(mesh, name=f"o{number}")
        assert scene[f"o{number // 2}"].id == number // 2 + 1
    assert rebuilt == 1
    with pytest.raises(InputError, match="must be unique in the scene, got 'o7'"):
        scene.add(mesh, name="o7")


def test_names_hold_also_where_the_lists_were_changed() -> None:
    scene = Scene()
    scene.add(box(), name="a")
    assert scene.add(box()).name == "object2"
    assert scene.add(box(), name="object4").id == 3
    assert scene.add(box()).name == "object4-2", "a name that is taken is not made again"
    del scene.objects[0]
    with pytest.raises(InputError, match="no such object"):
        _ = scene["a"]
    assert scene["object2"].id == 2
    scene.objects[0] = replace(scene.objects[0], name="b")
    assert scene["b"].id == 2
    scene.add(box(), name="a")
