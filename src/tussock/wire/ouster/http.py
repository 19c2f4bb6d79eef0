"""The HTTP end points that drivers ask before they listen to an Ouster's packets.

A small server in a thread of its own tells what the simulated unit is: metadata, whole and in its parts, configuration,
firmware, time and network. Every answer is of the running stream. A driver may set the configuration to what it is
already, as most do when they start; any other change is refused in words, because where packets go and what they hold
was said when the stream was started.

Sources: Ouster firmware user manual, "HTTP API Reference"; what ouster-sdk asks.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlparse

from tussock.errors import OutputError
from tussock.sensors.ouster_unit import OusterUnit
from tussock.wire.addresses import Endpoint
from tussock.wire.ouster.metadata import metadata

__all__ = ["OusterServer"]

_SENSOR = "/api/v1/sensor"
_AUTOMATIC = "@auto"


class OusterServer:
    """Answers for one unit at ``at`` while the block lasts."""

    def __init__(self, unit: OusterUnit, at: Endpoint, *, destination: str) -> None:
        self.answers = _Answers(unit, destination)
        handler = type("_UnitHandler", (_Handler,), {"answers": self.answers})
        try:
            self._server = ThreadingHTTPServer((at.address[0], at.port), handler)
        except OSError as error:
            raise OutputError(f"{at}: cannot be listened at ({error.strerror})") from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), name="tussock-ouster-http", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Refused(Exception):
    """A request that this unit cannot grant; the text says why."""


class _Answers:
    """What the unit says."""

    def __init__(self, unit: OusterUnit, destination: str) -> None:
        self.document = metadata(unit, destination=destination)
        self.config: dict[str, Any] = self.document["config_params"]
        parts = (
            "sensor_info", "beam_intrinsics", "imu_intrinsics", "lidar_intrinsics", "lidar_data_format",
            "calibration_status",
        )  # fmt: skip
        image = self.document["sensor_info"]["image_rev"]
        self._fixed: dict[str, Callable[[], Any]] = {
            f"{_SENSOR}/metadata": lambda: self.document,
            f"{_SENSOR}/config": lambda: self.config,
            f"{_SENSOR}/alerts": lambda: {"active": [], "log": [], "next_cursor": 0},
            f"{_SENSOR}/telemetry": lambda: {"timestamp_ns": time.time_ns()},
            f"{_SENSOR}/metadata/imu_data_format": self._imu_format,
            "/api/v1/system/firmware": lambda: {"fw": image},
            "/api/v1/system/network": lambda: {"hostname": f"os-{unit.serial}", "ipv4": {"link_local": destination}},
            "/api/v1/time": lambda: {"sensor": self._time()},
            "/api/v1/time/sensor": self._time,
            "/api/v1/time/system": lambda: {"monotonic": time.monotonic(), "realtime": time.time()},
            "/api/v1/user/data": lambda: "",
        }
        for part in parts:
            self._fixed[f"{_SENSOR}/metadata/{part}"] = partial(self.document.__getitem__, part)
            # The commands of firmware before 2.4.
            self._fixed[f"{_SENSOR}/cmd/get_{part}"] = self._fixed[f"{_SENSOR}/metadata/{part}"]
        self._fixed[f"{_SENSOR}/cmd/get_time_info"] = self._time

    def get(self, url: str, asker: str) -> str | None:
        """The answer to a GET; None where there is no such place."""
        split = urlparse(url)
        path = split.path.rstrip("/")
        if path in self._fixed:
            return json.dumps(self._fixed[path]())
        # A plus stands between key and value.
        args = unquote("".join(parse_qs(split.query.replace("+", "%2B"), keep_blank_values=True).get("args", [])))
        match path.removeprefix(f"{_SENSOR}/cmd/"):
            case "get_config_param":
                return json.dumps(self.config if args in ("active", "staged") else self.config.get(args))
            case "set_config_param":
                key, _, value = args.replace("+", " ").partition(" ")
                self.set({key: _plain(value)} if key != "." else json.loads(value), asker)
                return json.dumps("set_config_param")
            case "set_udp_dest_auto":
                self.set({"udp_dest": _AUTOMATIC}, asker)
                return "{}"
            case "reinitialize" | "save_config_params":
                return "{}"
        return None

    def set(self, changes: dict[str, Any], asker: str) -> None:
        """Accept what is so already; an address that is left to the sensor means that of who asks."""
        for key, value in changes.items():
            wanted = asker if key == "udp_dest" and value == _AUTOMATIC else value
            now = self.config.get(key)
            if key in self.config and json.dumps(wanted) != json.dumps(now):
                raise _Refused(
                    f"{key} is {json.dumps(now)} and cannot become {json.dumps(wanted)}: it was given to tussock"
                )

    def _imu_format(self) -> dict[str, Any]:
        return {"imu_measurements_per_packet": 0, "imu_packets_per_frame": 0, "udp_profile_imu": "LEGACY"}

    def _time(self) -> dict[str, Any]:
        return {"timestamp": {"time": time.time(), "mode": self.config["timestamp_mode"]}}


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


class _Handler(BaseHTTPRequestHandler):
    answers: _Answers
    server_version = "tussock"

    def do_GET(self) -> None:
        try:
            answer = self.answers.get(self.path, str(self.client_address[0]))
        except _Refused as error:
            self._send(400, json.dumps({"error": str(error)}))
            return
        self._send(200, answer) if answer is not None else self._send(404, json.dumps({"error": "no such place"}))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlparse(self.path).path.rstrip("/")
        if path != f"{_SENSOR}/config":
            self._send(404, json.dumps({"error": "no such place"}))
            return
        try:
            changes = json.loads(body)
            if not isinstance(changes, dict):
                raise ValueError
            self.answers.set(changes, str(self.client_address[0]))
        except ValueError:
            self._send(400, json.dumps({"error": "the body must be a JSON object"}))
        except _Refused as error:
            self._send(400, json.dumps({"error": str(error)}))
        else:
            self._send(200, json.dumps(self.answers.config))

    def _send(self, status: int, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""
