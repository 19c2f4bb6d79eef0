"""Every named surface has a source, is documented, and can be used by its name in a scene file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tussock.scene.material import Material
from tussock.scene.surfaces import SOURCES, SPECTRA_SOURCES, SURFACES
from tussock.scene_files.scene_file import load_scene

DOCS = Path(__file__).parents[3] / "docs" / "materials.md"


def test_the_materials_that_scenes_need_are_there() -> None:
    wanted = {"soil", "asphalt", "bark", "leaf", "grass", "dry-grass", "concrete", "car-paint", "retro-sheet"}
    assert wanted | {"glass", "mirror"} <= set(SURFACES)
    assert set(SOURCES) == set(SURFACES)
    assert SURFACES["car-paint"].specular > 0
    assert SURFACES["retro-sheet"].retro > 10
    assert SURFACES["mirror"].reflectance == 0
    assert SURFACES["glass"].transmission > 0.5


@pytest.mark.parametrize("name", SURFACES)
def test_a_scene_file_names_a_surface(tmp_path: Path, name: str) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(f'[[objects]]\nbox = {{ size_m = [1, 1, 1] }}\nmaterial = "{name}"\n')
    assert load_scene(path).materials == {name: SURFACES[name]}


def test_a_scene_file_changes_one_number_of_a_surface(tmp_path: Path) -> None:
    path = tmp_path / "wet.toml"
    path.write_text(
        '[materials.asphalt]\nreflectance = 0.05\n[[objects]]\nplane = { size_m = [9, 9] }\nmaterial = "asphalt"\n'
    )
    wet = load_scene(path).materials["asphalt"]
    assert (wet.reflectance, wet.label) == (0.05, "road")


@pytest.mark.parametrize("name", SURFACES)
def test_the_documentation_has_the_same_numbers(name: str) -> None:
    _, table = DOCS.read_text(encoding="utf-8").split("## Surfaces")
    row = next(line for line in table.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in row.split("|")[2:7]]
    surface = SURFACES[name]
    given = (surface.reflectance, surface.specular, surface.retro, surface.mirror, surface.transmission)
    assert tuple(float(cell or 0) for cell in cells) == given


def test_leaves_are_darker_where_water_absorbs_and_soil_is_brighter() -> None:
    for name in ("grass", "leaf", "needle"):
        leaf = SURFACES[name]
        assert leaf.at(905.0) is leaf
        assert 0.9 < leaf.at(1064.0).reflectance / leaf.reflectance <= 1.0
        assert 0.4 < leaf.at(1550.0).reflectance / leaf.reflectance < 0.6
        assert 0 < leaf.at(1550.0).leaf_transmission < leaf.leaf_transmission
    assert SURFACES["soil"].at(1550.0).reflectance > 1.2 * SURFACES["soil"].reflectance
    assert SURFACES["marking"].at(1550.0) is SURFACES["marking"], "grey"
    assert {name for name, surface in SURFACES.items() if surface.spectrum} == set(SPECTRA_SOURCES)


def test_factors_are_interpolated_and_never_pass_all_of_the_light() -> None:
    bright = Material(reflectance=0.8, specular=0.1, spectrum=[{"wavelength_nm": 1105.0, "reflectance": 3.0}])
    assert bright.at(1000.0).reflectance == pytest.approx(0.9), "what the lobe leaves"
    half = Material(reflectance=0.8, spectrum=[{"wavelength_nm": 1105.0, "reflectance": 0.5}])
    assert half.at(1005.0).reflectance == pytest.approx(0.6)
    assert half.at(2000.0).reflectance == pytest.approx(0.4)
    assert half.at(500.0).reflectance == pytest.approx(0.8)
    wet = SURFACES["soil"].changed(reflectance=0.1)
    assert wet.at(1550.0).reflectance == pytest.approx(0.14), "it keeps its shape over the wavelengths"


@pytest.mark.parametrize("name", SPECTRA_SOURCES)
def test_the_documentation_has_the_same_spectra(name: str) -> None:
    _, table = DOCS.read_text(encoding="utf-8").split("## Other wavelengths")
    row = next(line for line in table.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in row.split("|")[2:8]]
    seen = [SURFACES[name].at(wavelength) for wavelength in (905.0, 1064.0, 1550.0)]
    given = [s.reflectance for s in seen] + [s.leaf_transmission for s in seen]
    assert [float(cell or 0) for cell in cells] == pytest.approx(given, abs=0.0051)
