"""GPS fixes as NMEA 0183 sentences, as receivers send them: $GPGGA with place and height, $GPRMC with speed and course.

Programs differ in which of the two they take a place from (ROS's `nmea_navsat_driver` reads GGA unless it is told
otherwise, and the speed from RMC), so every fix gives both. No satellites are simulated: their number and the dilution of
precision are stand-ins, and heights are the scene's own, with the geoid at the ellipsoid.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import atan2, degrees, hypot

import numpy as np

from tussock.wire.packets import EPOCH
from tussock.wire.velodyne.position import GeoOrigin

__all__ = ["gga", "rmc"]

_KNOT = 1852 / 3600  # [m/s]
_SATELLITES, _DILUTION = 12, 1.0


def gga(time: float, place: np.ndarray, quality: int, origin: GeoOrigin, *, epoch: float = EPOCH) -> bytes:
    """The $GPGGA sentence of a fix: place (x, y, z) [m], x east and y north; ``quality`` as `tussock.drive.sensing.gps`."""
    return _sentence([
        "GPGGA", _clock(epoch + time), *_angles(place, origin), f"{quality}", f"{_SATELLITES:02d}", f"{_DILUTION:.1f}",
        f"{float(place[2]):.3f}", "M", "0.0", "M", "", "",
    ])  # fmt: skip


def rmc(time: float, place: np.ndarray, velocity: np.ndarray, origin: GeoOrigin, *, epoch: float = EPOCH) -> bytes:
    """The $GPRMC sentence of a fix: place (x, y, z) [m] and velocity (2,) [m/s]; x is east, y is north."""
    east, north = float(velocity[0]), float(velocity[1])
    course = degrees(atan2(east, north)) % 360
    return _sentence([
        "GPRMC", _clock(epoch + time), "A", *_angles(place, origin), f"{hypot(east, north) / _KNOT:.2f}",
        f"{course:.1f}", f"{_utc(epoch + time):%d%m%y}", "", "", "A",
    ])  # fmt: skip


def _utc(unix: float) -> datetime:
    return datetime.fromtimestamp(unix + 1e-6, UTC)


def _clock(unix: float) -> str:
    utc = _utc(unix)
    return f"{utc:%H%M%S}.{utc.microsecond // 10000:02d}"


def _angles(place: np.ndarray, origin: GeoOrigin) -> tuple[str, str, str, str]:
    """Latitude and longitude of a place [m] in degrees and minutes, each with its letter; six decimals are 2 mm."""
    latitude, longitude = origin.geographic(float(place[0]), float(place[1]))

    def minutes(angle: float, width: int) -> str:
        total = round(abs(angle) * 60, 6)
        return f"{int(total // 60):0{width}d}{total % 60:09.6f}"

    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    return minutes(latitude, 2), north, minutes(longitude, 3), east


def _sentence(fields: list[str]) -> bytes:
    """Fields with ``$`` before them and the checksum behind: all letters between ``$`` and ``*``, by exclusive or."""
    body, checksum = ",".join(fields), 0
    for letter in body.encode():
        checksum ^= letter
    return f"${body}*{checksum:02X}\r\n".encode()
