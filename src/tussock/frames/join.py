"""Frames one after the other as one, for programs that want a flight line or a drive in one file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory

__all__ = ["join_frames"]


def join_frames(frames: Sequence[Frame], path: Pose | Trajectory) -> Frame:
    """One frame of all rows, in their order; ``path`` is the sensor's over all of them.

    Pulses are numbered through. What the first frame says of sensor and scene is said of all; waveforms are not joined.
    """
    if not frames:
        raise InputError("frames: at least one is needed")
    fired = [frame.pulses for frame in frames]
    before = np.concatenate([[0], np.cumsum(fired)])
    if before[-1] > np.iinfo(np.uint32).max:
        raise InputError.of("frames", "must have fewer than 2³² pulses together", int(before[-1]), "join fewer")
    columns = {name: np.concatenate([frame.columns[name] for frame in frames]) for name in frames[0].columns}
    columns["pulse"] = np.concatenate(
        [frame.pulse + np.uint32(first) for frame, first in zip(frames, before[:-1], strict=True)]
    )
    whole = path if isinstance(path, Trajectory) else Trajectory.standing(path)
    meta = frames[0].meta | {"pulses": int(before[-1]), "frames": len(frames)}
    return Frame(**columns, meta=meta, trajectory=whole, waveforms=None)
