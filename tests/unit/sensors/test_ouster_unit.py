"""Metadata of Ouster units, old and new, right and wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import parse_unit, read_unit

FLAT = {
    "prod_line": "OS-1-16-A1",
    "prod_sn": "991900000001",
    "build_rev": "v1.12.0",
    "lidar_mode": "512x20",
    "beam_altitude_angles": [15.0, 5.0, -5.0, -15.0],
    "beam_azimuth_angles": [3.1, 1.0, -1.0, -3.1],
    "lidar_to_sensor_transform": [-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 36.18, 0, 0, 0, 1],
    "imu_to_sensor_transform": [0] * 16,
}


def test_old_flat_documents_mean_what_that_firmware_did() -> None:
    unit = parse_unit(FLAT, "old.json")
    assert (unit.profile, unit.columns, unit.rate_hz, unit.columns_per_packet) == ("LEGACY", 512, 20.0, 16)
    assert (unit.axis_mm, unit.beam_to_lidar, unit.height_mm) == (15.806, (15.806, 0.0), 36.18)
    assert unit.window == (0, 511) and unit.shift == (4, 1, -1, -4)
    assert unit.imu_position_mm == (6.253, -11.775, 7.645)


def test_nested_documents_say_it_themselves() -> None:
    nested = {
        "sensor_info": {"prod_line": "OS-0-4", "prod_sn": "7", "build_rev": "v3.1.0", "initialization_id": 99},
        "beam_intrinsics": {
            "beam_altitude_angles": FLAT["beam_altitude_angles"],
            "beam_azimuth_angles": FLAT["beam_azimuth_angles"],
            "beam_to_lidar_transform": [1, 0, 0, 20.5, 0, 1, 0, 0, 0, 0, 1, 3.25, 0, 0, 0, 1],
            "lidar_origin_to_beam_origin_mm": 20.756,
        },
        "lidar_intrinsics": {"lidar_to_sensor_transform": FLAT["lidar_to_sensor_transform"]},
        "imu_intrinsics": {"imu_to_sensor_transform": [1, 0, 0, -2.5, 0, 1, 0, -9.5, 0, 0, 1, 7.5, 0, 0, 0, 1]},
        "config_params": {"lidar_mode": "1024x10", "udp_port_lidar": 7777, "udp_dest": "10.0.0.1"},
        "lidar_data_format": {
            "column_window": [768, 255], "columns_per_frame": 1024, "columns_per_packet": 8,
            "pixel_shift_by_row": [1, 2, 3, 4], "pixels_per_column": 4, "udp_profile_lidar": "RNG15_RFL8_NIR8",
        },
    }  # fmt: skip
    unit = parse_unit(nested, "new.json")
    assert (unit.serial, unit.initialisation, unit.lidar_port, unit.columns_per_packet) == (7, 99, 7777, 8)
    assert (unit.axis_mm, unit.beam_to_lidar) == (20.756, (20.5, 3.25))
    assert (unit.window, unit.shift, unit.imu_position_mm) == ((768, 255), (1, 2, 3, 4), (-2.5, -9.5, 7.5))


def test_a_unit_is_a_sensor(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(FLAT))
    sensor = load_sensor(path)
    assert (sensor.name, sensor.lasers, sensor.packets) == ("mine", 4, "ouster-legacy")
    assert sensor.pattern.elevation_deg == (15.0, 5.0, -5.0, -15.0)
    assert sensor.pattern.azimuth_deg == (-3.1, -1.0, 1.0, 3.1)
    assert (sensor.rotation_hz, sensor.pattern.steps, sensor.pattern.head_offset_m) == (20.0, 512, 0.015806)
    assert sensor.beam == load_sensor("os1-128").beam
    based = tmp_path / "based.toml"
    based.write_text('base = "mine.json"\n[beam]\nrays = 5\n')
    assert load_sensor(based).beam.rays == 5 and load_sensor(based).lasers == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"beam_altitude_angles": None}, "beam_altitude_angles: is missing; is this the metadata"),
        ({"beam_altitude_angles": "high"}, "beam_altitude_angles: must be a list of numbers"),
        ({"beam_altitude_angles": [0, 0, 0, 0]}, "must not all be 0"),
        ({"beam_altitude_angles": [1, 2, 3, 91]}, "within 90 degrees"),
        ({"beam_azimuth_angles": [1, 2, 3]}, "one angle for each of 4 lasers"),
        ({"lidar_mode": "fast"}, "lidar_mode: must be COLUMNSxRATE"),
        ({"lidar_mode": "0x10"}, "lidar_mode: must be COLUMNSxRATE"),
        ({"data_format": {"columns_per_frame": 1024}}, "columns_per_frame: must be that of the mode 512x20, got 1024"),
        ({"data_format": {"pixels_per_column": 64}}, "pixels_per_column: must be the number of angles, 4, got 64"),
        ({"data_format": {"column_window": [0, 512]}}, "column_window: must be two columns from 0 to 511"),
        ({"lidar_origin_to_beam_origin_mm": -3}, "within 0 and 1000 mm"),
        ({"lidar_to_sensor_transform": [1, 2]}, "lidar_to_sensor_transform: must hold 16 numbers"),
        ({"udp_port_lidar": "seven"}, "udp_port_lidar: must be a whole number"),
        ({"prod_line": "VLP-16"}, "prod_line: must be one of OS-0, OS-1, OS-2"),
        ({"udp_profile_lidar": "FIVE_WORD_PIXEL"}, "udp_profile_lidar: must begin with one of LEGACY"),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, change: dict[str, object], says: str) -> None:
    path = tmp_path / "unit.json"
    path.write_text(json.dumps({key: value for key, value in (FLAT | change).items() if value is not None}))
    with pytest.raises(InputError) as caught:
        load_sensor(path)
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "7", "\x00"])
def test_what_is_no_metadata(tmp_path: Path, text: str) -> None:
    path = tmp_path / "unit.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"unit\.json"):
        read_unit(path)
    with pytest.raises(InputError, match="no such file"):
        read_unit(tmp_path / "gone.json")
