"""A furnished workshop, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from workshop import furnish, furnish_for_fuzzing


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of every kind; copy it before you change it."""
    return furnish(tmp_path_factory.mktemp("workshop") / "it")


@pytest.fixture(scope="session")
def furnished_for_fuzzing(tmp_path_factory: pytest.TempPathFactory, furnished: Path) -> Path:
    """The same, and small files beside; copy it too."""
    folder = tmp_path_factory.mktemp("fuzzing") / "it"
    shutil.copytree(furnished, folder)
    return furnish_for_fuzzing(folder)


@pytest.fixture
def workshop_copy(furnished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(furnished, tmp_path / "it"))
