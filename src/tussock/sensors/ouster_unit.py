"""One Ouster unit as its metadata describes it: beam angles, offsets, mode and data format.

Every unit tells its own angles in a JSON document (over HTTP, and beside every recording). Two forms are in use: flat
(firmware to 2.3 and files of older tools) and nested (``beam_intrinsics``, ``lidar_data_format``, …); both are read.
What old documents leave out is what that firmware did: 16 columns a packet, profile ``LEGACY``, and the product line's
distance from the axis to the start of the beams.

`load_sensor` takes such a document as a sensor: the catalogue's one of the same line with the angles and the mode of the
unit, so the very sensor of a recording can be simulated. The frame is Ouster's sensor frame (x ahead, away from the
connector; z up), in which column 0 looks backwards.

Sources: Ouster firmware user manual, "Coordinate Frames and XYZ Calculation"; ouster-sdk for the old documents.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.limits import read_text

__all__ = ["OusterUnit", "read_unit", "unit_table"]

_PARTS = (
    "sensor_info", "beam_intrinsics", "imu_intrinsics", "lidar_intrinsics", "config_params", "lidar_data_format",
    "imu_data_format",
)  # fmt: skip
_AXIS_MM = {"OS-0": 27.67, "OS-1": 15.806, "OS-2": 13.762}
"""[mm] from the axis to the start of the beams where a document does not say"""
_PACKETS = {"LEGACY": "ouster-legacy", "RNG19": "ouster-rng19", "RNG15": "ouster-rng15"}
_HEADERS = ("STANDARD", "FUSA")
_LINE_BASE = {"OS-0": "os0-128", "OS-1": "os1-128", "OS-2": "os2-128"}


@dataclass(frozen=True)
class OusterUnit:
    """What there is to know of one unit and the mode it is in.

    >>> tussock.read_unit("unit.json").columns  # doctest: +SKIP
    1024
    """

    product: str
    """``OS-1-128``"""
    serial: int
    firmware: str
    altitude_deg: tuple[float, ...]
    """up from the horizon, one a laser, from the top down"""
    azimuth_deg: tuple[float, ...]
    """clockwise from the encoder's direction seen from above, as Ouster states it, one a laser"""
    axis_mm: float
    """from the axis to the start of the beams; ranges are counted from the axis"""
    beam_to_lidar: tuple[float, float]
    """x and z of that start [mm], with the encoder at 0"""
    height_mm: float
    """of the LIDAR's origin above the sensor's"""
    columns: int
    rate_hz: float
    columns_per_packet: int
    window: tuple[int, int]
    """first and last column that are sent; a window across column 0 starts above its end"""
    shift: tuple[int, ...]
    """columns by which each laser is moved to make a picture without stagger"""
    profile: str
    """``udp_profile_lidar``"""
    initialisation: int
    lidar_port: int
    imu_port: int
    imu_position_mm: tuple[float, float, float]
    header: str = "STANDARD"
    """``header_type``: of functional safety, ``FUSA``, it is laid out otherwise"""

    @property
    def lasers(self) -> int:
        return len(self.altitude_deg)


def read_unit(path: Path | str) -> OusterUnit:
    """The unit of a metadata file; what is wrong with it is one line.

    >>> from pathlib import Path
    >>> unit = tussock.read_unit(Path("unit.json"))  # doctest: +SKIP
    """
    try:
        document = json.loads(read_text(Path(path)))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as JSON ({error})") from None
    return parse_unit(document, str(path))


def parse_unit(document: Any, source: str) -> OusterUnit:
    """The unit of a metadata document; ``source`` names it in errors."""
    if not isinstance(document, dict):
        raise InputError(f"{source}: is not the metadata of an Ouster sensor, but a {type(document).__name__}")
    flat: dict[str, Any] = dict(document)
    for part in ("data_format", *_PARTS):
        inner = document.get(part)
        if isinstance(inner, dict):
            flat |= {key: value for key, value in inner.items() if value is not None}
    return _Reader(flat, source).unit()


class _Reader:
    """Takes values out of a flattened document, one clear line for each that is wrong."""

    def __init__(self, flat: dict[str, Any], source: str) -> None:
        self._flat, self._source = flat, source

    def unit(self) -> OusterUnit:
        altitude = self._numbers("beam_altitude_angles")
        azimuth = self._numbers("beam_azimuth_angles")
        if len(azimuth) != len(altitude):
            raise self._wrong("beam_azimuth_angles", f"must hold one angle for each of {len(altitude)} lasers", azimuth)
        product = str(self._flat.get("prod_line", ""))
        columns, rate = self._mode()
        if "pixels_per_column" in self._flat:
            wanted = self._whole("pixels_per_column", 0)
            if wanted != len(altitude):
                raise self._wrong("pixels_per_column", f"must be the number of angles, {len(altitude)}", wanted)
        axis = self._axis(product)
        start = self._matrix("beam_to_lidar_transform", (axis, 0.0, 0.0))
        lidar = self._matrix("lidar_to_sensor_transform", (0.0, 0.0, 36.18))
        imu = self._matrix("imu_to_sensor_transform", (6.253, -11.775, 7.645))
        per_packet = self._whole("columns_per_packet", 16)
        window = self._window(columns)
        shift = self._flat.get("pixel_shift_by_row")
        if not isinstance(shift, list) or len(shift) != len(altitude):
            shift = [round(angle * columns / 360) for angle in azimuth]
        if not all(isinstance(step, int) and abs(step) < columns for step in shift):
            raise self._wrong("pixel_shift_by_row", "must be whole numbers of columns", shift)
        return OusterUnit(
            product, self._serial(), str(self._flat.get("build_rev", "")), altitude, azimuth, axis,
            (start[0], start[2]), lidar[2], columns, rate, per_packet, window, tuple(map(int, shift)),
            str(self._flat.get("udp_profile_lidar", "LEGACY")), self._whole("initialization_id", 0),
            self._whole("udp_port_lidar", 7502), self._whole("udp_port_imu", 7503), imu,
            self._header(),
        )  # fmt: skip

    def _wrong(self, field: str, rule: str, given: object) -> InputError:
        return InputError.of(field, rule, given, source=self._source)

    def _numbers(self, field: str) -> tuple[float, ...]:
        values = self._flat.get(field)
        if values is None:
            raise InputError(
                "is missing", field=field, source=self._source, remedy="is this the metadata of an Ouster sensor?"
            )
        try:
            numbers = tuple(float(value) for value in values)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(field, "must be a list of numbers", values) from None
        if not numbers or not np.isfinite(numbers).all() or max(map(abs, numbers)) > 90:
            raise self._wrong(field, "must be angles within 90 degrees", numbers)
        if not any(numbers):
            raise self._wrong(field, "must not all be 0", numbers)
        return numbers

    def _mode(self) -> tuple[int, float]:
        mode = str(self._flat.get("lidar_mode", ""))
        columns, _, rate = mode.partition("x")
        if not (_is_number(columns) and _is_number(rate) and int(columns) and int(rate)):
            raise self._wrong("lidar_mode", "must be COLUMNSxRATE, as 1024x10", mode)
        told = self._whole("columns_per_frame", int(columns))
        if told != int(columns):
            raise self._wrong("columns_per_frame", f"must be that of the mode {mode}", told)
        return int(columns), float(rate)

    def _axis(self, product: str) -> float:
        told = self._flat.get("lidar_origin_to_beam_origin_mm")
        if told is None:
            return _AXIS_MM.get(product[:4], 12.163)
        if not isinstance(told, (int, float)) or not 0 <= told < 1000:
            raise self._wrong("lidar_origin_to_beam_origin_mm", "must lie within 0 and 1000 mm", told)
        return float(told)

    def _matrix(self, field: str, shift: tuple[float, float, float]) -> tuple[float, float, float]:
        """The translation [mm] of a 4 × 4 transform."""
        values = self._flat.get(field)
        if values is None:
            return shift
        try:
            flat = np.ravel(values) if isinstance(values, list) else np.empty(0)
        except ValueError:  # lists of different lengths
            flat = np.empty(0)
        if flat.shape != (16,) or flat.dtype.kind not in "if":
            raise self._wrong(field, "must hold 16 numbers", values)
        if not flat.any():
            return shift  # old documents hold zeros where they do not know
        return float(flat[3]), float(flat[7]), float(flat[11])

    def _whole(self, field: str, otherwise: int) -> int:
        value = self._flat.get(field)
        if value is None:
            return otherwise
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(field, "must be a whole number", value)
        return value

    def _serial(self) -> int:
        text = str(self._flat.get("prod_sn", "")).strip()
        return int(text) if _is_number(text) else 0

    def _header(self) -> str:
        told = str(self._flat.get("header_type", "STANDARD"))
        if told not in _HEADERS:
            raise self._wrong("header_type", "must be one of " + ", ".join(_HEADERS), told)
        return told

    def _window(self, columns: int) -> tuple[int, int]:
        told = self._flat.get("column_window", [0, columns - 1])
        whole = isinstance(told, list) and len(told) == 2 and all(isinstance(edge, int) for edge in told)
        if not whole or not all(0 <= edge < columns for edge in told):
            raise self._wrong("column_window", f"must be two columns from 0 to {columns - 1}", told)
        return int(told[0]), int(told[1])


def unit_table(unit: OusterUnit) -> dict[str, Any]:
    """The unit as a sensor file: the catalogue's sensor of its line, with the angles and the mode of the unit."""
    base = _LINE_BASE.get(unit.product[:4])
    if base is None:
        raise InputError.of("metadata: prod_line", "must be one of " + ", ".join(_LINE_BASE), unit.product)
    packets = _PACKETS.get(unit.profile.partition("_")[0])
    if packets is None:
        raise InputError.of(
            "metadata: udp_profile_lidar", "must begin with one of " + ", ".join(_PACKETS), unit.profile
        )
    position = [round(value / 1000, 9) for value in unit.imu_position_mm]
    return {
        "base": base,
        "packets": packets,
        "receiver": {"mode": "strongest+last" if unit.profile.endswith("_DUAL") else "strongest"},
        "imu": {"position_m": position},
        "description": f"Ouster {unit.product}, unit {unit.serial}, with its own angles",
        "pattern": {
            "kind": "spinning",
            "steps": unit.columns,
            "rotation_hz": unit.rate_hz,
            "rotation_hz_limits": (5.0, 20.0),
            "clockwise": True,
            "start_deg": 180.0,
            "elevation_deg": unit.altitude_deg,
            # Ouster counts clockwise.
            "azimuth_deg": tuple(-angle for angle in unit.azimuth_deg),
            "head_offset_m": round(unit.beam_to_lidar[0] / 1000, 9),
            "head_height_m": round((unit.height_mm + unit.beam_to_lidar[1]) / 1000, 9),
        },
        "sources": {"pattern": "The metadata of the unit."},
    }


def _is_number(text: str) -> bool:
    """Whether a text is a whole number of a usual length: Python refuses more than 4300 digits, and takes other scripts'."""
    return text.isascii() and text.isdigit() and len(text) <= 18
