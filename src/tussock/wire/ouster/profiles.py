"""The packets of Ouster's LIDARs, as data: where every field of every profile lies.

A packet holds the pixels of 16 columns (all lasers at one azimuth). The first firmware's form, ``LEGACY``, is columns
and nothing else; all later ones have a header and a footer of 32 bytes. Numbers are little-endian.

    LEGACY column      timestamp u64 [ns], measurement u16, frame u16, encoder u32, pixels, status u32
    other columns      timestamp u64 [ns], measurement u16, status u16, pixels
    header             type u16 (1), frame u16, initialisation u24, serial number u40, alerts u8, zeros
    FUSA header        type u8, initialisation u24, frame u32, alerts u8, zeros u16, serial number u40, zeros

Ranges are in millimetres; profiles of 15 bits count in 8 mm, and near infrared there in 16.

Sources: Ouster firmware user manual, "Lidar Data Packet Format", and ouster-sdk, whose decoder the tests ask for
the place of every bit.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "COLUMNS_PER_PACKET",
    "COLUMN_HEADER",
    "FOOTER",
    "HEADER",
    "IMU_BYTES",
    "IMU_PORT",
    "LIDAR_PORT",
    "PROFILES",
    "Field",
    "Profile",
]

COLUMNS_PER_PACKET = 16
HEADER, FOOTER, COLUMN_HEADER = 32, 32, 12
LEGACY_COLUMN_HEADER, LEGACY_COLUMN_FOOTER = 16, 4
ENCODER_TICKS = 90112
"""of a revolution, in LEGACY columns"""
IMU_BYTES = 48
LIDAR_PORT, IMU_PORT = 7502, 7503


class Field(NamedTuple):
    """A number in a pixel: value = (bits from ``at`` · 8 + ``low`` on) × ``step``."""

    name: str
    at: int
    """first byte in the pixel"""
    bits: int
    low: int = 0
    """bits of the first byte that belong to something else"""
    step: int = 1


class Profile(NamedTuple):
    """What one profile (``udp_profile_lidar``) puts into a pixel."""

    name: str
    pixel: int
    """bytes a pixel"""
    fields: tuple[Field, ...]

    @property
    def legacy(self) -> bool:
        return self.name == "LEGACY"

    @property
    def returns(self) -> int:
        return 2 if any(field.name == "RANGE2" for field in self.fields) else 1

    @property
    def column_header(self) -> int:
        return LEGACY_COLUMN_HEADER if self.legacy else COLUMN_HEADER

    @property
    def header(self) -> int:
        return 0 if self.legacy else HEADER

    def column(self, pixels: int) -> int:
        """[bytes] of one column."""
        return self.column_header + pixels * self.pixel + (LEGACY_COLUMN_FOOTER if self.legacy else 0)

    def size(self, pixels: int, columns: int = COLUMNS_PER_PACKET) -> int:
        """[bytes] of one packet."""
        return columns * self.column(pixels) + (0 if self.legacy else HEADER + FOOTER)

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


_LOW_RATE = (Field("RANGE", 0, 15, step=8), Field("FLAGS", 1, 1, 7), Field("REFLECTIVITY", 2, 8))
_LOW_RATE_DUAL = (
    *_LOW_RATE,
    Field("NEAR_IR", 3, 8, step=16),
    Field("RANGE2", 4, 15, step=8),
    Field("FLAGS2", 5, 1, 7),
    Field("REFLECTIVITY2", 6, 8),
    Field("WINDOW", 7, 8),
)
_TWO = (
    Field("RANGE", 0, 19),
    Field("FLAGS", 2, 5, 3),
    Field("REFLECTIVITY", 3, 8),
    Field("RANGE2", 4, 19),
    Field("FLAGS2", 6, 5, 3),
    Field("REFLECTIVITY2", 7, 8),
    Field("SIGNAL", 8, 16),
    Field("SIGNAL2", 10, 16),
)

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(
            "LEGACY",
            12,
            (
                Field("RANGE", 0, 20),
                Field("FLAGS", 3, 4, 4),
                Field("REFLECTIVITY", 4, 8),
                Field("SIGNAL", 6, 16),
                Field("NEAR_IR", 8, 16),
            ),
        ),
        Profile(
            "RNG19_RFL8_SIG16_NIR16",
            12,
            (
                Field("RANGE", 0, 19),
                Field("FLAGS", 2, 5, 3),
                Field("REFLECTIVITY", 4, 8),
                Field("SIGNAL", 6, 16),
                Field("NEAR_IR", 8, 16),
                Field("WINDOW", 11, 8),
            ),
        ),
        Profile(
            "RNG19_RFL8_SIG16_NIR16_DUAL",
            16,
            (*_TWO, Field("NEAR_IR", 12, 16), Field("WINDOW", 15, 8)),
        ),
        Profile("RNG15_RFL8_NIR8", 4, (*_LOW_RATE, Field("NEAR_IR", 3, 8, step=16))),
        Profile("RNG15_RFL8_NIR8_DUAL", 8, _LOW_RATE_DUAL),
        # Read, not written.
        Profile("FUSA_RNG15_RFL8_NIR8_DUAL", 8, _LOW_RATE_DUAL),
        Profile("RNG15_RFL8_WIN8", 4, (*_LOW_RATE, Field("WINDOW", 3, 8))),
        Profile(
            "RNG15_RFL8_NIR8_ZONE16",
            8,
            (*_LOW_RATE, Field("NEAR_IR", 3, 8, step=16), Field("ZONE_MASK", 4, 16), Field("WINDOW", 6, 8)),
        ),
        Profile(
            "RNG19_RFL8_SIG16_NIR16_ZONE16",
            12,
            (
                Field("RANGE", 0, 19),
                Field("FLAGS", 2, 5, 3),
                Field("REFLECTIVITY", 4, 8),
                Field("WINDOW", 5, 8),
                Field("SIGNAL", 6, 16),
                Field("NEAR_IR", 8, 16),
                Field("ZONE_MASK", 10, 16),
            ),
        ),
        Profile("RNG19_RFL8_SIG16_ZONE16_DUAL", 16, (*_TWO, Field("ZONE_MASK", 12, 16), Field("WINDOW", 15, 8))),
    )
}
"""Every profile by Ouster's name."""
