"""Foxglove: a WebSocket server that the Foxglove app connects to (extra ``foxglove``).

Topics: ``/NAME/points`` (PointCloud), ``/tf`` (FrameTransforms), ``/NAME/image`` (RawImage); the server's time is that of
the stream. Listens at 127.0.0.1:8765 unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tussock.errors import OutputError, cause
from tussock.extras import load_extra
from tussock.poses import Pose
from tussock.wire.watch.seen import MAP, OPTICAL, POINT, Seen

__all__ = ["FoxgloveWatcher"]

_TYPES = {"<f4": "Float32", "<u2": "Uint16"}


class FoxgloveWatcher:
    """Serves frames to any number of Foxglove apps."""

    def __init__(
        self, host: str = "127.0.0.1", port: int = 8765, *, names: Sequence[str] = (), pictures: bool = False
    ) -> None:
        """``names`` of the sensors, and whether there are pictures: topics that are known before anybody connects."""
        self._messages = load_extra("foxglove.messages", extra="foxglove", purpose="streaming to Foxglove")
        self._channels = load_extra("foxglove.channels", extra="foxglove", purpose="streaming to Foxglove")
        foxglove = load_extra("foxglove", extra="foxglove", purpose="streaming to Foxglove")
        self._context = foxglove.Context()
        self._open: dict[str, Any] = {}
        # An app that asks for a topic in the moment it appears is not always heard.
        self._channel("/tf", "FrameTransformsChannel")
        for name in names:
            self._channel(f"/{name}/points", "PointCloudChannel")
            if pictures:
                self._channel(f"/{name}/image", "RawImageChannel")
        m, numbers = self._messages, self._messages.PackedElementFieldNumericType
        assert POINT.fields is not None
        self._fields = [
            m.PackedElementField(
                name=name, offset=int(POINT.fields[name][1]), type=getattr(numbers, _TYPES[POINT[name].str])
            )
            for name in POINT.names or ()
        ]
        try:
            self._server = foxglove.start_server(
                name="tussock", host=host, port=port, context=self._context,
                capabilities=[foxglove.websocket.Capability.Time],
            )  # fmt: skip
        except (OSError, RuntimeError) as error:
            raise OutputError(f"{host}:{port}: Foxglove cannot be served there ({cause(error)})") from None

    @property
    def port(self) -> int:
        return int(self._server.port)

    def prepare(self, seen: Seen) -> Callable[[], None]:
        m = self._messages
        edges = [self._edge(place.time_ns, MAP, seen.name, place.pose) for place in seen.places]
        optical = f"{seen.name}_optical"
        if seen.picture is not None:
            # Told with every frame, as the others: who comes later has missed what came before.
            edges.append(self._edge(seen.start_ns, seen.name, optical, OPTICAL))
        told = [
            (self._channel("/tf", "FrameTransformsChannel"), m.FrameTransforms(transforms=edges), seen.end_ns),
            (self._channel(f"/{seen.name}/points", "PointCloudChannel"), self._cloud(seen), seen.end_ns),
        ]
        if seen.picture is not None:
            told.append(
                (self._channel(f"/{seen.name}/image", "RawImageChannel"), self._image(seen, optical), seen.start_ns)
            )

        def send() -> None:
            self._server.broadcast_time(seen.end_ns)
            for channel, message, time_ns in told:
                channel.log(message, log_time=time_ns)

        return send

    def close(self) -> None:
        self._server.stop()

    def _channel(self, topic: str, kind: str) -> Any:
        if topic not in self._open:
            self._open[topic] = getattr(self._channels, kind)(topic, context=self._context)
        return self._open[topic]

    def _stamp(self, time_ns: int) -> Any:
        return self._messages.Timestamp(*divmod(time_ns, 1_000_000_000))

    def _edge(self, time_ns: int, parent: str, child: str, pose: Pose) -> Any:
        m = self._messages
        (x, y, z), (qx, qy, qz, qw) = map(float, pose.position), map(float, pose.quaternion)
        return m.FrameTransform(
            timestamp=self._stamp(time_ns), parent_frame_id=parent, child_frame_id=child,
            translation=m.Vector3(x=x, y=y, z=z), rotation=m.Quaternion(x=qx, y=qy, z=qz, w=qw),
        )  # fmt: skip

    def _cloud(self, seen: Seen) -> Any:
        m = self._messages
        return m.PointCloud(
            timestamp=self._stamp(seen.start_ns), frame_id=seen.name,
            pose=m.Pose(position=m.Vector3(x=0.0, y=0.0, z=0.0), orientation=m.Quaternion(x=0.0, y=0.0, z=0.0, w=1.0)),
            point_stride=POINT.itemsize, fields=self._fields, data=seen.points.tobytes(),
        )  # fmt: skip

    def _image(self, seen: Seen, frame_id: str) -> Any:
        assert seen.picture is not None
        height, width, _ = seen.picture.shape
        return self._messages.RawImage(
            timestamp=self._stamp(seen.start_ns), frame_id=frame_id, width=width, height=height, encoding="rgb8",
            step=3 * width, data=np.ascontiguousarray(seen.picture).tobytes(),
        )  # fmt: skip
