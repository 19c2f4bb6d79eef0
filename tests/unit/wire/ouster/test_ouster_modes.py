"""The modes that an Ouster has: columns a revolution and revolutions a second."""

from __future__ import annotations

import pytest

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.ouster.models import unit_of

MODES = [(512, 10), (512, 20), (1024, 10), (1024, 20), (2048, 10), (4096, 5)]


@pytest.mark.parametrize(("columns", "rate"), MODES)
def test_a_mode_is_known(columns: int, rate: int) -> None:
    sensor = load_sensor("os1-64").with_(**{"pattern.steps": columns, "pattern.rotation_hz": rate})
    assert unit_of(sensor)


@pytest.mark.parametrize(("columns", "rate"), [(1024, 19), (512, 5), (4096, 10), (2048, 20)])
def test_another_is_refused(columns: int, rate: int) -> None:
    sensor = load_sensor("os1-64").with_(**{"pattern.steps": columns, "pattern.rotation_hz": rate})
    with pytest.raises(InputError, match="512 at 10 Hz"):
        unit_of(sensor)
