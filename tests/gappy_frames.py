"""Frames whose pulses without return leave gaps of any shape: sectors, lasers, single pulses, whole revolutions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.return_modes import KINDS
from tussock.sensors.sensor import Sensor

SHAPES = ("sectors", "lasers", "pulses", "cycles", "patches", "nothing", "everything", "one")


def gaps(rng: np.random.Generator, cycles: int, lasers: int) -> NDArray[np.bool_]:
    """Which pulses return, shape (cycles, lasers): the overlap of one to three kinds of gaps."""
    hit = np.ones((cycles, lasers), np.bool_)
    for shape in rng.choice(SHAPES, rng.integers(1, 4)):
        if shape == "sectors":  # firings that have no return in any laser, as under open sky
            for _ in range(rng.integers(1, 6)):
                first, length = rng.integers(cycles), rng.integers(1, cycles // 2)
                hit[np.arange(first, first + length) % cycles] = False
        elif shape == "lasers":
            hit[:, rng.random(lasers) < rng.random()] = False
        elif shape == "pulses":
            hit &= rng.random(hit.shape) < rng.random()
        elif shape == "cycles":
            hit[:: rng.integers(2, 9)] = False
        elif shape == "patches":  # returns in a few windows only
            kept = np.zeros_like(hit)
            for _ in range(rng.integers(1, 4)):
                c, l = rng.integers(cycles), rng.integers(lasers)
                kept[c : c + rng.integers(1, 60), l : l + rng.integers(1, lasers + 1)] = True
            hit &= kept
        elif shape == "nothing":
            hit[:] = rng.random() < 0.7
        elif shape == "one":
            kept = np.zeros_like(hit)
            kept[rng.integers(cycles), rng.integers(lasers)] = True
            hit &= kept
    return hit


def gappy_frame(sensor: Sensor, frame: int, rng: np.random.Generator) -> tuple[Frame, dict[str, NDArray]]:
    """A frame, and what it must read back as: steps of distance by return, shape (pulses,), 0 without."""
    pulses = sensor.pulses(frame)
    count, lasers = len(pulses), sensor.lasers
    # In the order of firing; gaps are made by cycle and laser.
    hit = gaps(rng, count // lasers, lasers).ravel()
    step = sensor.receiver.range_step_m
    near = rng.integers(int(1.0 / step), int(sensor.receiver.max_range_m / step), count)
    far = np.minimum(near + rng.integers(0, 3000, count) * rng.integers(0, 2, count), 65_000)
    mode = str(sensor.receiver.mode)
    dual = mode == "strongest+last"
    two = hit & dual & (rng.random(count) < 0.5)
    number = hit.astype(int) + two
    pulse = np.repeat(np.arange(count), number)
    second = np.concatenate([[False], pulse[1:] == pulse[:-1]]) if len(pulse) else np.zeros(0, bool)
    # Either of the two may be the nearer.
    swapped = rng.random(count) < 0.5
    strongest, last = np.where(two & swapped, far, near), np.where(two, np.where(swapped, near, far), near)
    steps = np.where(second, last[pulse], strongest[pulse])
    kinds = ("strongest", "last") if dual else (mode, mode)
    columns = {c.name: np.zeros((len(pulse), c.width) if c.width > 1 else len(pulse), c.dtype) for c in COLUMNS}
    columns |= {
        "time": frame * sensor.frame_period + pulses.offsets[pulse],
        "pulse": pulse,
        "laser": pulses.lasers[pulse],
        "azimuth": pulses.azimuths[pulse],
        "elevation": pulses.elevations[pulse],
        "range": (steps * step).astype(np.float32),
        "xyz": (steps * step)[:, None] * pulses.directions[pulse],
        "intensity": rng.uniform(0, 1, len(pulse)),
        "return_number": 1 + second,
        "return_count": number[pulse],
        "return_kind": np.where(second, KINDS.index(kinds[1]), KINDS.index(kinds[0])),
    }
    meta = {"pulses": count, "frame": frame, "start_s": frame * sensor.frame_period, "sensor": {"name": sensor.name}}
    made = Frame(**columns, meta=meta, trajectory=Trajectory.standing(Pose()))
    truth = {"strongest": np.where(hit, strongest, 0), "last": np.where(hit, last, 0)}
    return made, truth
