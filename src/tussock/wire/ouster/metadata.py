"""A unit's metadata, as the sensor itself tells it: JSON in the nested form of firmware 2.4 and later.

Every document lies beside a recording (``NAME.json``), and a live sensor answers with it over HTTP
(`tussock.wire.ouster.http`).
"""

from __future__ import annotations

from typing import Any

from tussock.sensors.ouster_unit import OusterUnit
from tussock.version import VERSION

__all__ = ["metadata"]


def metadata(unit: OusterUnit, *, destination: str = "127.0.0.1") -> dict[str, Any]:
    """The whole document; its parts are what the end points of the same names answer."""
    columns = unit.columns
    first, last = unit.window
    imu_x, imu_y, imu_z = unit.imu_position_mm
    along, up = unit.beam_to_lidar
    dual = unit.profile.endswith("DUAL")
    return {
        "sensor_info": {
            "prod_line": unit.product,
            "prod_pn": f"tussock-{VERSION}",
            "prod_sn": str(unit.serial),
            "build_date": "2025-01-01T00:00:00Z",
            "build_rev": unit.firmware,
            "image_rev": f"ousteros-image-prod-tussock-{unit.firmware}",
            "initialization_id": unit.initialisation,
            "status": "RUNNING",
        },
        "beam_intrinsics": {
            "beam_altitude_angles": list(unit.altitude_deg),
            "beam_azimuth_angles": list(unit.azimuth_deg),
            "beam_to_lidar_transform": _shift(along, 0.0, up),
            "lidar_origin_to_beam_origin_mm": unit.axis_mm,
        },
        "imu_intrinsics": {"imu_to_sensor_transform": _shift(imu_x, imu_y, imu_z)},
        "lidar_intrinsics": {
            # Half a turn about z: the LIDAR's x looks backwards, at the connector.
            "lidar_to_sensor_transform": [
                -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, unit.height_mm, 0.0, 0.0, 0.0, 1.0,
            ]
        },
        "lidar_data_format": {
            "column_window": [first, last],
            "columns_per_frame": columns,
            "columns_per_packet": unit.columns_per_packet,
            "fps": round(unit.rate_hz),
            "header_type": unit.header,
            "pixel_shift_by_row": list(unit.shift),
            "pixels_per_column": unit.lasers,
            "udp_profile_imu": "LEGACY",
            "udp_profile_lidar": unit.profile,
        },
        "calibration_status": {"reflectivity": {"timestamp": "2025-01-01T00:00:00", "valid": True}},
        "config_params": {
            "azimuth_window": [first * 360_000 // columns, (last + 1) * 360_000 // columns],
            "columns_per_packet": unit.columns_per_packet,
            "lidar_mode": f"{columns}x{unit.rate_hz:g}",
            "multipurpose_io_mode": "OFF",
            "nmea_baud_rate": "BAUD_9600",
            "nmea_ignore_valid_char": 0,
            "nmea_in_polarity": "ACTIVE_HIGH",
            "nmea_leap_seconds": 0,
            "operating_mode": "NORMAL",
            "phase_lock_enable": False,
            "phase_lock_offset": 0,
            "signal_multiplier": 1,
            "sync_pulse_in_polarity": "ACTIVE_HIGH",
            "sync_pulse_out_angle": 360,
            "sync_pulse_out_frequency": 1,
            "sync_pulse_out_polarity": "ACTIVE_HIGH",
            "sync_pulse_out_pulse_width": 10,
            "timestamp_mode": "TIME_FROM_PTP_1588",
            "udp_dest": destination,
            "udp_port_imu": unit.imu_port,
            "udp_port_lidar": unit.lidar_port,
            "udp_profile_imu": "LEGACY",
            "udp_profile_lidar": unit.profile,
        }
        | ({"return_order": "STRONGEST_TO_WEAKEST"} if dual else {}),
    }  # fmt: skip


def _shift(x: float, y: float, z: float) -> list[float]:
    """A transform that only shifts [mm], row by row."""
    return [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z, 0.0, 0.0, 0.0, 1.0]
