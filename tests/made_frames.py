"""Frames made without a scene: any range, any return, in a moment."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.return_modes import KINDS
from tussock.sensors.sensor import Sensor

Returns = Literal["strongest", "last", "dual"]


def made_frame(
    sensor: Sensor, frame: int = 0, *, returns: Returns = "strongest", seed: int = 0, share: float = 0.8,
    pose: Pose | None = None,
) -> Frame:  # fmt: skip
    """A frame of ``sensor`` with ranges and intensities by chance, ``share`` of its pulses with a return.

    Of the pulses with returns in dual mode, a third have two that differ, a third two that coincide, and a third
    report only one.
    """
    pulses = sensor.pulses(frame)
    rng = np.random.default_rng([seed, frame])
    count = len(pulses)
    step = sensor.receiver.range_step_m
    limits = int(sensor.receiver.min_range_m / step) + 1, int(sensor.receiver.max_range_m / step)
    near = rng.integers(*limits, count)
    far = np.minimum(near + rng.integers(1, 5000, count), limits[1])
    hit = rng.random(count) < share
    case = rng.integers(0, 3, count)
    if returns == "dual":
        both = hit & (case < 2)
        number = np.where(hit, 1, 0) + both
        pulse = np.repeat(np.arange(count), number)
        second = np.concatenate([[False], pulse[1:] == pulse[:-1]])[: len(pulse)]
        kind = np.where(second, KINDS.index("last"), KINDS.index("strongest"))
        steps = np.where(second & (case[pulse] == 0), far[pulse], near[pulse])
    else:
        pulse = np.nonzero(hit)[0]
        number = hit.astype(int)
        second = np.zeros(len(pulse), bool)
        kind = np.full(len(pulse), KINDS.index(returns))
        steps = near[pulse]
    bright = rng.uniform(0, 1, count).astype(np.float32)
    dim = rng.uniform(0, 1, count).astype(np.float32)
    ranges = (steps * step).astype(np.float32)
    origins = np.zeros((count, 3), np.float32) if pulses.origins is None else pulses.origins
    xyz = origins[pulse] + ranges[:, None] * pulses.directions[pulse]
    columns = {c.name: np.zeros((len(pulse), c.width) if c.width > 1 else len(pulse), c.dtype) for c in COLUMNS}
    columns |= {
        "time": frame * sensor.frame_period + pulses.offsets[pulse],
        "pulse": pulse,
        "laser": pulses.lasers[pulse],
        "azimuth": pulses.azimuths[pulse],
        "elevation": pulses.elevations[pulse],
        "true_range": ranges,
        "range": ranges,
        "true_xyz": xyz,
        "xyz": xyz,
        "intensity": np.where(second & (case[pulse] == 0), dim[pulse], bright[pulse]),
        "object_id": np.ones(len(pulse)),
        "label": rng.choice([70, 72, 100], len(pulse)),
        "return_number": 1 + second,
        "return_count": number[pulse],
        "return_kind": kind,
    }
    meta = {"pulses": count, "frame": frame, "start_s": frame * sensor.frame_period, "sensor": {"name": sensor.name}}
    return Frame(**columns, meta=meta, trajectory=Trajectory.standing(pose or Pose()))
