"""Rerun: frames go to a viewer that listens (``rerun`` on this machine, 127.0.0.1:9876), or to a file (extra ``rerun``).

Entities: ``map/NAME`` moves with the sensor, ``map/NAME/points`` are its points coloured by intensity, with their class
as class id, ``map/NAME/camera`` its picture; the timeline is ``time``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from tussock.extras import load_extra
from tussock.wire.watch.seen import MAP, Seen

__all__ = ["RerunWatcher"]


class RerunWatcher:
    """Sends frames to a viewer at ``host:port``, or writes them to ``path`` (.rrd)."""

    def __init__(self, host: str = "127.0.0.1", port: int = 9876, *, path: Path | None = None) -> None:
        self._rerun = load_extra("rerun", extra="rerun", purpose="streaming to Rerun")
        self._recording = self._rerun.RecordingStream("tussock")
        if path is not None:
            self._recording.save(str(path))
        else:
            self._recording.connect_grpc(f"rerun+http://{host}:{port}/proxy")

    def prepare(self, seen: Seen) -> Callable[[], None]:
        rr = self._rerun
        place = seen.places[-1].pose
        bright = np.clip(seen.points["intensity"] * 255, 30, 255).astype(np.uint8)
        positions = np.stack([seen.points[axis] for axis in "xyz"], 1)
        told = [
            (f"{MAP}/{seen.name}", rr.Transform3D(translation=place.position, quaternion=place.quaternion)),
            (
                f"{MAP}/{seen.name}/points",
                rr.Points3D(positions, colors=np.stack([bright] * 3, 1), class_ids=seen.points["label"]),
            ),
        ]
        if seen.picture is not None:
            told.append((f"{MAP}/{seen.name}/camera", rr.Image(seen.picture)))

        def send() -> None:
            self._recording.set_time("time", timestamp=np.datetime64(seen.end_ns, "ns"))
            for entity, value in told:
                self._recording.log(entity, value)

        return send

    def close(self) -> None:
        self._recording.flush()
        self._recording.disconnect()
