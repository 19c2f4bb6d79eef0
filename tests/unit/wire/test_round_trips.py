"""The round trip of every model and mode but Velodyne's, which have their own; `round_trips` does as many as it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from round_trips import cases, check_round_trip

VELODYNE = ("hdl", "vlp", "vls", "puck")


@pytest.mark.parametrize("case", [case for case in cases() if not case[0].startswith(VELODYNE)], ids="-".join)
def test_every_pulse_comes_back(case: tuple[str, str, str], tmp_path: Path) -> None:
    assert check_round_trip(tmp_path / "run.pcap", *case, seed=0) > 0
