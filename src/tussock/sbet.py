"""Trajectories of aeroplanes and survey vehicles: Applanix SBET (``.sbet``, ``.out``), as map coordinates.

A record is 17 little-endian doubles: time [s], latitude and longitude [rad], height [m], three velocities, roll, pitch, platform
heading and wander angle [rad], three accelerations, three turning rates. The body is x ahead, y right, z down, over north,
east, down; true heading = platform heading − wander angle.

Places become UTM coordinates on the WGS 84 ellipsoid, in the zone of the first record: east, north and ellipsoidal height [m], as
tiles of LAS are; headings count from grid north. Transverse Mercator by Krüger's series to the fourth order (Karney 2011,
J. Geodesy 85, 475-485), good to a micrometre within a zone. Times are left as they are: seconds of the GPS week.

Left out: datums other than that of the file, geoids, lever arms: the pose is that of the point the file was made for.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError

__all__ = ["SBET_SUFFIXES", "Sbet", "read_sbet", "utm"]

SBET_SUFFIXES = (".sbet", ".out")
_DOUBLES = 17
_RADIUS, _FLATTENING = 6378137.0, 1 / 298.257223563
_SCALE, _EAST, _SOUTH = 0.9996, 500_000.0, 10_000_000.0
_HIGHEST = 1e6  # [m]
_ENU_OF_NED = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]])
_FRD_OF_FLU = np.diag([1.0, -1, -1])

Floats = NDArray[np.float64]


class Sbet(NamedTuple):
    """A trajectory as `tussock.Trajectory` takes it."""

    times: Floats
    """[s] of the GPS week, shape (n,)"""
    positions: Floats
    """east, north, height [m], shape (n, 3)"""
    quaternions: Floats
    """of a body with x ahead, y left, z up; shape (n, 4)"""


def read_sbet(path: Path) -> Sbet:
    """The poses of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", source=path) from None
    if not data or len(data) % (8 * _DOUBLES):
        raise InputError("its size is no multiple of 136 bytes above 0; it is cut or not an SBET file", source=path)
    rows = np.frombuffer(data, "<f8").reshape(-1, _DOUBLES)
    time, latitude, longitude, height = rows[:, :4].T
    roll, pitch, heading, wander = rows[:, 7:11].T
    angles = np.abs(rows[:, [1, 2, 7, 8, 9, 10]])
    plain = np.isfinite(rows[:, :11]).all() and bool((np.abs(height) < _HIGHEST).all())
    if not plain or (angles[:, 0] > np.pi / 2).any() or (angles[:, 1:] > 2 * np.pi + 1e-6).any():
        raise InputError(
            "holds values that are no latitudes, longitudes and angles [rad]; it is not an SBET file", source=path
        )
    if not (np.diff(time) > 0).all():
        raise InputError("its times do not rise; it is cut, joined or not an SBET file", source=path)
    east, north, convergence = utm(latitude, longitude)
    turns = Rotation.from_euler("ZYX", np.stack([heading - wander - convergence, pitch, roll], 1)).as_matrix()
    quaternions = Rotation.from_matrix(_ENU_OF_NED @ turns @ _FRD_OF_FLU).as_quat()
    return Sbet(time.copy(), np.stack([east, north, height], 1), quaternions)


def utm(latitude: Floats, longitude: Floats) -> tuple[Floats, Floats, Floats]:
    """East and north [m] of places [rad] in the zone of the first, and by how much grid north is west of north [rad]."""
    zone = int(np.floor((np.degrees(longitude[0]) + 180) / 6)) % 60
    middle = np.radians(6 * zone - 177)
    away = np.remainder(longitude - middle + np.pi, 2 * np.pi) - np.pi
    n = _FLATTENING / (2 - _FLATTENING)
    e = np.sqrt(_FLATTENING * (2 - _FLATTENING))
    rectifying = _RADIUS / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
    alphas = (
        n / 2 - 2 * n**2 / 3 + 5 * n**3 / 16 + 41 * n**4 / 180,
        13 * n**2 / 48 - 3 * n**3 / 5 + 557 * n**4 / 1440,
        61 * n**3 / 240 - 103 * n**4 / 140,
        49561 * n**4 / 161280,
    )
    tau = np.tan(latitude)
    sigma = np.sinh(e * np.arctanh(e * np.sin(latitude)))
    conformal = tau * np.hypot(1, sigma) - sigma * np.hypot(1, tau)
    xi = np.arctan2(conformal, np.cos(away))
    eta = np.arcsinh(np.sin(away) / np.hypot(conformal, np.cos(away)))
    north, east, p, q = xi, eta, np.ones_like(xi), np.zeros_like(xi)
    for j, alpha in enumerate(alphas, start=1):
        sine, cosine, sh, ch = np.sin(2 * j * xi), np.cos(2 * j * xi), np.sinh(2 * j * eta), np.cosh(2 * j * eta)
        north, east = north + alpha * sine * ch, east + alpha * cosine * sh
        p, q = p + 2 * j * alpha * cosine * ch, q + 2 * j * alpha * sine * sh
    convergence = np.arctan2(conformal * np.tan(away), np.hypot(1, conformal)) + np.arctan2(q, p)
    south = _SOUTH if latitude[0] < 0 else 0.0
    return _EAST + _SCALE * rectifying * east, south + _SCALE * rectifying * north, convergence
