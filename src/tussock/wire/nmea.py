"""NMEA 0183, the sentences of GPS receivers: how one is framed, and how angles are written in it."""

from __future__ import annotations

__all__ = ["KNOT", "angle_fields", "sentence"]

KNOT = 1852 / 3600
"""[m/s]"""


def sentence(fields: list[str]) -> bytes:
    """Fields with ``$`` before them and the checksum behind: all letters between ``$`` and ``*``, by exclusive or."""
    body, checksum = ",".join(fields), 0
    for letter in body.encode():
        checksum ^= letter
    return f"${body}*{checksum:02X}\r\n".encode()


def angle_fields(latitude: float, longitude: float, *, decimals: int) -> list[str]:
    """Latitude and longitude [deg] as degrees and minutes, each with its letter; five decimals are 2 cm, six 2 mm."""

    def minutes(angle: float, width: int) -> str:
        total = round(abs(angle) * 60, decimals)
        return f"{int(total // 60):0{width}d}{total % 60:0{decimals + 3}.{decimals}f}"

    north, east = "N" if latitude >= 0 else "S", "E" if longitude >= 0 else "W"
    return [minutes(latitude, 2), north, minutes(longitude, 3), east]
