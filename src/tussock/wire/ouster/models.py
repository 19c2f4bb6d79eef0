"""Which of Ouster's packets a sensor sends: its ``packets`` and the mode of its receiver choose the profile."""

from __future__ import annotations

from tussock.errors import InputError, nearest
from tussock.sensors.ouster_unit import OusterUnit
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.ouster.profiles import COLUMNS_PER_PACKET, IMU_PORT, LIDAR_PORT, PROFILES, Profile

__all__ = ["FORMATS", "profile_of", "unit_of"]

FORMATS: dict[str, tuple[str, str | None]] = {
    "ouster-legacy": ("LEGACY", None),
    "ouster-rng19": ("RNG19_RFL8_SIG16_NIR16", "RNG19_RFL8_SIG16_NIR16_DUAL"),
    "ouster-rng15": ("RNG15_RFL8_NIR8", "RNG15_RFL8_NIR8_DUAL"),
}
"""Profiles of one and of two returns by the name that ``packets`` of a sensor's file gives."""

_SINGLE = ("strongest", "last", "first")
_DUAL = ("strongest+second", "strongest+last")
_FIRMWARE = {"LEGACY": "v2.0.0"}
_SERIAL = 992500000001
_AXIS_MM = {"OS-0": 27.5, "OS-1": 16.2, "OS-2": 13.762}
_MODES = ((512, 10), (512, 20), (1024, 10), (1024, 20), (2048, 10), (4096, 5))


def profile_of(sensor: Sensor) -> Profile:
    """The profile of a sensor's packets; an `InputError` where it has none."""
    name = sensor.packets
    if name not in FORMATS:
        raise InputError(f"sensor {sensor.name}: packets {name!r}: {nearest(str(name), FORMATS)}")
    single, dual = FORMATS[name]
    mode = str(sensor.receiver.mode)
    if mode in _SINGLE:
        return PROFILES[single]
    if mode not in _DUAL:
        allowed = ", ".join((*_SINGLE, *_DUAL))
        raise InputError.of("receiver.mode", f"Ouster's packets carry {allowed}", mode, "set receiver.mode to one")
    if dual is None:
        raise InputError.of(
            f"sensor {sensor.name}: packets {name}", "carry one return", mode,
            "set receiver.mode=strongest or packets=ouster-rng19",
        )  # fmt: skip
    return PROFILES[dual]


def unit_of(sensor: Sensor, *, serial: int | None = None) -> OusterUnit:
    """The simulated unit, as its metadata will describe it; an `InputError` where an Ouster cannot be like this."""
    profile, pattern = profile_of(sensor), sensor.pattern
    where = f"sensor {sensor.name}: packets {sensor.packets}"
    if not isinstance(pattern, SpinningPattern) or pattern.steps is None:
        raise InputError.of(where, "need a spinning pattern of a fixed number of steps", pattern.kind)
    offsets = (*pattern.vertical_offset_m, *pattern.horizontal_offset_m, *pattern.axis_height_m)
    if any(pattern.firing_us) or pattern.turns or any(offsets):
        raise InputError(f"{where}: need lasers that fire at once and start where the head is, without own offsets")
    if (pattern.steps, pattern.rotation_hz) not in _MODES:
        known = ", ".join(f"{steps} at {rate} Hz" for steps, rate in _MODES)
        raise InputError.of(
            where, f"need steps and rotation_hz of a mode: {known}", (pattern.steps, pattern.rotation_hz)
        )
    if abs((pattern.start_deg - 180.0) % 360.0) > 1e-9 or not pattern.clockwise:
        raise InputError.of(
            where, "need a head that starts backwards (start_deg = 180) and turns clockwise", pattern.start_deg
        )
    axis = pattern.head_offset_m * 1000
    line = min(_AXIS_MM, key=lambda name: abs(_AXIS_MM[name] - axis))
    azimuth = tuple(-angle for angle in pattern.azimuth_deg) or (0.0,) * sensor.lasers
    imu = sensor.imu.position_m if sensor.imu else (0.0, 0.0, 0.0)
    return OusterUnit(
        product=f"{line}-{sensor.lasers}",
        serial=_SERIAL if serial is None else serial,
        firmware=_FIRMWARE.get(profile.name, "v3.0.1"),
        altitude_deg=pattern.elevation_deg,
        azimuth_deg=azimuth,
        axis_mm=round(axis, 6),
        beam_to_lidar=(round(axis, 6), 0.0),
        height_mm=round(pattern.head_height_m * 1000, 6),
        columns=pattern.steps,
        rate_hz=pattern.rotation_hz,
        columns_per_packet=COLUMNS_PER_PACKET,
        window=(0, pattern.steps - 1),
        shift=tuple(round(angle * pattern.steps / 360) for angle in azimuth),
        profile=profile.name,
        initialisation=1,
        lidar_port=LIDAR_PORT,
        imu_port=IMU_PORT,
        imu_position_mm=(round(imu[0] * 1000, 6), round(imu[1] * 1000, 6), round(imu[2] * 1000, 6)),
    )
