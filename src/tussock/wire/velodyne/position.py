"""Position packets: 512 bytes with the time, the state of the clock and a GPS sentence.

    0    reserved (the HDL-32E's inertial readings, which are not simulated)
    198  microseconds past the hour, u32
    202  2: locked to the pulse per second
    206  ``$GPRMC`` sentence, ended by CR LF, zeros behind it

The sentence tells where the simulated sensor is: its x and y are taken as metres east and north of ``origin`` on
a sphere of the earth's mean curvature there (GRS 80), good to a few centimetres within some kilometres.

They come on a clock of their own. The manuals speak of about one for 14 data packets; recorded VLP-16 send 141 to 146 a
second, which is one for five.

Source: VLP-16 manual 63-9243, table 9-3 and section 9.3.3; rates of VLP-16 counted in recordings.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import cos, degrees, hypot, isfinite, radians, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.poses import Trajectory
from tussock.wire.nmea import KNOT, angle_fields, sentence
from tussock.wire.velodyne.models import PacketModel

__all__ = ["POSITION_BYTES", "POSITION_PORT", "GeoOrigin", "gprmc", "position_packets", "position_period"]

POSITION_BYTES, POSITION_PORT = 512, 8308
_DATA_PER_POSITION = 14
_RECORDED_HZ = {"vlp-16": 143.5, "puck-hi-res": 143.5}
_STAMP, _PPS, _SENTENCE = 198, 202, 206
_LOCKED = 2
_EQUATOR, _FLATTENING = 6378137.0, 1 / 298.257222101
_FAR = 100e3  # [m] beyond which no tangent plane is any good


@dataclass(frozen=True)
class GeoOrigin:
    """Where on the earth a place of the scene is: its origin, if no other is named."""

    latitude_deg: float = 48.0
    longitude_deg: float = 11.0
    x_m: float = 0.0
    y_m: float = 0.0
    """the place in the scene's coordinates"""

    def __post_init__(self) -> None:
        if not (-89.0 <= self.latitude_deg <= 89.0 and -180.0 <= self.longitude_deg <= 180.0):
            given = (self.latitude_deg, self.longitude_deg)
            raise InputError.of("origin", "must be a latitude within ±89° and a longitude within ±180°", given)
        if not (isfinite(self.x_m) and isfinite(self.y_m)):
            raise InputError.of("origin", "must have a finite place x,y [m]", (self.x_m, self.y_m))

    @classmethod
    def parse(cls, text: str) -> GeoOrigin:
        """Read ``latitude,longitude`` [deg] of the scene's origin, or ``latitude,longitude,x,y`` of another place [m]."""
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4):
            raise InputError.of(
                "origin", "must be latitude,longitude [deg], with x,y [m] of another place than the scene's origin", text,
                "for example 48.1,11.6",
            )  # fmt: skip
        return cls(*numbers)

    @classmethod
    def near(cls, x: float, y: float) -> GeoOrigin:
        """The usual place on earth: of the scene's origin, or of (x, y) [m] where a national grid puts the scene far away."""
        return cls(x_m=x, y_m=y) if hypot(x, y) > _FAR else cls()

    def geographic(self, east: float, north: float) -> tuple[float, float]:
        """Latitude and longitude [deg] of a place (x east, y north) [m] of the scene."""
        east, north = east - self.x_m, north - self.y_m
        latitude = radians(self.latitude_deg)
        squared = _FLATTENING * (2 - _FLATTENING)
        w = sqrt(1 - squared * sin(latitude) ** 2)
        along_meridian, across = _EQUATOR * (1 - squared) / w**3, _EQUATOR / w
        longitude = self.longitude_deg + degrees(east / (across * cos(latitude)))
        return self.latitude_deg + degrees(north / along_meridian), (longitude + 180) % 360 - 180


def position_period(model: PacketModel, cycle: float) -> float:
    """[s] from one position packet to the next of a sensor whose lasers fire every ``cycle`` [s], in any return mode."""
    if model.name in _RECORDED_HZ:
        return 1 / _RECORDED_HZ[model.name]
    return _DATA_PER_POSITION * model.cycles * cycle


def position_packets(
    times: NDArray[np.float64], path: Trajectory, *, epoch: float, origin: GeoOrigin | None = None
) -> NDArray[np.uint8]:
    """Position packets assembled at simulation ``times`` [s] (n,) of a sensor on ``path``; shape (n, 512)."""
    packets = np.zeros((len(times), POSITION_BYTES), np.uint8)
    stamps = np.floor((epoch % 3600 + times) * 1e6 + 0.5).astype(np.int64) % 3_600_000_000
    packets[:, _STAMP : _STAMP + 4] = stamps.astype("<u4").view(np.uint8).reshape(-1, 4)
    packets[:, _PPS] = _LOCKED
    for packet, time in zip(packets, times, strict=True):
        spoken = gprmc(float(time), path, epoch=epoch, origin=origin or GeoOrigin())
        packet[_SENTENCE : _SENTENCE + len(spoken)] = np.frombuffer(spoken, np.uint8)
    return packets


def gprmc(time: float, path: Trajectory, *, epoch: float, origin: GeoOrigin) -> bytes:
    """The sentence of the last full second before ``time`` [s], where GPS receivers speak once a second."""
    second = float(np.floor(epoch + time))
    at = second - epoch
    (x, y, _), (back_x, back_y, _), (ahead_x, ahead_y, _) = path.at([at, at - 0.05, at + 0.05])[0]
    east_speed, north_speed = (ahead_x - back_x) / 0.1, (ahead_y - back_y) / 0.1
    speed = hypot(east_speed, north_speed)
    course = degrees(np.arctan2(east_speed, north_speed)) % 360 if speed > 1e-6 else 0.0
    utc = datetime.fromtimestamp(second, UTC)
    return sentence([
        "GPRMC", f"{utc:%H%M%S}", "A", *angle_fields(*origin.geographic(x, y), decimals=5),
        f"{speed / KNOT:05.1f}", f"{course:05.1f}", f"{utc:%d%m%y}", "000.0", "E",
    ])  # fmt: skip
