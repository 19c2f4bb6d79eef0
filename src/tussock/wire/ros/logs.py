"""Where ROS messages go: one MCAP file, the folder of a rosbag2, or the file of a rosbag1 (ROS 1).

A topic that is told once, ``/tf_static``, is marked as "transient local": a player keeps the message for whoever
listens later. Unmarked, ROS 2 would not let tf2 hear it at all.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

from tussock.errors import OutputError
from tussock.extras import load_extra
from tussock.whole_files import whole_file, whole_folder
from tussock.wire.ros.messages import RosMessages, ros1_types

__all__ = ["MessageLog", "open_growing_mcap", "open_mcap", "open_rosbag1", "open_rosbag2"]

_TOLD_ONCE = ("/tf_static",)
_FOREVER = {"sec": 9223372036, "nsec": 854775807}
_KEPT: dict[str, Any] = {
    "history": 1,  # the last
    "depth": 1,
    "reliability": 1,  # reliable
    "durability": 1,  # transient local
    "deadline": _FOREVER,
    "lifespan": _FOREVER,
    "liveliness": 1,  # automatic
    "liveliness_lease_duration": _FOREVER,
    "avoid_ros_namespace_conventions": False,
}
"""rmw_qos_profile_t of a message that is kept for late listeners"""


class MessageLog(Protocol):
    """Takes messages in any number of topics; each is on the disk soon after."""

    def write(self, topic: str, kind: str, nanoseconds: int, data: bytes) -> None:
        """Add a serialised message of type ``kind`` with its Unix time."""


@contextmanager
def open_mcap(path: Path, messages: RosMessages, *, force: bool = False) -> Iterator[MessageLog]:
    """An MCAP file for ROS 2; it appears under its name when all is written."""
    library = load_extra("mcap.writer", extra="ros", purpose="an MCAP file")
    with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
        writer = library.Writer(file)
        writer.start(profile="ros2", library="tussock")
        yield _Mcap(writer, messages)
        writer.finish()


@contextmanager
def open_growing_mcap(path: Path, messages: RosMessages, *, chunk_bytes: int = 65536) -> Iterator[MessageLog]:
    """An MCAP file for ROS 2 that is there from the start and grows chunk by chunk.

    What ends the program early, even a kill, leaves all whole chunks: `mcap recover`, or any reader that goes from front
    to back, finds them.
    """
    library = load_extra("mcap.writer", extra="ros", purpose="an MCAP file")
    try:
        # Unbuffered: a chunk is the system's as soon as it is written.
        with path.open("wb", buffering=0) as file:
            writer = library.Writer(_Whole(file), chunk_size=chunk_bytes, compression=library.CompressionType.LZ4)
            writer.start(profile="ros2", library="tussock")
            try:
                yield _Mcap(writer, messages)
            finally:
                writer.finish()
    except OSError as error:
        why = "no space left on the disk" if error.errno == errno.ENOSPC else str(error.strerror)
        raise OutputError(f"{path}: cannot be written ({why})") from None


class _Whole:
    """A raw file that writes all that it is given."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.tell = file.tell

    def write(self, data: bytes) -> int:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""


class _Mcap:
    def __init__(self, writer: Any, messages: RosMessages) -> None:
        self._writer, self._messages = writer, messages
        self._channels: dict[str, int] = {}
        self._schemas: dict[str, int] = {}

    def write(self, topic: str, kind: str, nanoseconds: int, data: bytes) -> None:
        if kind not in self._schemas:
            text = self._messages.definition(kind).encode()
            self._schemas[kind] = self._writer.register_schema(kind, "ros2msg", text)
        if topic not in self._channels:
            # JSON is YAML too, which rosbag2 reads here.
            kept = {"offered_qos_profiles": json.dumps([_KEPT])} if topic in _TOLD_ONCE else {}
            self._channels[topic] = self._writer.register_channel(topic, "cdr", self._schemas[kind], kept)
        self._writer.add_message(self._channels[topic], nanoseconds, data, nanoseconds)


@contextmanager
def open_rosbag2(path: Path, messages: RosMessages, *, force: bool = False) -> Iterator[MessageLog]:
    """The folder of a rosbag2 (SQLite); it appears under its name when all is written."""
    library = load_extra("rosbags.rosbag2", extra="ros", purpose="a rosbag2")
    with whole_folder(path, force=force) as temporary:
        try:
            # Version 8 is what every ROS 2 from Humble on reads.
            with library.Writer(temporary, version=8) as writer:
                yield _Rosbag2(writer, messages)
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise OSError(errno.ENOSPC, "no space left on the disk") from None
            raise OutputError(f"{path}: cannot be written ({error})") from None


class _Rosbag2:
    def __init__(self, writer: Any, messages: RosMessages) -> None:
        self._writer, self._messages = writer, messages
        self._connections: dict[str, Any] = {}

    def write(self, topic: str, kind: str, nanoseconds: int, data: bytes) -> None:
        if topic not in self._connections:
            store = self._messages.types
            self._connections[topic] = self._writer.add_connection(
                topic, kind, typestore=store, offered_qos_profiles=[_kept()] if topic in _TOLD_ONCE else []
            )
        self._writer.write(self._connections[topic], nanoseconds, data)


@contextmanager
def open_rosbag1(path: Path, messages: RosMessages, *, force: bool = False) -> Iterator[MessageLog]:
    """A rosbag of ROS 1; it appears under its name when all is written."""
    library = load_extra("rosbags.rosbag1", extra="ros", purpose="a rosbag")
    with whole_file(path, force=force) as temporary:
        # It refuses a file that exists, and this one does, with a lock on it: it is handed the open file instead.
        writer = library.Writer(temporary.with_name(temporary.name + ".new"))
        writer.path = SimpleNamespace(open=lambda mode: temporary.open("wb"))
        with writer:
            yield _Rosbag1(writer, messages)


class _Rosbag1:
    def __init__(self, writer: Any, messages: RosMessages) -> None:
        self._writer, self._messages = writer, messages
        self._connections: dict[str, Any] = {}

    def write(self, topic: str, kind: str, nanoseconds: int, data: bytes) -> None:
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                topic, kind, typestore=ros1_types(), latching=1 if topic in _TOLD_ONCE else None
            )
        self._writer.write(self._connections[topic], nanoseconds, self._messages.types.cdr_to_ros1(data, kind))


def _kept() -> Any:
    """`_KEPT` in the words of rosbags."""
    words = load_extra("rosbags.interfaces", extra="ros", purpose="a rosbag2")
    kinds = {
        "history": words.QosHistory,
        "reliability": words.QosReliability,
        "durability": words.QosDurability,
        "liveliness": words.QosLiveliness,
    }
    forever = words.QosTime(**_FOREVER)
    return words.Qos(
        **{
            name: kinds[name](value) if name in kinds else forever if value is _FOREVER else value
            for name, value in _KEPT.items()
        }
    )
