"""What a vehicle meets: ground below plants, solids, plants and movers."""

import numpy as np
import pytest

from tussock.drive.site.ground import Ground, ground_of, heights_at
from tussock.drive.site.kinds import faces_of
from tussock.drive.site.movers import Movers, rectangle
from tussock.drive.site.obstacles import Body, stem_force
from tussock.drive.site.site import Site
from tussock.drive.vehicles.body import VehicleBody
from tussock.drive.vehicles.collision import clearance, touches
from tussock.drive.vehicles.vehicle import load_vehicle
from tussock.errors import InputError
from tussock.ground.relief import Relief
from tussock.plants.grass import grass_tile
from tussock.plants.tree import tree
from tussock.poses import Pose, Trajectory
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, cylinder, ground, plane, sphere
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES

BODY = Body(climb=0.25, height=2.0, push_height=0.5, push_force=7000.0)


def meadow():
    scene = Scene()
    scene.add(plane((40, 40), material=SURFACES["soil"]), name="ground", label="terrain")
    return scene


def test_the_ground_is_that_below_everything():
    relief = Relief(height=0.5, wavelength=20.0, seed=3)
    scene = Scene()
    scene.add(ground((40, 40), cells=(160, 160), heights=relief, material=SURFACES["soil"]), label="terrain")
    scene.add(grass_tile(size=1.0, blades=100, height=0.8), label="grass", tags=("vegetation",))
    scene.add(box((4, 4, 3)), label="building", position=(8, 8, 1.5))
    found = ground_of(scene)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-19.9, 19.9, (2, 500))
    np.testing.assert_allclose(heights_at(found, x, y), relief(x, y), atol=0.02)
    assert np.isnan(heights_at(found, 25.0, 0.0)[0])


def test_a_scene_far_from_zero_and_a_hole_in_the_ground():
    scene = Scene()
    place = [5e5, 4e6, 300.0]
    scene.add(plane((20, 40)), label="road", position=place)
    scene.add(plane((20, 40)), label="terrain", position=[place[0] + 30, place[1], place[2] + 1.0])
    found = ground_of(scene)
    assert heights_at(found, place[0], place[1])[0] == pytest.approx(300.0, abs=1e-3)
    assert heights_at(found, place[0] + 30, place[1])[0] == pytest.approx(301.0, abs=1e-3)
    assert np.isnan(heights_at(found, place[0] + 15, place[1])[0])


def test_a_scene_without_ground_says_so():
    scene = Scene("cellar")
    scene.add(box(), label="building")
    with pytest.raises(InputError, match=r"cellar.*no ground to drive on"):
        ground_of(scene)


def test_labels_of_materials_go_before_that_of_the_object():
    scene = Scene()
    oak = scene.add(tree(triangles=5_000), label="vegetation")
    faces = faces_of(oak)
    assert faces.trunk.any()
    assert faces.plants.any()
    assert not faces.ground.any()
    assert not faces.solid.any()
    np.testing.assert_array_equal(faces.trunk.astype(int) + faces.plants, 1)


def test_solids_stop_at_the_height_of_the_body_only():
    scene = meadow()
    scene.add(box((1, 1, 1)), label="rock", position=(5, 0, 0.5))
    scene.add(box((1, 1, 0.2)), label="rock", position=(-5, 0, 0.1))  # lower than the wheels climb
    scene.add(box((1, 1, 0.2)), label="building", position=(0, 5, 3.0))  # a roof to pass under
    scene.add(box((1, 1, 2)), position=(0, -5, 1.0))  # what has no label is solid
    taken = Site.of(scene, BODY).obstacles
    for (x, y), there in {(5, 0): True, (-5, 0): False, (0, 5): False, (0, -5): True}.items():
        assert touches(taken, x + 0.45, y, 0.0, 0.3, 0.3) == there, (x, y)
    assert clearance(taken, 2.0, 0.0, 0.0, 3.0, 1.7, 5.0) == pytest.approx(5 - 0.5 - 2 - 1.5, abs=0.08)
    assert np.isinf(clearance(taken, -12.0, 12.0, 0.0, 3.0, 1.7, 1.0))


def test_walls_just_outside_of_the_ground_are_known_too():
    scene = meadow()
    scene.add(box((0.5, 40, 3)), label="wall", position=(20.25, 0, 1.5))
    body = VehicleBody(load_vehicle("skid-steer"), Site.of(scene, BODY), 10.0, 0.0, 0.0)
    body.drive(2.0, 0.0, 20.0)
    assert body.collisions == 1
    assert body.motion.x == pytest.approx(20.0 - 1.5, abs=0.12)


def test_without_a_wall_the_edge_of_the_ground_is_no_collision():
    body = VehicleBody(load_vehicle("skid-steer"), Site.of(meadow(), BODY), 10.0, 0.0, 0.0)
    body.drive(2.0, 0.0, 20.0)
    assert body.collisions == 0
    assert body.motion.speed == 0.0
    assert body.motion.x + 1.0 <= 20.0


def test_a_trunk_stops_and_a_sapling_gives_way():
    for width, stops in ((0.30, True), (0.05, False)):
        scene = meadow()
        bark = SURFACES["bark"]
        scene.add(cylinder(width / 2, 4.0, material=bark), label="vegetation", position=(5, 0, 2.0))
        body = VehicleBody(load_vehicle("skid-steer"), Site.of(scene, BODY), 0.0, 0.0, 0.0)
        rows = body.drive(2.0, 0.0, 12.0)
        assert (body.collisions == 1) == stops
        assert (body.motion.x > 8) != stops
        if not stops:
            held = rows.column("plant_force")
            assert held.max() == pytest.approx(stem_force(0.05, 0.5), rel=0.5)


def test_the_force_that_brings_a_stem_down_is_that_of_the_reference_mobility_model():
    # (40 − h/2)·d³ in pounds and inches.
    inches = stem_force(2 * 0.0254, 20 * 0.0254)
    assert inches == pytest.approx((40 - 20 / 2) * 2**3 * 4.448, rel=2e-3)


def test_many_trunks_in_one_mesh_are_solid():
    from tussock.scene.mesh import Mesh

    one = cylinder(0.02, 4.0, material=SURFACES["bark"])
    apart = [Mesh.of(one.vertices + np.array([x, 0, 2]), one.triangles, one.materials) for x in (-6.0, 6.0)]
    scene = meadow()
    scene.add(Mesh.joined(apart), label="vegetation")
    site = Site.of(scene, BODY)
    assert touches(site.obstacles, 6.0, 0.0, 0.0, 0.3, 0.3)


def test_plants_are_as_dense_and_as_high_as_they_were_grown():
    scene = meadow()
    tile = grass_tile(size=1.0, blades=200, height=0.6, seed=1)
    middle = np.arange(-19.5, 20)
    x, y = (v.ravel() for v in np.meshgrid(middle, middle))
    places = Placements.of(np.column_stack([x, y, np.zeros(len(x))]))
    scene.add(tile, label="grass", placements=places)
    plants = Site.of(scene, BODY).plants
    inner = plants.area[10:70, 10:70]
    assert inner.mean() == pytest.approx(tile.areas.sum(), rel=0.02)
    assert plants.height[10:70, 10:70].max() == pytest.approx(tile.bounds[1, 2], rel=0.05)


def test_what_moves_is_a_box_that_moves():
    scene = meadow()
    motion = Trajectory.through([0.0, 10.0], [Pose.at(-10, 0, 0), Pose.at(10, 0, 0, yaw=np.pi / 2)])
    scene.add(box((4, 2, 1.5)), label="car", motion=motion, position=(0, 0, 0.75))
    movers = Movers.of(scene)
    (start,), (end,) = movers.outlines(0.0), movers.outlines(10.0)
    assert np.ptp(start[:, 0]) == pytest.approx(4.0)
    assert np.ptp(end[:, 0]) == pytest.approx(2.0)
    assert movers.distance(0.0, rectangle(-5, 0, 0, 2, 1)) == pytest.approx(2.0)
    assert movers.distance(0.0, rectangle(-8, 0.5, 0.3, 2, 1)) == 0.0
    assert Movers(()).distance(0.0, rectangle(0, 0, 0, 1, 1)) == np.inf


def test_a_car_that_crosses_is_run_into():
    scene = meadow()
    motion = Trajectory.through([0.0, 20.0], [Pose.at(5, -15, 0), Pose.at(5, 15, 0)])
    scene.add(box((2, 4, 1.5)), label="car", motion=motion, position=(0, 0, 0.75))
    body = VehicleBody(load_vehicle("skid-steer"), Site.of(scene, BODY), 0.0, 0.0, 0.0)
    for _ in range(120):
        body.drive(0.45, 0.0, 0.1)
    assert body.collisions >= 1


@pytest.mark.parametrize(("x", "rule"), [(0.0, "free of obstacles"), (19.9, "ground under all wheels")])
def test_a_start_in_a_trunk_or_off_the_ground_is_refused(x, rule):
    scene = meadow()
    scene.add(sphere(0.5), label="rock", position=(0, 0, 0.5))
    with pytest.raises(InputError, match=f"start: must .*{rule}"):
        VehicleBody(load_vehicle("skid-steer"), Site.of(scene, BODY), x, 0.0, 0.0)


def test_a_flat_ground_is_a_plane():
    plane_ = Ground.flat(slope=(0.1, -0.2))
    assert heights_at(plane_, [3.0], [4.0])[0] == pytest.approx(0.3 - 0.8)


def test_a_trail_carries_a_vehicle():
    scene = Scene()
    trail = SURFACES["gravel"].changed(name="trail", label="trail")
    thing = scene.add(ground((40, 4), cells=(20, 2), material=trail), label="terrain")
    assert faces_of(thing).ground.all()
    assert not np.isnan(heights_at(ground_of(scene), [5.0], [0.5])).any()
