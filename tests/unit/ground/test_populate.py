"""Populate: as many as asked for, where they are allowed, apart, on the ground."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from tussock.errors import InputError
from tussock.ground.populate import populate
from tussock.ground.terrain import noise_terrain
from tussock.ground.zones import Circle, Polygon, Strip
from tussock.scene_files.scene_file import load_scene

FIELD = noise_terrain((60.0, 40.0), height=2.0, wavelength=25.0, seed=1)
SIZE = (60.0, 40.0)


def places(**options):
    return populate(FIELD, SIZE, **{"density": 1.0, **options}).matrices[:, :, 3]


def test_count_place_and_height_are_right():
    xyz = places(density=2.5, seed=3)
    assert len(xyz) == 6000
    np.testing.assert_allclose(xyz[:, 2], FIELD(xyz[:, 0], xyz[:, 1]))
    assert (np.abs(xyz[:, :2]) <= [30, 20]).all()
    counts = np.histogram2d(xyz[:, 0], xyz[:, 1], bins=(6, 4))[0]
    assert counts.min() > 190 and counts.max() < 310


def test_spacing_holds_and_the_ground_fills_up():
    xyz = places(density=0.3, spacing=1.2)
    assert len(xyz) == 720
    assert cKDTree(xyz[:, :2]).query(xyz[:, :2], k=2)[0][:, 1].min() >= 1.2
    full = places(density=50, spacing=1.0)
    assert 0.6 * 2400 < len(full) < 0.85 * 2400
    assert cKDTree(full[:, :2]).query(full[:, :2], k=2)[0][:, 1].min() >= 1.0


def test_zones_slope_and_map_keep_their_share():
    trail = Strip(line_m=[(-30, 0), (0, 5), (30, 0)], width_m=6)
    hole, field = Circle(centre_m=(10, 10), radius_m=4), Polygon(corners_m=[(-20, -15), (20, -15), (20, 15), (-20, 15)])
    xyz = places(density=4, exclude=[trail, hole], only=[field])
    assert not trail.covers(xyz[:, 0], xyz[:, 1]).any()
    assert np.hypot(xyz[:, 0] - 10, xyz[:, 1] - 10).min() > 4
    assert (np.abs(xyz[:, :2]) <= [20, 15]).all()
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-30, 30, 400_000), rng.uniform(-20, 20, 400_000)
    free = field.covers(x, y) & ~trail.covers(x, y) & ~hole.covers(x, y)
    assert len(xyz) == pytest.approx(4 * 2400 * free.mean(), rel=0.02)

    gentle = places(density=4, slope=(0.0, 0.2))
    assert np.arctan(np.hypot(*FIELD.slope(gentle[:, 0], gentle[:, 1]))).max() <= 0.2
    halves = places(density=4, density_map=np.array([[1.0, 1.0], [0.25, 0.25]]))
    left, right = (halves[:, 0] < 0).sum(), (halves[:, 0] > 0).sum()
    assert left == pytest.approx(4800, rel=0.02) and right == pytest.approx(1200, rel=0.1)


def test_turns_scales_and_tilt():
    matrices = populate(FIELD, SIZE, density=1, scale=(0.5, 2.0), tilt=1.0, seed=2).matrices
    sizes = np.linalg.norm(matrices[:, :, :3], axis=1)
    np.testing.assert_allclose(sizes, sizes[:, :1] * np.ones(3))
    assert 0.5 <= sizes.min() < 0.55 and 1.9 < sizes.max() <= 2.0
    x, y = matrices[:, 0, 3], matrices[:, 1, 3]
    along_x, along_y = FIELD.slope(x, y)
    normal = np.stack([-along_x, -along_y, np.ones_like(x)], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    np.testing.assert_allclose(matrices[:, :, 2] / sizes[:, :1], normal, atol=1e-9)
    upright = populate(FIELD, SIZE, density=1, turn=False).matrices
    np.testing.assert_array_equal(upright[:, :, :3], np.broadcast_to(np.eye(3), (2400, 3, 3)))


def test_same_seed_same_places():
    np.testing.assert_array_equal(places(seed=5, spacing=0.5), places(seed=5, spacing=0.5))
    assert not np.array_equal(places(seed=5), places(seed=6))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"density": -1}, "populate density: must be above 0, got -1"),
        ({"density": 1e9}, "at most 50,000,000 copies"),
        ({"spacing": -1}, "populate spacing"),
        ({"slope": (0.5, 0.2)}, "populate slope"),
        ({"scale": (0.0, 1.0)}, "populate scale: must be above 0"),
        ({"density_map": np.array([[2.0]])}, "shares from 0 to 1"),
        ({"exclude": [Circle(centre_m=(0, 0), radius_m=100)]}, "must leave room"),
    ],
)
def test_mistakes(options, said):
    with pytest.raises(InputError, match=said):
        places(**options)


SCENE = """
[[objects]]
name = "hills"
label = "terrain"
position_m = [100, 0, 5]
[objects.terrain]
size_m = [40, 30]
noise = {height_m = 1.5, wavelength_m = 20, seed = 2}
material = "litter"
slopes = [{above_deg = 25, material = "rock"}]

[[objects]]
name = "bushes"
grow = {kind = "shrub", triangles = 4000}
[objects.populate]
on = "hills"
density_per_m2 = 0.2
spacing_m = 1
exclude = [{centre_m = [100, 0], radius_m = 5}]

[[objects]]
name = "reeds"
grow = {kind = "reeds", size_m = [2, 2], density_per_m2 = 30, diameter_m = 0.01, leaves = 0, plumes = 0}
position_m = [100, 0, 5]

[[objects]]
name = "firs"
grow = {kind = "conifer", triangles = 8000}
[objects.populate]
on = "hills"
density_per_m2 = 0.01
"""


def test_scene_files_know_terrain_and_populate(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(SCENE)
    scene = load_scene(file)
    spots = scene["bushes"].placements.matrices[:, :, 3]
    assert 180 < len(spots) <= 240
    assert np.hypot(spots[:, 0] - 100, spots[:, 1]).min() > 5
    ground = scene["hills"].mesh
    near = cKDTree(ground.vertices[:, :2] + [100, 0]).query(spots[:, :2])[1]
    assert np.abs(ground.vertices[near, 2] + 5 - spots[:, 2]).max() < 1.0
    assert len(scene["reeds"].mesh.vertices) == 120 * 2 * 16
    assert len(scene["firs"].placements) == 12


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("density_per_m2 = 0.2", "density_per_m2 = -0.2", r"objects.1 \(bushes\): populate density: must be above 0"),
        ('on = "hills"', 'on = "hill"', "no earlier terrain or ground of that name; did you mean 'hills'"),
        ("noise = {", "nois = {", "did you mean 'noise'"),
        ("radius_m = 5}", "radios_m = 5}", "exclude"),
        ("size_m = [40, 30]\n", "", "size_m goes with noise"),
        ("[objects.populate]", "position_m = [0, 0, 0]\n[objects.populate]", "give either populate or position_m"),
    ],
)
def test_mistakes_in_scene_files(tmp_path, old, new, said):
    file = tmp_path / "s.toml"
    file.write_text(SCENE.replace(old, new, 1))
    with pytest.raises(InputError, match=said) as error:
        load_scene(file)
    assert str(error.value).startswith(str(file)) and "\n" not in str(error.value)
