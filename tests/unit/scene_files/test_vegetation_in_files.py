"""Tagged responses and learned volumes in scene files: there and back, and each mistake in one line."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.pack import load_pack, save_pack
from tussock.poses import Pose
from tussock.scene.fingerprint import fingerprint
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.scene_files.volume_file import save_volumes
from tussock.simulate import scan


@pytest.fixture(scope="module")
def volumes():
    """A small cloud of volumes about (0, 0, 1)."""
    rng = np.random.Generator(np.random.Philox(1))
    points = rng.normal(size=(3000, 3)) * 0.3 + [5, 0, 0]
    pulses = MeasuredPulses.of(np.zeros(3), points, np.linalg.norm(points, axis=1))
    return fit_volumes(pulses, voxel=0.15)


@pytest.fixture
def written(tmp_path, volumes):
    """Writes a scene file beside a file of volumes."""
    save_volumes(volumes, tmp_path / "bush.volumes")

    def write(text: str):
        path = tmp_path / "scene.toml"
        path.write_text(text)
        return path

    return write


def mixed(volumes) -> Scene:
    """Meshes, tagged shapes and volumes, in no order of their own."""
    scene = Scene("mixed")
    scene.add_volumes(volumes, name="bush", position=(1, 2, 0), yaw=0.3)
    scene.add(
        sphere(0.5, material=Material(name="ivy", response=VegetationResponse(sigma_m=0.2))), name="ivy",
        position=(-4, -2, 0),
    )  # fmt: skip
    places = Placements.of(np.array([[0, 5, 0], [0, -5, 0.5]], float), yaw=np.array([0, 1.25]))
    scene.add_volumes(volumes, name="bushes", label="shrub", tags=["wet"], placements=places)
    scene.add(
        box((1, 1, 1)), name="hedge", position=(-4, 1, 0), tags=["vegetation"],
        response=VegetationResponse(mean_m=0.1, sigma_m=0.4),
    )  # fmt: skip
    return scene


def test_what_is_written_comes_back_bit_for_bit(tmp_path, volumes, plain_sensor) -> None:
    scene = mixed(volumes)
    save_scene(scene, tmp_path / "one.toml")
    back = load_scene(tmp_path / "one.toml")
    assert fingerprint(back) == fingerprint(scene)
    assert [(thing.id, thing.name, thing.label, thing.tags) for thing in back.everything] == [
        (thing.id, thing.name, thing.label, thing.tags) for thing in scene.everything
    ]
    assert back["hedge"].response == VegetationResponse(mean_m=0.1, sigma_m=0.4)
    assert back["ivy"].mesh.materials[0].response == VegetationResponse(sigma_m=0.2)
    assert back.volumes[0].volumes is back.volumes[1].volumes
    assert len(list((tmp_path / "one").glob("*.volumes"))) == 1
    one, two = (scan(which, plain_sensor(), Pose(), seed=1) for which in (scene, back))
    assert one.identical(two)
    assert set(np.unique(one.object_id)) == {1, 2, 3, 4}


def test_a_pack_carries_them_too(tmp_path, volumes) -> None:
    scene = mixed(volumes)
    save_pack(scene, tmp_path / "one.tussock")
    assert fingerprint(load_pack(tmp_path / "one.tussock").scene) == fingerprint(scene)


def test_volumes_alone_are_a_scene(tmp_path, volumes, plain_sensor) -> None:
    scene = Scene("alone")
    scene.add_volumes(volumes, name="bush")
    save_scene(scene, tmp_path / "alone.toml")
    assert len(scan(load_scene(tmp_path / "alone.toml"), plain_sensor(), Pose())) > 50


def test_the_fingerprint_sees_responses_and_volumes(volumes) -> None:
    plain = fingerprint(mixed(volumes))
    other = mixed(volumes)
    other.objects[1] = other.add(box((1, 1, 1)), name="x", response=VegetationResponse(sigma_m=0.5))
    moved = mixed(volumes)
    moved.add_volumes(volumes, name="more")
    assert len({plain, fingerprint(other), fingerprint(moved)}) == 3


def test_keys_of_a_file(written) -> None:
    scene = load_scene(
        written(
            """
            [materials.moss]
            reflectance = 0.2
            response = {sigma_m = 0.05}
            [[objects]]
            name = "bush"
            volumes = "bush.volumes"
            position_m = [1, 2, 0]
            rotation_deg = [0, 0, 90]
            [[objects]]
            name = "more"
            volumes = "bush.volumes"
            label = "shrub"
            placements = {positions_m = [[3, 0, 0], [6, 0, 0]], yaw_deg = [0, 45]}
            [[objects]]
            name = "hedge"
            tags = ["vegetation"]
            box = {size_m = [4, 1, 1]}
            [[objects]]
            name = "rock"
            sphere = {radius_m = 1}
            material = "moss"
            [[objects]]
            name = "ivy"
            plane = {size_m = [1, 1]}
            response = {mean_m = 0.05, sigma_m = 0.1}
            """
        )
    )
    bush, more = scene.volumes
    assert (bush.label, more.label) == ("vegetation", "shrub")
    assert bush.volumes is more.volumes and len(more.placements) == 2
    assert scene["hedge"].response is None and scene["hedge"].tags == {"vegetation"}
    assert scene["rock"].mesh.materials[0].response == VegetationResponse(sigma_m=0.05)
    assert scene["ivy"].response == VegetationResponse(mean_m=0.05, sigma_m=0.1)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('volumes = "gone.volumes"', ["objects.0", "gone.volumes", "no such file of volumes"]),
        ('volumes = "scene.toml"', ["scene.toml", "suffix: must be .volumes"]),
        ('volumes = "bush.volumes"\nscale = 2.0', ["scale", "volumes"]),
        ('volumes = "bush.volumes"\nmaterial = "soil"', ["material", "volumes"]),
        ('volumes = "bush.volumes"\nresponse = {}', ["response", "volumes"]),
        ('volumes = "bush.volumes"\nmotion = {file = "x.tum"}', ["motion", "volumes"]),
        ('volumes = "bush.volumes"\nmesh = "x.ply"', ["exactly one of", "mesh and volumes"]),
        ('volumes = "bush.volumes"\nplacements = {positions_m = [[0, 0, 0]], scale = 2}', ["scale 1", "placement 0"]),
        ('volume = "bush.volumes"', ["volume", "unknown key", "did you mean 'volumes'"]),
        ("box = {size_m = [1, 1, 1]}\nresponse = {sigma_m = -1}", ["response.sigma_m", "-1"]),
        ("box = {size_m = [1, 1, 1]}\nresponse = {sigma = 1}", ["response.sigma", "did you mean 'sigma_m'"]),
        ("box = {size_m = [1, 1, 1]}\nresponse = 1.0", ["response"]),
    ],
)
def test_a_mistake_is_one_line(written, table: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        load_scene(written(f"[[objects]]\n{table}\n"))
    text = str(caught.value)
    assert "\n" not in text
    for word in words:
        assert word in text, text
