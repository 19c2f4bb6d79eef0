"""The patterns without a turning head: range image, fixed grid, prisms."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.patterns.image import ImagePattern
from tussock.sensors.patterns.risley import RisleyPattern

IMAGE = {"columns": 4, "rows": 2, "horizontal_fov_deg": 90.0, "vertical_fov_deg": 60.0, "frame_hz": 10.0}
GRID = {"azimuth_deg": [10.0, 0.0, -10.0], "elevation_deg": [5.0, -5.0], "pulse_hz": 100.0, "frame_hz": 10.0}
PRISMS = {
    "prism_rpm": [7294.0, -4664.0],
    "wedge_deg": [18.0, 18.0],
    "refractive_index": 1.51,
    "pulse_hz": 100_000.0,
    "frame_hz": 10.0,
}


def test_image_pixels_lie_evenly_on_the_plane_ahead() -> None:
    pulses = ImagePattern(**IMAGE).pulses(3)
    on_plane = pulses.directions / pulses.directions[:, :1]
    height = np.tan(np.pi / 6)
    columns, rows = np.array([0.75, 0.25, -0.25, -0.75]), np.array([0.5, -0.5]) * height
    np.testing.assert_allclose(on_plane[:, 1], np.tile(columns, 2), atol=1e-6)
    np.testing.assert_allclose(on_plane[:, 2], np.repeat(rows, 4), atol=1e-6)
    assert not pulses.offsets.any()
    assert ImagePattern(**IMAGE).frame_period == 0.1


def test_grid_fires_in_the_order_asked() -> None:
    rows = GridPattern(**GRID).pulses(0)
    assert rows.lasers.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(np.rad2deg(rows.azimuths), [10, 0, -10] * 2, atol=1e-5)
    np.testing.assert_allclose(np.rad2deg(rows.elevations), [5] * 3 + [-5] * 3, atol=1e-5)
    np.testing.assert_allclose(rows.offsets, np.arange(6) / 100)
    columns = GridPattern(**(GRID | {"order": "columns"})).pulses(0)
    assert columns.lasers.tolist() == [0, 1] * 3
    np.testing.assert_allclose(np.rad2deg(columns.azimuths), [10, 10, 0, 0, -10, -10], atol=1e-5)
    assert not GridPattern(**(GRID | {"pulse_hz": None})).pulses(0).offsets.any()


def test_prism_frames_are_cuts_of_one_stream() -> None:
    """Ten frames of 0.1 s hold the pulses of one frame of 1 s."""
    short, long = RisleyPattern(**PRISMS), RisleyPattern(**(PRISMS | {"frame_hz": 1.0}))
    parts = [short.pulses(frame) for frame in range(20, 30)]
    whole = long.pulses(2)
    np.testing.assert_allclose(np.concatenate([part.directions for part in parts]), whole.directions, atol=1e-6)
    times = np.concatenate([part.offsets + 0.1 * at for at, part in enumerate(parts)])
    np.testing.assert_allclose(times, whole.offsets, atol=1e-9)


def test_the_rosette_does_not_repeat_but_starts_anew_exactly() -> None:
    pattern = RisleyPattern(**PRISMS)
    first, second = pattern.pulses(0).directions, pattern.pulses(1).directions
    assert np.abs(first - second).max() > 0.05
    # 7294 and 4664 rpm share a period of 30 s, at any distance from the start.
    np.testing.assert_array_equal(first, pattern.pulses(300).directions)
    np.testing.assert_array_equal(second, pattern.pulses(300 * 10**9 + 1).directions)


@pytest.mark.parametrize(
    ("model", "given", "changes", "message"),
    [
        (ImagePattern, IMAGE, {"rows": 0}, "rows"),
        (ImagePattern, IMAGE, {"horizontal_fov_deg": 180.0}, "horizontal_fov_deg"),
        (GridPattern, GRID, {"pulse_hz": 10.0}, "too slow for 6 pulses"),
        (GridPattern, GRID, {"azimuth_deg": []}, "azimuth_deg"),
        (GridPattern, GRID, {"elevation_deg": [95.0]}, "within -90 and 90"),
        (RisleyPattern, PRISMS, {"refractive_index": 0.9}, "refractive_index"),
        (RisleyPattern, PRISMS, {"prism_rpm": [1.0]}, "prism_rpm"),
        (RisleyPattern, PRISMS, {"wedge_deg": [45.0, 45.0]}, "reflected inside a prism"),
        (RisleyPattern, PRISMS, {"frame_hz": 1e6}, "pulse_hz must not be below frame_hz"),
    ],
)
def test_mistakes_are_named(model: type, given: dict, changes: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model(**(given | changes))
