"""Every named surface has a source, is documented, and can be used by its name in a scene file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tussock.scene.surfaces import SOURCES, SURFACES
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
