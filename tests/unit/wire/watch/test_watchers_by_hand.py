"""What watchers make of a frame, field by field: ROS 2's messages by DDS, Foxglove's, and how they are named by a user."""

from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.poses import Pose
from tussock.sensors.imu import ImuReadings
from tussock.wire.watch import dds, foxglove, targets
from tussock.wire.watch.seen import OPTICAL, POINT, Place, Seen
from tussock.wire.watch.targets import is_watcher, open_watcher

START, END = 1_700_000_000_250_000_000, 1_700_000_000_350_000_001
PICTURE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def seen(*, picture: bool = True, imu: bool = True) -> Seen:
    points = np.zeros(2, POINT)
    points["x"], points["ring"] = [1.5, -2.0], [3, 65535]
    places = [Place(START, Pose.at(1, 2, 3)), Place(END, Pose.at(4, 5, 6, yaw=np.pi / 2))]
    felt = ImuReadings(
        np.array([0.25, 0.26]), np.array([[0, 0, 9.8], [1, 2, 3.0]]), np.array([[0, 0, 0.1], [4, 5, 6.0]])
    )
    moments = np.array([START + 1, START + 10_000_000], np.int64)
    return Seen(
        "front-left", 7, START, END, points, places, felt if imu else None, moments, PICTURE if picture else None
    )


FIELDS = [
    ("x", 0, 7), ("y", 4, 7), ("z", 8, 7), ("intensity", 12, 7), ("ring", 16, 4), ("label", 18, 4), ("time", 20, 7),
]  # fmt: skip
"""of a point of 24 bytes: name, place, and the number of its type in sensor_msgs/PointField"""


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> tuple[dds.DdsWatcher, dict[str, list[Any]], dict[str, bool]]:
    """A watcher of no domain, what it wrote by topic, and which topics are kept."""
    pytest.importorskip("cyclonedds", reason="cyclonedds is not installed: pip install 'tussock[dds]'")
    written: dict[str, list[Any]] = {}
    kept_topics: dict[str, bool] = {}

    def writer(self: object, topic: str, kind: Any, *, kept: bool = False) -> Any:
        kept_topics[topic] = kept

        def write(message: Any) -> None:
            assert isinstance(message, kind)
            written.setdefault(topic, []).append(message)

        return SimpleNamespace(write=write)

    made = object.__new__(dds.DdsWatcher)
    made._types = dds.load_types()
    monkeypatch.setattr(dds.DdsWatcher, "_writer", writer)
    return made, written, kept_topics


def stamp_of(header: Any) -> int:
    return int(header.stamp.sec) * 10**9 + int(header.stamp.nanosec)


def test_topics_of_ros_2(watcher: tuple[dds.DdsWatcher, dict[str, list[Any]], dict[str, bool]]) -> None:
    made, written, kept = watcher
    send = made.prepare(seen())
    assert not written, "only prepared"
    send()
    assert {topic: len(messages) for topic, messages in written.items()} == {
        "clock": 1, "tf": 1, "front-left/points": 1, "front-left/imu": 2, "tf_static": 1, "front-left/image_raw": 1,
    }  # fmt: skip
    assert [topic for topic, keeps in kept.items() if keeps] == ["tf_static"]
    assert (written["clock"][0].clock.sec, written["clock"][0].clock.nanosec) == (1_700_000_000, 350_000_001)
    edges = written["tf"][0].transforms
    assert [(edge.header.frame_id, edge.child_frame_id, stamp_of(edge.header)) for edge in edges] == [
        ("map", "front-left", START), ("map", "front-left", END),
    ]  # fmt: skip
    moved, turn = edges[1].transform.translation, edges[1].transform.rotation
    assert [moved.x, moved.y, moved.z] == [4, 5, 6]
    assert [turn.x, turn.y, turn.z, turn.w] == pytest.approx([0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    (fixed,) = written["tf_static"][0].transforms
    turn = fixed.transform.rotation
    assert (fixed.header.frame_id, fixed.child_frame_id) == ("front-left", "front-left_optical")
    assert stamp_of(fixed.header) == START and [turn.x, turn.y, turn.z, turn.w] == OPTICAL.quaternion.tolist()
    written.clear()
    made.prepare(seen(picture=False, imu=False))()
    assert set(written) == {"clock", "tf", "front-left/points"}


def test_a_cloud_of_ros_2(watcher: tuple[dds.DdsWatcher, dict[str, list[Any]], dict[str, bool]]) -> None:
    made, written, _ = watcher
    made.prepare(seen())()
    (cloud,) = written["front-left/points"]
    assert stamp_of(cloud.header) == START and cloud.header.frame_id == "front-left"
    assert (cloud.height, cloud.width, cloud.point_step, cloud.row_step) == (1, 2, 24, 48)
    assert [(f.name, f.offset, f.datatype, f.count) for f in cloud.fields] == [(*field, 1) for field in FIELDS]
    assert not cloud.is_bigendian and cloud.is_dense and bytes(cloud.data) == seen().points.tobytes()


def test_readings_and_pictures_of_ros_2(watcher: tuple[dds.DdsWatcher, dict[str, list[Any]], dict[str, bool]]) -> None:
    """An orientation that is not known is marked by −1 at the head of its covariance (sensor_msgs/Imu)."""
    made, written, _ = watcher
    made.prepare(seen())()
    for message, time_ns, force, rate in zip(
        written["front-left/imu"], (START + 1, START + 10_000_000), ([0, 0, 9.8], [1, 2, 3]), ([0, 0, 0.1], [4, 5, 6]), strict=True
    ):  # fmt: skip
        assert stamp_of(message.header) == time_ns and message.header.frame_id == "front-left"
        turn, felt, turned = message.orientation, message.linear_acceleration, message.angular_velocity
        assert [turn.x, turn.y, turn.z, turn.w] == [0, 0, 0, 1] and list(message.orientation_covariance) == [
            -1,
            *[0] * 8,
        ]
        assert [felt.x, felt.y, felt.z] == force and [turned.x, turned.y, turned.z] == rate
        assert not any(message.linear_acceleration_covariance) and not any(message.angular_velocity_covariance)
        assert len(message.linear_acceleration_covariance) == len(message.angular_velocity_covariance) == 9
    (image,) = written["front-left/image_raw"]
    assert stamp_of(image.header) == START and image.header.frame_id == "front-left_optical"
    assert (image.height, image.width, image.encoding, image.is_bigendian, image.step) == (2, 3, "rgb8", 0, 9)
    assert bytes(image.data) == PICTURE.tobytes()


def test_clouds_and_pictures_as_cdr(watcher: tuple[dds.DdsWatcher, dict[str, list[Any]], dict[str, bool]]) -> None:
    """Little-endian; numbers at multiples of four behind the first four bytes, texts with their length and a zero."""
    made, written, _ = watcher
    made.prepare(seen())()

    def text(value: bytes) -> bytes:
        return struct.pack("<I", len(value) + 1) + value + b"\0"

    def padded(*parts: bytes) -> bytes:
        out = b""
        for part in parts:
            out += bytes(-len(out) % 4) + part
        return out

    sec, nano = divmod(START, 10**9)
    fields = [
        part
        for name, at, kind in FIELDS
        for part in (text(name.encode()), struct.pack("<I", at), bytes([kind]), struct.pack("<I", 1))
    ]
    plain = [
        struct.pack("<II", sec, nano), text(b"front-left"), struct.pack("<II", 1, 2), struct.pack("<I", 7), *_packed(fields),
    ]  # fmt: skip
    raw = written["front-left/points"][0].serialize()
    wanted = padded(*plain) + b"\0"
    wanted += bytes(-len(wanted) % 4) + struct.pack("<III", 24, 48, 48) + seen().points.tobytes() + b"\1"
    assert raw == b"\0\1\0\0" + wanted
    image = written["front-left/image_raw"][0].serialize()
    wanted = (
        padded(struct.pack("<II", sec, nano), text(b"front-left_optical"), struct.pack("<II", 2, 3), text(b"rgb8"))
        + b"\0"
    )
    wanted += bytes(-len(wanted) % 4) + struct.pack("<II", 9, 18) + PICTURE.tobytes()
    assert image == b"\0\1\0\0" + wanted


def _packed(parts: list[bytes]) -> list[bytes]:
    """A type's single byte follows its place without a gap."""
    out: list[bytes] = []
    for part in parts:
        if len(part) == 1 and out:
            out[-1] += part
        else:
            out.append(part)
    return out


def test_domains_and_interfaces() -> None:
    for domain in (-1, 233):
        with pytest.raises(InputError, match="dds domain: must be a whole number from 0 to 232"):
            dds.DdsWatcher(domain)
    assert '<NetworkInterface name="eth0" multicast="true"/>' in dds.settings_of("eth0")
    assert '<NetworkInterface name="lo" multicast="default"/>' in dds.settings_of("lo")


def test_how_each_topic_of_dds_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliable, the last five, or of what is kept for late listeners the last; a topic has one writer."""
    made: list[tuple[str, Any, list[Any]]] = []

    def load(name: str, **_: object) -> Any:
        policy = SimpleNamespace(
            Durability=SimpleNamespace(TransientLocal="kept", Volatile="gone"),
            Reliability=SimpleNamespace(Reliable=lambda max_blocking_time: ("reliable", max_blocking_time)),
            History=SimpleNamespace(KeepLast=lambda depth: ("last", depth)),
            DataRepresentation=lambda use_cdrv0_representation: ("cdr", use_cdrv0_representation),
        )
        return SimpleNamespace(
            Policy=policy, Qos=lambda *how: list(how), Topic=lambda _, topic, kind, qos: made.append((topic, kind, qos)) or topic,
            DataWriter=lambda _, topic, qos: f"writer of {topic}",
        )  # fmt: skip

    monkeypatch.setattr(dds, "load_extra", load)
    watcher = object.__new__(dds.DdsWatcher)
    watcher._writers, watcher._participant = {}, None
    assert watcher._writer("front-left/points", "cloud") == "writer of rt/front_left/points"
    assert watcher._writer("front-left/points", "cloud") == "writer of rt/front_left/points"
    watcher._writer("tf_static", "tf", kept=True)
    plain = [("reliable", 1_000_000), ("last", 5), "gone", ("cdr", True)]
    once = [("reliable", 1_000_000), ("last", 1), "kept", ("cdr", True)]
    assert made == [("rt/front_left/points", "cloud", plain), ("rt/tf_static", "tf", once)]


def foxglove_of(monkeypatch: pytest.MonkeyPatch, **how: Any) -> tuple[foxglove.FoxgloveWatcher, list[tuple[Any, ...]]]:
    """A watcher with a stand-in for the library: every channel, time and message that it was given."""
    told: list[tuple[Any, ...]] = []

    class Messages:
        PackedElementFieldNumericType = SimpleNamespace(Float32="f4", Uint16="u2")

        def __getattr__(self, name: str) -> Any:
            return lambda *values, **named: (name, *values, named) if named else (name, *values)

    class Channels:
        def __getattr__(self, name: str) -> Any:
            def opened(topic: str, context: object) -> Any:
                told.append(("open", topic, name))
                return SimpleNamespace(log=lambda message, log_time: told.append((topic, message, log_time)))

            return opened

    def start_server(**named: Any) -> Any:
        told.append(("server", named["host"], named["port"]))
        if named["port"] == 1:
            raise RuntimeError("taken")
        return SimpleNamespace(
            port=99, broadcast_time=lambda ns: told.append(("time", ns)), stop=lambda: told.append(("stop",))
        )

    library = SimpleNamespace(
        Context=lambda: None, start_server=start_server, websocket=SimpleNamespace(Capability=SimpleNamespace(Time=1))
    )
    loaded = {"foxglove.messages": Messages(), "foxglove.channels": Channels(), "foxglove": library}
    monkeypatch.setattr(foxglove, "load_extra", lambda name, **_: loaded[name])
    return foxglove.FoxgloveWatcher(**how), told


def test_what_foxglove_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges and points at the end of the frame, the picture at its start; the clock is that of the frame's end."""
    made, told = foxglove_of(monkeypatch, names=["front-left"], pictures=True)
    assert told == [
        ("open", "/tf", "FrameTransformsChannel"), ("open", "/front-left/points", "PointCloudChannel"),
        ("open", "/front-left/image", "RawImageChannel"), ("server", "127.0.0.1", 8765),
    ]  # fmt: skip
    assert made.port == 99
    told.clear()
    send = made.prepare(seen())
    assert not told
    send()
    assert told[0] == ("time", END) and [(topic, time) for topic, _, time in told[1:]] == [
        ("/tf", END), ("/front-left/points", END), ("/front-left/image", START),
    ]  # fmt: skip
    edges = told[1][1][-1]["transforms"]
    named = [edge[-1] for edge in edges]
    assert [(e["parent_frame_id"], e["child_frame_id"], e["timestamp"]) for e in named] == [
        ("map", "front-left", ("Timestamp", 1_700_000_000, 250_000_000)),
        ("map", "front-left", ("Timestamp", 1_700_000_000, 350_000_001)),
        ("front-left", "front-left_optical", ("Timestamp", 1_700_000_000, 250_000_000)),
    ]
    assert named[1]["translation"][1] == {"x": 4.0, "y": 5.0, "z": 6.0}
    assert named[2]["rotation"][1] == {"x": -0.5, "y": 0.5, "z": -0.5, "w": 0.5}
    cloud, image = told[2][1][-1], told[3][1][-1]
    assert (
        cloud["point_stride"] == 24 and cloud["data"] == seen().points.tobytes() and cloud["frame_id"] == "front-left"
    )
    assert cloud["timestamp"] == ("Timestamp", 1_700_000_000, 250_000_000)
    assert cloud["pose"][-1]["position"][1] == {"x": 0.0, "y": 0.0, "z": 0.0}
    assert cloud["pose"][-1]["orientation"][1] == {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}
    kinds = {7: "f4", 4: "u2"}
    assert [field[1] for field in cloud["fields"]] == [
        {"name": n, "offset": at, "type": kinds[kind]} for n, at, kind in FIELDS
    ]
    assert image | {"data": b"", "timestamp": 0} == {
        "timestamp": 0, "frame_id": "front-left_optical", "width": 3, "height": 2, "encoding": "rgb8", "step": 9, "data": b"",
    }  # fmt: skip
    assert image["data"] == PICTURE.tobytes()
    told.clear()
    made.prepare(seen(picture=False))()
    assert len(told[1][1][-1]["transforms"]) == 2 and [topic for topic, *_ in told] == [
        "time",
        "/tf",
        "/front-left/points",
    ]
    made.close()
    assert told[-1] == ("stop",)


def test_foxglove_where_it_cannot_be_served(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match="h:1: Foxglove cannot be served there"):
        foxglove_of(monkeypatch, host="h", port=1)
    _, told = foxglove_of(monkeypatch, names=["a", "b"])
    assert [word for word, *_ in told] == ["open"] * 3 + ["server"], "without pictures no topic for them"


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("foxglove", ("foxglove", "127.0.0.1", 8765)),
        (" FOXGLOVE:9000 ", ("foxglove", "127.0.0.1", 9000)),
        ("foxglove:0.0.0.0:0", ("foxglove", "0.0.0.0", 0)),
        ("foxglove:h:65535", ("foxglove", "h", 65535)),
        ("rerun", ("rerun", "127.0.0.1", 9876)),
        ("rerun:h:1234", ("rerun", "h", 1234)),
        ("rerun:some where.rrd", ("rerun file", Path("some where.rrd"))),
        ("dds", ("dds", 0, "lo")),
        ("dds:7", ("dds", 7, "lo")),
        ("dds:7@eth0", ("dds", 7, "eth0")),
        ("dds:@eth0", ("dds", 0, "eth0")),
    ],
)
def test_watchers_as_people_write_them(monkeypatch: pytest.MonkeyPatch, text: str, opened: tuple[Any, ...]) -> None:
    monkeypatch.setattr(targets, "FoxgloveWatcher", lambda *at, names, pictures: ("foxglove", *at))
    monkeypatch.setattr(
        targets, "RerunWatcher", lambda *at, path=None: ("rerun file", path) if path else ("rerun", *at)
    )
    monkeypatch.setattr(targets, "DdsWatcher", lambda *at: ("dds", *at))
    assert is_watcher(text) and open_watcher(text) == opened


def test_what_is_no_watcher() -> None:
    for text in ("127.0.0.1:2368", "fox", "[::1]:5", ""):
        assert not is_watcher(text)
        with pytest.raises(InputError, match="--to: must begin with one of foxglove, rerun, dds"):
            open_watcher(text)
    for text in ("foxglove:h", "foxglove:h:65536", "rerun:h:", "foxglove:-1"):
        with pytest.raises(InputError, match="--to: must end in a port"):
            open_watcher(text)
    with pytest.raises(InputError, match="--to: must be dds, dds:DOMAIN or dds:DOMAIN@INTERFACE"):
        open_watcher("dds:lo")
