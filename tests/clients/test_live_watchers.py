"""Live streams read by other programs: Foxglove's protocol by a WebSocket client, ROS 2's topics by DDS, Rerun's files."""

from __future__ import annotations

import asyncio
import json
import random
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.watch.foxglove import FoxgloveWatcher
from tussock.wire.watch.seen import look_at

SCENE = '[[objects]]\nname = "wall"\nbox = { size_m = [0.2, 30.0, 30.0] }\nposition_m = [4.0, 0.0, 0.0]\n'
POINT = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("label", "<u2"), ("time", "<f4")]
)


@contextmanager
def streaming(folder: Path, *words: str) -> Iterator[subprocess.Popen]:
    """``tussock stream`` of an Ouster before a wall, in a process of its own."""
    (folder / "wall.toml").write_text(SCENE)
    command = [sys.executable, "-c", "from tussock.cli.app import main; main()", "stream", str(folder / "wall.toml")]
    running = subprocess.Popen(
        [*command, "--sensor", "os1-32-rev7", "--rays", "1", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def check_cloud(points: np.ndarray) -> None:
    assert len(points) > 5000
    ahead = points[(points["x"] > 0) & (abs(points["y"]) < 1) & (abs(points["z"]) < 0.5)]
    assert ahead["x"].mean() == pytest.approx(3.9, abs=0.02)
    assert set(np.unique(points["ring"])) == set(range(32))
    assert points["time"].min() >= 0 and points["time"].max() < 0.1


def protobuf(data: bytes) -> dict[int, list]:
    """The fields of a message by number, the slow way."""
    fields: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if not data[at - 1] & 128:
                return value

    while at < len(data):
        number, wire = divmod(varint(), 8)
        if wire == 0:
            value: object = varint()
        elif wire == 2:
            size = varint()
            value, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[wire]
            value, at = data[at : at + size], at + size
        fields.setdefault(number, []).append(value)
    return fields


async def listen(port: int, wanted: int, name: str = "os1-32-rev7") -> dict[str, list[tuple[int, bytes]]]:
    """Subscribe to every topic of a Foxglove server; messages with their times by topic."""
    websockets = pytest.importorskip("websockets", reason="needs websockets: pip install websockets")
    for _ in range(300):
        try:
            connection = await websockets.connect(
                f"ws://127.0.0.1:{port}", subprotocols=["foxglove.sdk.v1"], max_size=None
            )
            break
        except OSError:
            await asyncio.sleep(0.2)
    topics: dict[int, str] = {}
    told: dict[str, list[tuple[int, bytes]]] = {"clock": []}
    async with connection:
        # The requests for topics are heard one after the other, between them frames may go by.
        while len(told.get(f"/{name}/points", [])) < wanted or not set(topics.values()) <= set(told):
            # Nothing is told until the first scan of the process is compiled.
            message = await asyncio.wait_for(connection.recv(), 240)
            if isinstance(message, str):
                for channel in json.loads(message).get("channels", []):
                    topics[channel["id"]] = channel["topic"]
                    assert channel["encoding"] == "protobuf"
                    ask = {"op": "subscribe", "subscriptions": [{"id": channel["id"], "channelId": channel["id"]}]}
                    await connection.send(json.dumps(ask))
            elif message[0] == 1:
                channel, stamp = struct.unpack_from("<IQ", message, 1)
                told.setdefault(topics[channel], []).append((stamp, message[13:]))
            elif message[0] == 2:
                told["clock"].append((struct.unpack_from("<Q", message, 1)[0], b""))
    return told


def test_foxglove_is_read_by_a_websocket_client(tmp_path: Path) -> None:
    pytest.importorskip("foxglove", reason="needs foxglove-sdk: pip install 'tussock[foxglove]'")
    port = random.randint(20_000, 40_000)
    with streaming(tmp_path, "--to", f"foxglove:{port}", "--camera", "32x24", "--seconds", "60"):
        told = asyncio.run(listen(port, 6))
    clouds = told["/os1-32-rev7/points"]
    # Every revolution, one after the other, whatever the machine is busy with.
    assert np.diff([stamp for stamp, _ in clouds]).tolist() == [100_000_000] * (len(clouds) - 1)
    for _, data in clouds:
        cloud = protobuf(data)
        assert cloud[2] == [b"os1-32-rev7"] and cloud[4] == [struct.pack("<I", 24)]
        assert [protobuf(field)[1][0] for field in cloud[5]] == [name.encode() for name in POINT.names]
        check_cloud(np.frombuffer(cloud[6][0], POINT))
    parents = {(protobuf(edge)[2][0], protobuf(edge)[3][0]) for _, data in told["/tf"] for edge in protobuf(data)[1]}
    assert parents == {(b"map", b"os1-32-rev7"), (b"os1-32-rev7", b"os1-32-rev7_optical")}
    image = protobuf(told["/os1-32-rev7/image"][0][1])
    assert len(image[6][0]) == 32 * 24 * 3 and image[4] == [b"rgb8"]
    assert abs(told["clock"][-1][0] * 1e-9 - time.time()) < 30


def test_whoever_comes_to_foxglove_in_the_middle_hears_every_topic() -> None:
    pytest.importorskip("foxglove", reason="needs foxglove-sdk: pip install 'tussock[foxglove]'")
    sensor = load_sensor("vlp-16")
    seen = look_at(made_frame(sensor), sensor, "front", 0, np.zeros((4, 4, 3), np.uint8))
    watcher = FoxgloveWatcher(port=0, names=["front"], pictures=True)
    done = threading.Event()

    def tell() -> None:
        while not done.wait(0.01):
            watcher.prepare(seen)()

    teller = threading.Thread(target=tell)
    teller.start()
    try:
        for _ in range(20):
            told = asyncio.run(listen(watcher.port, 2, "front"))
            assert set(told) == {"clock", "/tf", "/front/points", "/front/image"}
            for _, data in told["/tf"]:
                edges = [protobuf(edge) for edge in protobuf(data)[1]]
                assert [(edge[2][0], edge[3][0]) for edge in edges] == [
                    (b"map", b"front"),
                    (b"front", b"front_optical"),
                ]
    finally:
        done.set()
        teller.join()
        watcher.close()


def test_dds_topics_are_read_in_another_process(tmp_path: Path) -> None:
    pytest.importorskip("cyclonedds", reason="needs cyclonedds: pip install 'tussock[dds]'")
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.qos import Policy, Qos
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic

    from tussock.wire.watch import dds_types as types
    from tussock.wire.watch.dds import settings_of

    number = random.randint(100, 200)
    domain = Domain(number, settings_of("lo"))
    participant = DomainParticipant(number)
    how = Qos(Policy.Reliability.Reliable(10**9), Policy.History.KeepLast(20))
    kinds = {
        "os1_32_rev7/points": types.PointCloud2,
        "os1_32_rev7/imu": types.Imu,
        "tf": types.TFMessage,
        "clock": types.Clock,
    }
    readers = {
        name: DataReader(participant, Topic(participant, f"rt/{name}", kind), qos=how) for name, kind in kinds.items()
    }
    told: dict[str, list] = {name: [] for name in kinds}
    with streaming(tmp_path, "--to", f"dds:{number}", "--seconds", "60"):
        end = time.monotonic() + 240
        while time.monotonic() < end and len(told["os1_32_rev7/points"]) < 6:
            for name, reader in readers.items():
                told[name] += reader.take(N=50)
            time.sleep(0.02)
    del readers, participant, domain
    clouds = told["os1_32_rev7/points"]
    assert len(clouds) >= 6
    stamps = [cloud.header.stamp.sec * 1_000_000_000 + cloud.header.stamp.nanosec for cloud in clouds]
    assert np.diff(stamps).tolist() == [100_000_000] * (len(clouds) - 1)
    for cloud in clouds:
        assert cloud.header.frame_id == "os1-32-rev7" and cloud.point_step == 24
        check_cloud(np.frombuffer(bytes(cloud.data), POINT))
    felt = told["os1_32_rev7/imu"]
    assert len(felt) >= 30 and felt[0].linear_acceleration.z == pytest.approx(9.80665, abs=0.2)
    edge = told["tf"][0].transforms[0]
    assert (edge.header.frame_id, edge.child_frame_id) == ("map", "os1-32-rev7")
    clock = told["clock"][-1].clock
    assert abs(clock.sec + clock.nanosec * 1e-9 - time.time()) < 30


def test_messages_on_dds_are_those_of_ros(tmp_path: Path) -> None:
    """Byte for byte what rosbags makes of the same message."""
    pytest.importorskip("cyclonedds", reason="needs cyclonedds: pip install 'tussock[dds]'")
    pytest.importorskip("rosbags", reason="needs rosbags: pip install 'tussock[ros]'")
    from tussock.wire.ros.messages import RosMessages
    from tussock.wire.watch import dds

    sensor = load_sensor("os1-32-rev7")
    frame = made_frame(sensor, 3, pose=Pose.at(1, 2, 3, yaw=0.5))
    picture = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    seen = look_at(frame, sensor, "front", 1_700_000_000_123_456_789, picture)
    types = dds.load_types()
    store = RosMessages(sensor, epoch=0.0, frame_id="front").types
    for name, message in (
        ("sensor_msgs/msg/PointCloud2", dds.cloud_message(types, seen)),
        ("sensor_msgs/msg/Image", dds.image_message(types, seen, "front_optical")),
        ("sensor_msgs/msg/Imu", dds.imu_messages(types, seen)[2]),
        ("rosgraph_msgs/msg/Clock", types.Clock(dds.time_message(types, seen.end_ns))),
        (
            "tf2_msgs/msg/TFMessage",
            types.TFMessage(
                [dds.edge_message(types, seen.start_ns, "map", "front", Trajectory.standing(Pose.at(1)).pose(0))]
            ),
        ),
    ):
        raw = bytes(message.serialize(use_version_2=False))
        read = store.deserialize_cdr(raw, name)
        assert bytes(store.serialize_cdr(read, name)).rstrip(b"\0") == raw.rstrip(b"\0"), name


def test_rerun_reads_what_was_streamed(tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="needs rerun-sdk: pip install 'tussock[rerun]'")
    with streaming(tmp_path, "--to", "rerun:run.rrd", "--seconds", "5") as running:
        assert running.wait(240) == 0, running.stderr
    shown = subprocess.run(
        [sys.executable, "-m", "rerun", "rrd", "print", str(tmp_path / "run.rrd")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert shown.returncode == 0, shown.stderr
    assert "/map/os1-32-rev7/points" in shown.stdout and "Points3D" in shown.stdout + shown.stderr
