"""A furnished workshop, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from workshop import furnish


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of every kind; copy it before you change it."""
    return furnish(tmp_path_factory.mktemp("workshop") / "it")


@pytest.fixture
def workshop_copy(furnished: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(furnished, tmp_path / "it"))
