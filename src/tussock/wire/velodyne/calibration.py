"""Where each laser of a Velodyne looks and starts from, and how its distances are corrected.

Models with fixed optics have the angles of the catalogue, and the heights at which their beams meet the axis (VLP-16 manual
63-9243, table 9-1: "vertical correction"; the others' are those that open decoders use: lasers that cross f ahead of the
axis, so that the line of a beam meets it f·tan(−ε) above the origin).

Every HDL-64E is calibrated on its own. It sends its calibration in its status bytes (`tussock.wire.velodyne.status64`);
where a capture is too short to hold it, that of the simulated unit is used if all that was sent agrees with it, and
otherwise one of another unit of the model, which comes with velodyne-decoder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.extras import load_extra
from tussock.sensors.patterns.pattern import per_laser
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor

__all__ = ["Calibration", "bundled_calibration", "catalogue_calibration"]

_FOCAL_32_M = 0.0424
_BUNDLED = {
    "hdl-64e-s1": "HDL-64E_S1-utexas.yml",
    "hdl-64e-s2": "HDL-64E_S2.1-sztaki.yml",
    "hdl-64e-s3": "HDL-64E_S3-VeloView.yml",
    "vlp-32a": "VLP-32A.yml",
    "vlp-32b": "VLP-32B.yml",
}


@dataclass(frozen=True, eq=False)
class Calibration:
    """One value a laser, each of shape (lasers,)."""

    elevation: NDArray[np.float64]
    """[rad]"""
    azimuth: NDArray[np.float64]
    """[rad] to the left of where the head looks"""
    vertical_offset: NDArray[np.float64]
    """[m] at right angles to the beam, upwards for a level one"""
    horizontal_offset: NDArray[np.float64]
    """[m] to the left"""
    height: NDArray[np.float64]
    """[m] of the origin above the sensor's"""
    distance: NDArray[np.float64]
    """[m] to be added to a measured distance"""
    distance_x: NDArray[np.float64]
    """[m] the same for near targets aside; equal to ``distance`` where none is known"""
    distance_y: NDArray[np.float64]
    """[m] the same for near targets ahead"""

    @property
    def rings(self) -> NDArray[np.uint16]:
        """Rank of each laser by elevation, from the lowest up, shape (lasers,)."""
        return np.argsort(np.argsort(self.elevation, kind="stable"), kind="stable").astype(np.uint16)


def catalogue_calibration(sensor: Sensor) -> Calibration:
    """The angles and offsets of a sensor of the catalogue, or of one's own."""
    pattern = sensor.pattern
    assert isinstance(pattern, SpinningPattern)
    count = pattern.lasers
    elevation = np.deg2rad(pattern.elevation_deg)
    none = np.zeros(count)
    return Calibration(
        elevation=elevation,
        azimuth=np.deg2rad(per_laser(pattern.azimuth_deg, count, "azimuth_deg")),
        vertical_offset=np.array(per_laser(pattern.vertical_offset_m, count, "vertical_offset_m")),
        horizontal_offset=np.array(per_laser(pattern.horizontal_offset_m, count, "horizontal_offset_m")),
        height=np.array(per_laser(pattern.axis_height_m, count, "axis_height_m")),
        distance=none,
        distance_x=none,
        distance_y=none,
    )


def bundled_calibration(name: str) -> Calibration:
    """The calibration of another unit of the model, from velodyne-decoder's files."""
    decoder = load_extra("velodyne_decoder", extra="capture", purpose=f"a calibration of {name}")
    import yaml  # comes with the decoder

    lasers = yaml.safe_load(decoder.get_bundled_calibration(_BUNDLED[name]).to_string())["lasers"]
    rows = sorted(lasers, key=lambda laser: laser["laser_id"])
    elevation = np.array([laser["vert_correction"] for laser in rows])

    def column(key: str) -> NDArray[np.float64]:
        return np.array([laser.get(key, 0.0) for laser in rows], np.float64)

    distance = column("dist_correction")
    two_points = all("dist_correction_x" in laser and "dist_correction_y" in laser for laser in rows)
    return Calibration(
        elevation=elevation,
        azimuth=column("rot_correction"),
        vertical_offset=column("vert_offset_correction"),
        horizontal_offset=column("horiz_offset_correction"),
        height=_FOCAL_32_M * np.tan(-elevation) if name.startswith("vlp-32") else np.zeros(len(rows)),
        distance=distance,
        distance_x=column("dist_correction_x") if two_points else distance,
        distance_y=column("dist_correction_y") if two_points else distance,
    )
