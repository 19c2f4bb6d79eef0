"""What ROS logs hold, read back: MCAP files, rosbag2 folders and rosbag1 files, ours and other people's.

Messages are those of any ROS: their definitions are taken from the log. Points are ``sensor_msgs/PointCloud2`` with
any fields, or Livox's ``CustomMsg`` where there are none. Packets say more than points, every firing, without return too:
Velodyne's ``VelodyneScan``, Hesai's ``PandarScan`` and ``UdpFrame``, Nebula's ``NebulaPackets``, and Ouster's ``PacketMsg``, whose
unit is told by the metadata in the log (a ``std_msgs/String``) or beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, cause
from tussock.extras import load_extra
from tussock.sensors.ouster_unit import OusterUnit, parse_unit, read_unit
from tussock.wire.captures.datagrams import Datagrams, Losses, warn
from tussock.wire.firings import Firings
from tussock.wire.livox.custom_msg import read_custom_msg
from tussock.wire.ouster.read import metadata_beside
from tussock.wire.read_firings import firings_among

__all__ = ["LOG_SUFFIXES", "Cloud", "is_log", "log_firings", "read_clouds"]

LOG_SUFFIXES = (".mcap", ".rosbag2", ".bag")
_POINTS, _LIVOX, _TEXT = "PointCloud2", "CustomMsg", "String"
_PACKETS = ("VelodyneScan", "PandarScan", "UdpFrame", "NebulaPackets", "PacketMsg")
"""messages that hold packets, of whatever package: its name differs between versions of a driver"""
_INERTIAL = "imu_packets"
"""how the topics of an Ouster's inertial packets end, which are messages of the same type"""
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 8: "f8"}
"""NumPy's types of ``sensor_msgs/PointField``"""
_SINCE = {"time": 1.0, "t": 1e-9, "offset_time": 1e-9, "time_offset": 1e-9}
"""fields that count from the message's stamp, and their unit [s]: LIO-SAM and Velodyne, Ouster, Livox"""
_ABSOLUTE = ("timestamp",)
_YEAR_2001 = 1e9


class Cloud(NamedTuple):
    """One message of points."""

    topic: str
    time: float
    """[s] Unix time of its stamp"""
    fields: dict[str, NDArray[Any]]
    """by name, each of shape (n,); ``time`` [s] is the Unix time of each point where the message knows it"""


def is_log(path: Path) -> bool:
    """Whether a path is that of a ROS log: by its name, or a folder with rosbag2's description."""
    return path.suffix.lower() in LOG_SUFFIXES or (path / "metadata.yaml").is_file()


def read_clouds(path: Path, *, topic: str | None = None) -> list[Cloud]:
    """The points of one topic, message by message; with several topics of points ``topic`` must name one."""
    with _opened(path) as log:
        # Livox's own message counts where there is no other, or where it is named.
        livox = topic in log.of(_LIVOX) or (not log.of(_POINTS) and bool(log.of(_LIVOX)))
        chosen = _topic(path, log, _LIVOX if livox else _POINTS, topic)
        if livox:
            return [_livox_cloud(path, chosen, raw, log.ros1) for _, raw, _ in log.messages(chosen)]
        return [_cloud(path, chosen, log.read(kind, raw)) for kind, raw, _ in log.messages(chosen)]


def log_firings(
    path: Path, *, topic: str | None = None, model: str | None = None, say: Callable[[str], None] = warn
) -> Firings | None:
    """Every firing in the packets of a log; None where it holds points only, or ``topic`` names points."""
    with _opened(path) as log:
        known = [name for name in log.of(*_PACKETS) if not name.endswith(_INERTIAL)]
        if not known or (topic is not None and log.kind(topic) in (_POINTS, _LIVOX)):
            return None
        chosen = _one(path, known, "packets", topic)
        found = _datagrams(path, log, chosen)
        told = _unit(path, log, chosen) if log.kind(chosen) == "PacketMsg" and model is None else None
    return firings_among(found, model=model, unit=None, say=say, told=told)


def _datagrams(path: Path, log: _Log, topic: str) -> Datagrams:
    """The packets of a topic as if they had been captured."""
    payloads: list[NDArray[np.uint8]] = []
    times: list[int] = []
    for kind, raw, logged in log.messages(topic):
        message = log.read(kind, raw)
        if hasattr(message, "packets"):
            for packet in message.packets:
                # Some messages have room for more than was sent, and say how much that is.
                payloads.append(np.asarray(packet.data, np.uint8)[: getattr(packet, "size", None)])
                times.append(_nanoseconds(packet.stamp) if hasattr(packet, "stamp") else logged)
        else:
            payloads.append(np.asarray(message.buf, np.uint8))
            times.append(logged)
    if not payloads:
        raise InputError(f"{path}: {topic} holds no packets")
    count = len(payloads)
    size = np.array([len(payload) for payload in payloads], np.int64)
    nobody, port = np.zeros((count, 16), np.uint8), np.zeros(count, np.uint16)
    return Datagrams(
        path, np.array(times, np.int64), nobody, nobody, port, port, np.zeros(count, np.int64), np.cumsum(size) - size,
        size, np.concatenate(payloads), Losses(),
    )  # fmt: skip


def _unit(path: Path, log: _Log, topic: str) -> OusterUnit:
    """The Ouster that sent packets: by the metadata in the log, of the topic's own place if there are several, or beside it."""
    found: dict[str, OusterUnit] = {}
    for name in log.of(_TEXT):
        for kind, raw, _ in log.messages(name):
            with suppress(ValueError, InputError):
                found[name] = parse_unit(json.loads(log.read(kind, raw).data), f"{path}: {name}")
                break
    near = [unit for name, unit in found.items() if name.rpartition("/")[0] == topic.rpartition("/")[0]]
    if len(near) == 1 or len(found) == 1:
        return (near or list(found.values()))[0]
    return read_unit(metadata_beside(path))


class _Log(NamedTuple):
    kinds: dict[str, str]
    """type by topic"""
    messages: Callable[[str], Iterator[tuple[str, bytes, int]]]
    """type, bytes and time of logging [ns] of the messages of a topic, in their order"""
    read: Callable[[str, bytes], Any]
    ros1: bool
    """whether messages are written as ROS 1 does"""

    def kind(self, topic: str) -> str:
        """The plain name of the type of a topic's messages; empty for no topic."""
        return self.kinds.get(topic, "").split("/")[-1]

    def of(self, *names: str) -> list[str]:
        """The topics of messages of these types."""
        return sorted(topic for topic in self.kinds if self.kind(topic) in names)


@contextmanager
def _opened(path: Path) -> Iterator[_Log]:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    rosbags = load_extra("rosbags.highlevel", extra="ros", purpose="a ROS log")
    try:
        if path.is_file() and path.suffix.lower() == ".mcap":
            with path.open("rb") as file:
                yield _mcap(file)
            return
        with rosbags.AnyReader([path]) as reader:
            connections = {connection.topic: connection for connection in reader.connections}

            def messages(topic: str) -> Iterator[tuple[str, bytes, int]]:
                for connection, logged, raw in reader.messages([connections[topic]]):
                    yield connection.msgtype, raw, logged

            kinds = {topic: connection.msgtype for topic, connection in connections.items()}
            yield _Log(kinds, messages, _reading(reader), not reader.is2)
    except InputError:
        raise
    except Exception as error:  # a damaged log can make its library stumble in any way
        raise InputError(f"{path}: not a readable ROS log ({cause(error)})") from None


def _reading(reader: Any) -> Callable[[str, bytes], Any]:
    return lambda kind, raw: reader.deserialize(raw, kind)


def _mcap(file: Any) -> _Log:
    """An MCAP file of its own, without the folder of a rosbag2."""
    reader = load_extra("mcap.reader", extra="ros", purpose="an MCAP file").make_reader(file)
    typesys = load_extra("rosbags.typesys", extra="ros", purpose="an MCAP file")
    store = typesys.get_typestore(typesys.Stores.EMPTY)
    summary = reader.get_summary()
    if summary is None:
        raise InputError("has no summary; the file was cut")
    kinds = {}
    for channel in summary.channels.values():
        schema = summary.schemas.get(channel.schema_id)
        if schema is None or channel.message_encoding != "cdr" or schema.encoding != "ros2msg":
            continue
        types = typesys.get_types_from_msg(schema.data.decode(), schema.name)
        store.register({name: table for name, table in types.items() if name not in store.fielddefs})
        kinds[channel.topic] = schema.name

    def messages(topic: str) -> Iterator[tuple[str, bytes, int]]:
        for schema, _, message in reader.iter_messages(topics=[topic]):
            yield schema.name, message.data, message.log_time

    return _Log(kinds, messages, lambda kind, raw: store.deserialize_cdr(raw, kind), False)


def _topic(path: Path, log: _Log, kind: str, topic: str | None) -> str:
    known = log.of(kind)
    if not known and topic is None:
        raise InputError(f"{path}: holds no {kind}; its topics are {', '.join(sorted(log.kinds)) or 'none'}")
    return _one(path, known, kind, topic)


def _one(path: Path, known: list[str], what: str, topic: str | None) -> str:
    """The topic that is named, or the only one."""
    if topic is not None:
        if topic not in known:
            raise InputError.of("unit", f"must be a topic of {path.name}: {', '.join(known) or 'none'}", topic)
        return topic
    if len(known) > 1:
        raise InputError(f"{path}: holds {what} in several topics, {', '.join(known)}; choose one with --unit")
    return known[0]


def _nanoseconds(stamp: Any) -> int:
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def _seconds(stamp: Any) -> float:
    return float(stamp.sec) + float(stamp.nanosec) * 1e-9


def _livox_cloud(path: Path, topic: str, raw: bytes, ros1: bool) -> Cloud:
    try:
        return Cloud(topic, *read_custom_msg(raw, ros=1 if ros1 else 2))
    except InputError as error:
        raise error.within(path) from None


def _cloud(path: Path, topic: str, message: Any) -> Cloud:
    stamp = _seconds(message.header.stamp)
    order = ">" if message.is_bigendian else "<"
    known = [field for field in message.fields if field.datatype in _TYPES and field.count == 1]
    form = np.dtype(
        {
            "names": [field.name for field in known],
            "formats": [order + _TYPES[field.datatype] for field in known],
            "offsets": [field.offset for field in known],
            "itemsize": message.point_step,
        }
    )
    count = message.width * message.height
    data = np.asarray(message.data, np.uint8)
    if len(data) < count * message.point_step or message.row_step < message.width * message.point_step:
        raise InputError(f"{path}: a message of points is shorter than it says; the log is damaged")
    rows = data[: message.height * message.row_step].reshape(message.height, -1)[
        :, : message.width * message.point_step
    ]
    records = np.ascontiguousarray(rows).reshape(-1).view(form)
    fields = {name: records[name].astype(records[name].dtype.newbyteorder("=")) for name in form.names or ()}
    for name, unit in _SINCE.items():
        if name in fields:
            fields["time"] = stamp + fields.pop(name).astype(np.float64) * unit
            break
    else:
        for name in _ABSOLUTE:
            if name in fields:
                told = fields.pop(name).astype(np.float64)
                # Seconds, or nanoseconds as Livox's driver has them.
                fields["time"] = told * 1e-9 if len(told) and np.nanmax(told) > 1e3 * _YEAR_2001 else told
    fields.setdefault("time", np.full(len(records), stamp))
    return Cloud(topic, stamp, fields)
