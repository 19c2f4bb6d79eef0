"""GPS fixes as NMEA 0183 sentences, as receivers send them: $GPGGA with place and height, $GPRMC with speed and course.

Programs differ in which of the two they take a place from (ROS's `nmea_navsat_driver` reads GGA unless it is told
otherwise, and the speed from RMC), so every fix gives both. No satellites are simulated: their number and the dilution of
precision are stand-ins, and heights are the scene's own, with the geoid at the ellipsoid.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import atan2, degrees, hypot

import numpy as np

from tussock.wire.nmea import KNOT, angle_fields, sentence
from tussock.wire.packets import EPOCH
from tussock.wire.velodyne.position import GeoOrigin

__all__ = ["gga", "rmc"]

_SATELLITES, _DILUTION = 12, 1.0


def gga(time: float, place: np.ndarray, quality: int, origin: GeoOrigin, *, epoch: float = EPOCH) -> bytes:
    """The $GPGGA sentence of a fix: place (x, y, z) [m], x east and y north; ``quality`` as `tussock.drive.sensing.gps`."""
    return sentence([
        "GPGGA", _clock(epoch + time), *_angles(place, origin), f"{quality}", f"{_SATELLITES:02d}", f"{_DILUTION:.1f}",
        f"{float(place[2]):.3f}", "M", "0.0", "M", "", "",
    ])  # fmt: skip


def rmc(time: float, place: np.ndarray, velocity: np.ndarray, origin: GeoOrigin, *, epoch: float = EPOCH) -> bytes:
    """The $GPRMC sentence of a fix: place (x, y, z) [m] and velocity (2,) [m/s]; x is east, y is north."""
    east, north = float(velocity[0]), float(velocity[1])
    course = degrees(atan2(east, north)) % 360
    return sentence([
        "GPRMC", _clock(epoch + time), "A", *_angles(place, origin), f"{hypot(east, north) / KNOT:.2f}",
        f"{course:.1f}", f"{_utc(epoch + time):%d%m%y}", "", "", "A",
    ])  # fmt: skip


def _utc(unix: float) -> datetime:
    return datetime.fromtimestamp(unix + 1e-6, UTC)


def _clock(unix: float) -> str:
    utc = _utc(unix)
    return f"{utc:%H%M%S}.{utc.microsecond // 10000:02d}"


def _angles(place: np.ndarray, origin: GeoOrigin) -> list[str]:
    return angle_fields(*origin.geographic(float(place[0]), float(place[1])), decimals=6)
