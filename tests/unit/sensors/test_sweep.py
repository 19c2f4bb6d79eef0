"""Patterns that do not repeat: where they look, and that any cut gives the same pulses."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.risley import RisleyPattern
from tussock.sensors.patterns.sweep import SweepPattern

TURNING = {
    "azimuth_deg": [0, 360], "azimuth_hz": 97.3, "elevation_deg": [-7, 52], "elevation_hz": 8.61,
    "emitter_pitch_deg": [-3, -1, 1, 3], "pulse_hz": 200_000, "frame_hz": 10,
}  # fmt: skip


@pytest.mark.parametrize("frame", [0, 1, 3_000_001])
def test_closed_form(frame: int) -> None:
    pattern = SweepPattern(**TURNING)
    pulses = pattern.pulses(frame)
    assert len(pulses) == 20_000
    number = frame * 20_000 + np.arange(20_000)
    np.testing.assert_array_equal(pulses.lasers, number % 4)
    # Whole turns taken off in whole numbers: 97.3 Hz are 973 turns in 2,000,000 pulses, 8.61 Hz 861 in 20,000,000.
    azimuth = 2 * np.pi * ((number * 973) % 2_000_000) / 2_000_000
    swing = 2 * np.pi * ((number * 861) % 20_000_000) / 20_000_000
    np.testing.assert_allclose(np.cos(pulses.azimuths - azimuth), 1, atol=1e-6)
    pitch = np.array([-3, -1, 1, 3])[number % 4]
    wanted = (-7 + 52) / 2 + (52 + 7 - 6) / 2 * np.sin(swing) + pitch
    np.testing.assert_allclose(np.rad2deg(pulses.elevations), wanted, atol=1e-4)


def test_swinging_between_limits() -> None:
    pattern = SweepPattern(**(TURNING | {"azimuth_deg": [-40.85, 40.85], "elevation_deg": [-12.55, 12.55]}))
    azimuth, elevation = (
        np.rad2deg(np.concatenate([getattr(pattern.pulses(frame), name) for frame in range(10)]))
        for name in ("azimuths", "elevations")
    )
    assert (azimuth.min(), azimuth.max()) == pytest.approx((-40.85, 40.85), abs=0.01)
    assert (elevation.min(), elevation.max()) == pytest.approx((-12.55, 12.55), abs=0.01)


@pytest.mark.parametrize("name", ["livox-mid-360", "livox-avia", "livox-horizon", "livox-mid-40"])
def test_the_longer_it_looks_the_more_it_sees(name: str) -> None:
    """Cells of half a degree of its field of view: a pattern that repeated would see no more in a second."""
    sensor = load_sensor(name)
    cells = [
        np.unique(np.round(np.stack([sensor.pulses(frame).azimuths, sensor.pulses(frame).elevations]).T * 115), axis=0)
        for frame in range(10)
    ]
    first = len(cells[0])
    whole = len(np.unique(np.concatenate(cells), axis=0))
    assert whole > 1.2 * first


def test_emitters_lean_through_the_prisms() -> None:
    """Without glass a prism does nothing: the beam keeps its pitch."""
    pattern = RisleyPattern(
        prism_rpm=[7000, -4000], wedge_deg=[20, 20], refractive_index=1.0, pulse_hz=1000, frame_hz=10,
        emitter_pitch_deg=[-2, 0, 2],
    )  # fmt: skip
    pulses = pattern.pulses(7)
    np.testing.assert_allclose(
        np.rad2deg(pulses.elevations), np.array([-2, 0, 2])[(700 + np.arange(100)) % 3], atol=1e-5
    )
    assert pattern.lasers == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"azimuth_deg": [10, -10]}, "must rise from the first limit"),
        ({"azimuth_deg": [0, 361]}, "azimuth_deg"),
        ({"elevation_deg": [-7, 91]}, "within -90 and 90"),
        ({"emitter_pitch_deg": [-40, 40]}, "must not be wider than the limits"),
        ({"pulse_hz": 1}, "a frame needs a pulse"),
    ],
)
def test_mistakes_are_one_line(change: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        SweepPattern(**(TURNING | change))
