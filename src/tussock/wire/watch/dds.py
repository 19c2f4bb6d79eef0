"""ROS 2 topics without ROS: by DDS, as rmw_cyclonedds and rmw_fastrtps speak it (extra ``dds``).

| topic | type | when |
|---|---|---|
| ``/NAME/points`` | sensor_msgs/PointCloud2: x, y, z, intensity, ring, label, time | every frame |
| ``/NAME/imu`` | sensor_msgs/Imu | every frame, all its samples |
| ``/NAME/image_raw`` | sensor_msgs/Image, rgb8 | with a picture |
| ``/tf``, ``/tf_static`` | tf2_msgs/TFMessage: map to NAME, NAME to NAME_optical | every frame |
| ``/clock`` | rosgraph_msgs/Clock | every frame |

Topics and types have the names that ROS 2 gives them on DDS (``rt/…``, ``sensor_msgs::msg::dds_::PointCloud2_``), with
reliable delivery and a history of the last few. Only this machine hears it, by the loopback interface, unless another is
named; the domain is 0, as ROS's is, unless told otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tussock.errors import InputError, OutputError, cause
from tussock.extras import load_extra
from tussock.poses import Pose
from tussock.wire.watch.seen import MAP, OPTICAL, POINT, Seen

__all__ = ["DdsWatcher"]

_DATATYPES = {"<f4": 7, "<u2": 4}  # sensor_msgs/PointField
_DEPTH = 5


class DdsWatcher:
    """Publishes frames in a domain, on one network interface."""

    def __init__(self, domain: int = 0, interface: str = "lo") -> None:
        if not 0 <= domain <= 232:
            raise InputError.of("dds domain", "must be a whole number from 0 to 232", domain)
        self._types = load_types()
        dds_domain = load_extra("cyclonedds.domain", extra="dds", purpose="ROS 2 topics")
        try:
            # Held as long as the watcher: the domain's settings go with it.
            self._domain = dds_domain.Domain(domain, settings_of(interface))
            self._participant = dds_domain.DomainParticipant(domain)
        except Exception as error:  # the library has its own
            raise OutputError(f"dds: no participant at interface {interface!r} ({cause(error)})") from None
        self._writers: dict[str, Any] = {}

    def prepare(self, seen: Seen) -> Callable[[], None]:
        t = self._types
        told: list[tuple[Any, Any]] = [
            (self._writer("clock", t.Clock), t.Clock(time_message(t, seen.end_ns))),
            (
                self._writer("tf", t.TFMessage),
                t.TFMessage([edge_message(t, place.time_ns, MAP, seen.name, place.pose) for place in seen.places]),
            ),
            (self._writer(f"{seen.name}/points", t.PointCloud2), cloud_message(t, seen)),
        ]
        if seen.imu is not None:
            writer = self._writer(f"{seen.name}/imu", t.Imu)
            told += [(writer, message) for message in imu_messages(t, seen)]
        if seen.picture is not None:
            optical = f"{seen.name}_optical"
            fixed = t.TFMessage([edge_message(t, seen.start_ns, seen.name, optical, OPTICAL)])
            told.append((self._writer("tf_static", t.TFMessage, kept=True), fixed))
            told.append((self._writer(f"{seen.name}/image_raw", t.Image), image_message(t, seen, optical)))

        def send() -> None:
            for writer, message in told:
                writer.write(message)

        return send

    def close(self) -> None:
        self._writers.clear()
        del self._participant, self._domain

    def _writer(self, topic: str, kind: Any, *, kept: bool = False) -> Any:
        if topic not in self._writers:
            core = load_extra("cyclonedds.qos", extra="dds", purpose="ROS 2 topics")
            policy, qos = core.Policy, core.Qos
            durable = policy.Durability.TransientLocal if kept else policy.Durability.Volatile
            # A listener that does not take in what it gets must not hold the sensor up.
            reliable = policy.Reliability.Reliable(max_blocking_time=1_000_000)
            plain = policy.DataRepresentation(use_cdrv0_representation=True)
            how = qos(reliable, policy.History.KeepLast(1 if kept else _DEPTH), durable, plain)
            topics = load_extra("cyclonedds.topic", extra="dds", purpose="ROS 2 topics")
            pub = load_extra("cyclonedds.pub", extra="dds", purpose="ROS 2 topics")
            named = topics.Topic(self._participant, f"rt/{topic.replace('-', '_')}", kind, qos=how)
            self._writers[topic] = pub.DataWriter(self._participant, named, qos=how)
        return self._writers[topic]


def settings_of(interface: str) -> str:
    """Cyclone DDS's configuration: one interface, and found without multicast where it has none."""
    return (
        "<CycloneDDS><Domain><General><Interfaces>"
        f'<NetworkInterface name="{interface}" multicast="{"true" if interface != "lo" else "default"}"/>'
        "</Interfaces><AllowMulticast>true</AllowMulticast><MaxMessageSize>65500B</MaxMessageSize></General>"
        "<Discovery><ParticipantIndex>auto</ParticipantIndex>"
        '<Peers><Peer address="localhost"/></Peers></Discovery>'
        "</Domain></CycloneDDS>"
    )


def time_message(t: Any, time_ns: int) -> Any:
    return t.Time(*divmod(time_ns, 1_000_000_000))


def _header(t: Any, time_ns: int, frame_id: str) -> Any:
    return t.Header(time_message(t, time_ns), frame_id)


def edge_message(t: Any, time_ns: int, parent: str, child: str, pose: Pose) -> Any:
    turn = t.Transform(t.Vector3(*map(float, pose.position)), t.Quaternion(*map(float, pose.quaternion)))
    return t.TransformStamped(_header(t, time_ns, parent), child, turn)


def cloud_message(t: Any, seen: Seen) -> Any:
    assert POINT.fields is not None
    fields = [
        t.PointField(name, int(POINT.fields[name][1]), _DATATYPES[POINT[name].str], 1) for name in POINT.names or ()
    ]
    count = len(seen.points)
    return t.PointCloud2(
        _header(t, seen.start_ns, seen.name), 1, count, fields, False, POINT.itemsize, POINT.itemsize * count,
        seen.points.tobytes(), True,
    )  # fmt: skip


def imu_messages(t: Any, seen: Seen) -> list[Any]:
    assert seen.imu is not None
    unknown, none = [-1.0, *[0.0] * 8], [0.0] * 9
    return [
        t.Imu(
            _header(t, int(time_ns), seen.name), t.Quaternion(0.0, 0.0, 0.0, 1.0), unknown,
            t.Vector3(*map(float, rate)), none, t.Vector3(*map(float, force)), none,
        )
        for time_ns, rate, force in zip(seen.imu_ns, seen.imu.rate, seen.imu.force, strict=True)
    ]  # fmt: skip


def image_message(t: Any, seen: Seen, frame_id: str) -> Any:
    assert seen.picture is not None
    height, width, _ = seen.picture.shape
    data = np.ascontiguousarray(seen.picture).tobytes()
    return t.Image(_header(t, seen.start_ns, frame_id), height, width, "rgb8", 0, 3 * width, data)


def load_types() -> Any:
    """The messages, once the library is there: `tussock.wire.watch.dds_types`."""
    load_extra("cyclonedds.idl", extra="dds", purpose="ROS 2 topics")
    with contextlib.suppress(ImportError):
        from tussock.wire.watch import dds_types

        return dds_types
    raise OutputError("dds: its messages cannot be loaded")
