"""What an Ouster answers over HTTP, and what it refuses."""

from __future__ import annotations

import json
import socket
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tussock.errors import OutputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import parse_unit
from tussock.wire.addresses import Endpoint
from tussock.wire.ouster.http import OusterServer
from tussock.wire.ouster.metadata import metadata
from tussock.wire.ouster.models import unit_of

UNIT = unit_of(load_sensor("os1-64-rev7"))
ANY = Endpoint("127.0.0.1", 0, address=("127.0.0.1", 0))


@pytest.fixture
def base():
    with OusterServer(UNIT, ANY, destination="127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}/api/v1"


def get(url: str) -> object:
    with urlopen(url, timeout=5) as answer:
        assert answer.headers["Content-Type"] == "application/json"
        return json.loads(answer.read())


def post(url: str, body: bytes) -> object:
    with urlopen(Request(url, data=body, headers={"Content-Type": "application/json"}), timeout=5) as answer:
        return json.loads(answer.read())


def refused(ask) -> tuple[int, str]:
    """Status and reason of a request that fails."""
    with pytest.raises(HTTPError) as caught:
        ask()
    with caught.value as error:
        return error.code, json.loads(error.read())["error"]


def test_the_whole_and_its_parts(base: str) -> None:
    whole = get(f"{base}/sensor/metadata")
    assert whole == json.loads(json.dumps(metadata(UNIT)))
    assert parse_unit(whole, "http") == UNIT
    for part in ("sensor_info", "beam_intrinsics", "imu_intrinsics", "lidar_intrinsics", "lidar_data_format"):
        assert get(f"{base}/sensor/metadata/{part}") == whole[part] == get(f"{base}/sensor/cmd/get_{part}")
    assert get(f"{base}/sensor/config") == whole["config_params"]
    assert get(f"{base}/sensor/cmd/get_config_param?args=active") == whole["config_params"]
    assert get(f"{base}/sensor/cmd/get_config_param?args=lidar_mode") == "1024x10"
    assert "v3.0.1" in get(f"{base}/system/firmware")["fw"]


def test_what_is_so_may_be_set_and_nothing_else(base: str) -> None:
    assert get(f"{base}/sensor/cmd/set_config_param?args=udp_port_lidar+7502") == "set_config_param"
    assert (
        get(f"{base}/sensor/cmd/set_config_param?args=.+%7B%22lidar_mode%22%3A%221024x10%22%7D") == "set_config_param"
    )
    assert get(f"{base}/sensor/cmd/set_udp_dest_auto") == {}
    assert get(f"{base}/sensor/cmd/reinitialize") == {}
    assert (
        post(f"{base}/sensor/config", b'{"udp_dest": "@auto", "azimuth_window": [0, 360000]}')["udp_port_imu"] == 7503
    )
    for ask in (
        lambda: get(f"{base}/sensor/cmd/set_config_param?args=lidar_mode+2048x10"),
        lambda: post(f"{base}/sensor/config", b'{"udp_dest": "192.0.2.1"}'),
    ):
        status, why = refused(ask)
        assert status == 400 and "cannot become" in why


@pytest.mark.parametrize("path", ["/sensor/nothing", "/../../etc/passwd", "/sensor/cmd/format_disk"])
def test_no_such_place(base: str, path: str) -> None:
    assert refused(lambda: get(base + path)) == (404, "no such place")


def test_bodies_that_are_no_configuration(base: str) -> None:
    for body in (b"", b"[]", b"{", b"\xff"):
        status, why = refused(lambda body=body: post(f"{base}/sensor/config", body))
        assert status == 400 and "must be a JSON object" in why


def test_a_port_that_is_taken_is_one_line() -> None:
    with OusterServer(UNIT, ANY, destination="127.0.0.1") as server:
        taken = Endpoint("127.0.0.1", server.port, address=("127.0.0.1", server.port))
        with pytest.raises(OutputError, match=f"127.0.0.1:{server.port}: cannot be listened at"):
            OusterServer(UNIT, taken, destination="127.0.0.1")


def test_a_request_that_says_nothing_of_its_length_has_no_body(base: str) -> None:
    """It is answered, not waited for."""
    port = int(base.split(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=5) as asking:
        asking.sendall(b"POST /api/v1/sensor/config HTTP/1.0\r\n\r\n")
        assert asking.recv(99).split()[1] == b"400"


def test_what_else_a_driver_may_ask(base: str) -> None:
    assert get(f"{base}/sensor/metadata/imu_data_format") == {
        "imu_measurements_per_packet": 0, "imu_packets_per_frame": 0, "udp_profile_imu": "LEGACY",
    }  # fmt: skip
    assert (
        get(f"{base}/sensor/alerts") == {"active": [], "log": [], "next_cursor": 0} and get(f"{base}/user/data") == ""
    )
    told = get(f"{base}/time")["sensor"]["timestamp"]
    assert told["mode"] == "TIME_FROM_PTP_1588" and abs(told["time"] - time.time()) < 60
    assert abs(get(f"{base}/sensor/telemetry")["timestamp_ns"] * 1e-9 - time.time()) < 60
    assert set(get(f"{base}/time/system")) == {"monotonic", "realtime"}
    assert get(f"{base}/system/network") == {"hostname": f"os-{UNIT.serial}", "ipv4": {"link_local": "127.0.0.1"}}
    assert get(f"{base}/sensor/cmd/get_config_param?args=no_such_thing") is None
    for command in ("reinitialize", "save_config_params", "set_udp_dest_auto"):
        assert get(f"{base}/sensor/cmd/{command}") == {}
    assert get(f"{base}/sensor/cmd/set_config_param?args=lidar_mode+1024x10") == "set_config_param"
    assert get(f"{base}/sensor/cmd/set_config_param?args=udp_port_lidar+7502") == "set_config_param"
