"""Packets, logs and shared memory from the command line: results, and one line for a mistake."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.shared.shared_memory import SharedSegment, SimulatorGone
from tussock.wire.shared.shm_layout import ChannelSpec
from tussock.wire.velodyne.decode import decode_packets

SCENE = """
name = "small"
[[objects]]
name = "ground"
label = "terrain"
ground = { size_m = [40, 40] }
"""


@pytest.fixture(autouse=True)
def _small_scene(tmp_path):
    (tmp_path / "small.toml").write_text(SCENE)


def test_a_time_range_becomes_one_capture(tussock, tmp_path: Path) -> None:
    status, out, _ = tussock(
        "scan", "small.toml", "--sensor", "vlp-16", "--to", "0.5", "--out", "run.pcap", "--json",
        "--utc", "2024-02-29T23:59:59.5", "--origin", "-33.5,151.25",
    )  # fmt: skip
    assert status == 0
    said = json.loads(out)
    assert said["frames"] == 5 and said["files"] == ["run.pcap"]
    found = read_datagrams(tmp_path / "run.pcap")
    data, positions = found.select(found.port == 2368), found.select(found.port == 8308)
    raw = decode_packets(data.payloads())
    assert raw.returns == said["returns"] and raw.model.name == "vlp-16"
    assert raw.stamp[0] == 3_599_500_000
    assert data.times[0] == pytest.approx(1709251199.5 + 24 * 55.296e-6, abs=2e-6)
    sentence = positions.payload(0)[206:].split(b"\0")[0]
    assert sentence.startswith(b"$GPRMC,235959,A,3330.00000,S,15115.00000,E,") and b",290224," in sentence
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.pcap", "small.toml"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("scan small.toml --sensor lms-111 --out run.pcap", "sensor lms-111: its packets are not known"),
        ("scan small.toml --sensor vlp-16 --out run.pcapp", "did you mean '.pcap'?"),
        ("scan small.toml --sensor vlp-16 --out no/run.pcap", "no: no such folder; create it first"),
        ("scan small.toml --sensor vlp-16 --out small.toml/run.mcap", "no such folder"),
        ("scan small.toml --sensor vlp-16 --out run.pcap --utc yesterday", "utc: must be a date and time"),
        ("scan small.toml --sensor vlp-16 --out run.pcap --origin 95,0", "origin: must be a latitude"),
        (
            "stream small.toml --sensor vlp-16",
            "give --to HOST:PORT for packets, --to foxglove, rerun or dds to look, --share NAME for shared memory",
        ),
        ("stream small.toml --sensor vlp-16 --to 127.0.0.1", "address: must be HOST:PORT, got '127.0.0.1'"),
        ("stream small.toml --sensor vlp-16 --to 127.0.0.1:70000", "port: must be a whole number from 1 to 65535"),
        ("stream small.toml --sensor vlp-16 --to nowhere.invalid:2368", "the host 'nowhere.invalid' cannot be found"),
        ("stream small.toml --sensor lms-111 --to 127.0.0.1:2368", "its packets are not known"),
        (
            "stream small.toml --sensor vlp-16 --sensor hdl-32e --to 127.0.0.1:2368",
            "--to: must be given once for each of the 2 sensors",
        ),
        (
            "stream small.toml --sensor vlp-16 --sensor hdl-32e --to 127.0.0.1:2368 --to 127.0.0.1:2368",
            "two sensors cannot share one address",
        ),
        ("stream small.toml --sensor vlp-16 --to 127.0.0.1:2368 --seconds 0", "seconds: must be above 0"),
        ("stream small.toml --sensor vlp-16 --to 127.0.0.1:2368 --lockstep", "lock step: needs --share NAME"),
        ("stream small.toml --sensor vlp-16 --share a/b", "shared memory name: must be letters"),
        ("replay missing.pcap --to 127.0.0.1:2368", "missing.pcap: no such capture"),
        ("replay small.toml --to 127.0.0.1:2368", "small.toml: is neither a pcap nor a pcapng capture"),
        ("replay . --to 127.0.0.1:2368", "is a folder, not a capture"),
        ("replay small.toml --to 127.0.0.1:99999", "port: must be a whole number from 1 to 65535"),
    ],
)
def test_mistakes_are_one_line(tussock, tmp_path: Path, words: str, says: str) -> None:
    status, out, err = tussock(*words.split())
    assert status == 2 and out == ""
    assert err.startswith("error: ") and says in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_a_busy_segment_name_is_one_line(tussock) -> None:
    name = f"tussock-cli-{id(tussock)}"
    with SharedSegment.create(name, [ChannelSpec("points", "out", "f4", (3, 6))]):
        status, _, err = tussock("stream", "small.toml", "--sensor", "vlp-16", "--share", name)
    assert status == 2 and "is in use by process" in err and err.count("\n") == 1


def test_stream_and_replay(tussock, tmp_path: Path) -> None:
    """What is streamed arrives; what was scanned can be played."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(60)
    to = f"127.0.0.1:{receiver.getsockname()[1]}"
    received: list[bytes] = []

    def listen() -> None:
        while (data := receiver.recv(4096)) != b"end":
            received.append(data)

    thread = threading.Thread(target=listen)
    thread.start()
    try:
        status, out, _ = tussock("stream", "small.toml", "--sensor", "vlp-16", "--to", to, "--seconds", "0.5", "--json")
        (report,) = json.loads(out)
        streamed = report["packets"]
        assert status == 0 and report["revolutions"] + report["dropped_revolutions"] == 5
        tussock("scan", "small.toml", "--sensor", "vlp-16", "--to", "0.2", "--out", "run.pcap")
        status, out, _ = tussock("replay", "run.pcap", "--to", to, "--speed", "4", "--json")
        assert status == 0
        played = json.loads(out)["packets"]
    finally:
        receiver.sendto(b"end", receiver.getsockname())
        thread.join()
        receiver.close()
    assert len(received) == streamed + played
    found = read_datagrams(tmp_path / "run.pcap")
    recorded = found.select(found.port == 2368).payloads()
    assert received[-played:] == [payload.tobytes() for payload in recorded]


def test_lock_step_from_the_command_line(tussock) -> None:
    name = f"tussock-cli-step-{id(tussock)}"
    seen: list[int] = []

    def consume() -> None:
        with SharedSegment.attach(name, wait=60, control=True) as shared:
            try:
                while True:
                    step = shared.await_step(timeout=60)
                    seen.append(len(shared.latest("points").array))
                    shared.answer(step)
            except (SimulatorGone, InputError):
                return

    thread = threading.Thread(target=consume)
    thread.start()
    status, out, _ = tussock(
        "stream", "small.toml", "--sensor", "vlp-16", "--share", name, "--lockstep", "--seconds", "0.3", "--json"
    )
    thread.join()
    assert status == 0
    said = json.loads(out)
    assert said["frames"] == len(seen) == 3 and said["returns"] == sum(seen)
    assert np.all(np.array(seen) > 1000)
    status, _, err = tussock(
        "stream", "small.toml", "--sensor", "vlp-16", "--share", name, "--lockstep", "--timeout", "0.1"
    )
    assert status == 2 and "nobody answered" in err
    assert not (Path("/dev/shm") / name).exists()
