"""What ROS logs hold, read back: MCAP files, rosbag2 folders and rosbag1 files, ours and other people's.

Messages are those of any ROS: their definitions are taken from the log. Points are ``sensor_msgs/PointCloud2`` with
any fields; packets are ``velodyne_msgs/VelodyneScan``, which say more than points: every firing, without return too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, cause
from tussock.extras import load_extra
from tussock.wire.captures.datagrams import warn
from tussock.wire.firings import Firings
from tussock.wire.velodyne.firings import firings_of
from tussock.wire.velodyne.layout import PACKET_BYTES
from tussock.wire.velodyne.packet_stream import order_packets

__all__ = ["LOG_SUFFIXES", "Cloud", "is_log", "log_firings", "read_clouds"]

LOG_SUFFIXES = (".mcap", ".rosbag2", ".bag")
_POINTS, _PACKETS = "sensor_msgs/msg/PointCloud2", "velodyne_msgs/msg/VelodyneScan"
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
        chosen = _topic(path, log, _POINTS, topic)
        return [_cloud(path, chosen, log.read(kind, raw)) for kind, raw in log.messages(chosen)]


def log_firings(
    path: Path, *, topic: str | None = None, model: str | None = None, say: Callable[[str], None] = warn
) -> Firings | None:
    """Every firing in the packets of a log; None where it holds points only, or ``topic`` names points."""
    with _opened(path) as log:
        if _PACKETS not in log.kinds.values() or (topic is not None and log.kinds.get(topic) == _POINTS):
            return None
        chosen = _topic(path, log, _PACKETS, topic)
        payloads: list[NDArray[np.uint8]] = []
        times: list[float] = []
        for kind, raw in log.messages(chosen):
            for packet in log.read(kind, raw).packets:
                payloads.append(np.asarray(packet.data, np.uint8))
                times.append(_seconds(packet.stamp))
    whole = [k for k, payload in enumerate(payloads) if payload.shape == (PACKET_BYTES,)]
    if not whole:
        raise InputError(f"{path}: {chosen} holds no packets")
    raw_packets = np.stack([payloads[k] for k in whole])
    return firings_of(order_packets(path, raw_packets, np.array(times)[whole], model=model, say=say))


class _Log(NamedTuple):
    kinds: dict[str, str]
    """type by topic"""
    messages: Callable[[str], Iterator[tuple[str, bytes]]]
    """type and bytes of the messages of a topic, in their order"""
    read: Callable[[str, bytes], Any]


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

            def messages(topic: str) -> Iterator[tuple[str, bytes]]:
                for connection, _, raw in reader.messages([connections[topic]]):
                    yield connection.msgtype, raw

            yield _Log({topic: c.msgtype for topic, c in connections.items()}, messages, _reading(reader))
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

    def messages(topic: str) -> Iterator[tuple[str, bytes]]:
        for schema, _, message in reader.iter_messages(topics=[topic]):
            yield schema.name, message.data

    return _Log(kinds, messages, lambda kind, raw: store.deserialize_cdr(raw, kind))


def _topic(path: Path, log: _Log, kind: str, topic: str | None) -> str:
    known = sorted(name for name, of in log.kinds.items() if of == kind)
    if topic is not None:
        if topic not in known:
            raise InputError.of("unit", f"must be a topic of {path.name}: {', '.join(known) or 'none'}", topic)
        return topic
    if not known:
        raise InputError(
            f"{path}: holds no {kind.split('/')[-1]}; its topics are {', '.join(sorted(log.kinds)) or 'none'}"
        )
    if len(known) > 1:
        raise InputError(
            f"{path}: holds {kind.split('/')[-1]} in several topics, {', '.join(known)}; choose one with --unit"
        )
    return known[0]


def _seconds(stamp: Any) -> float:
    return float(stamp.sec) + float(stamp.nanosec) * 1e-9


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
