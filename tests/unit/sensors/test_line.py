from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.sensors.patterns.line import LinePattern


def line(**changes: object) -> LinePattern:
    given = {"first_deg": -50.0, "last_deg": 50.0, "resolution_deg": 0.5, "rotation_hz": 75.0}
    return LinePattern(**(given | changes))


def test_steps_reach_both_ends_in_order() -> None:
    pulses = line().pulses(0)
    np.testing.assert_allclose(np.rad2deg(pulses.azimuths), np.arange(-50, 50.1, 0.5), atol=1e-4)
    np.testing.assert_allclose(pulses.elevations, 0, atol=1e-7)
    # The mirror needs 100° of its 360° for the line.
    np.testing.assert_allclose(pulses.offsets[[0, -1]], [0, 100 / 360 / 75], atol=1e-12)
    assert len(line(first_deg=0.0, last_deg=0.7, resolution_deg=0.1).pulses(0)) == 8


def test_interlaced_scans_interleave_their_steps() -> None:
    pattern = line(interlace=2)
    pulses = pattern.pulses(5)
    azimuths = np.rad2deg(pulses.azimuths)
    np.testing.assert_allclose(azimuths[:101], np.arange(-50, 51), atol=1e-4)
    np.testing.assert_allclose(azimuths[101:], np.arange(-49.5, 50, 1.0), atol=1e-4)
    assert pattern.frame_period == pytest.approx(2 / 75)
    assert pulses.offsets[101] == pytest.approx((1 + 0.5 / 360) / 75)
    assert np.all(np.diff(pulses.offsets) > 0)


def test_clockwise_runs_backwards() -> None:
    there, back = line().pulses(0), line(clockwise=True).pulses(0)
    np.testing.assert_allclose(there.azimuths, back.azimuths[::-1], atol=1e-6)
    np.testing.assert_array_equal(there.offsets, back.offsets)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"last_deg": -50.0}, "above first_deg"),
        ({"first_deg": -200.0, "last_deg": 200.0}, "less than a whole turn"),
        ({"resolution_deg": 0.0}, "resolution_deg"),
        ({"resolution_deg": 90.0, "interlace": 4}, "at least one step"),
        ({"rotation_hz_limits": (10.0, 20.0)}, "within 10 and 20 Hz"),
        ({"emitter_pitch_deg": []}, "emitter_pitch_deg"),
    ],
)
def test_mistakes_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        line(**changes)
