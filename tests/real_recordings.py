"""The one way by which tests reach other people's recordings; without them a test is skipped and says what it wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from tussock.validate.recordings import absent, recording

__all__ = ["recorded"]


def recorded(name: str) -> Path:
    """The recording of that name (``velodyne/hdl32e_moving.pcap``), or the test is skipped."""
    path = recording(name)
    if path is None:
        pytest.skip(absent(name))
    return path
