"""What every family of packets shares: packets with their times, and how a sensor's frames become them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.sensors.sensor import Sensor

__all__ = ["EPOCH", "Channel", "Encoder", "Packets", "Sent", "whole_nanoseconds"]

EPOCH = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
"""[s] Unix time of simulation time 0 unless another is given: fixed, so that the same run gives the same bytes"""


def whole_nanoseconds(seconds: float) -> int:
    """Seconds as a whole number of nanoseconds, exactly rounded: times 1e9, a Unix time would be off by up to 128."""
    return round(Fraction(seconds) * 1_000_000_000)


Channel = Literal["data", "positions", "imu"]
"""What a sensor sends to a port of its own: its points, where it is (Velodyne), what its inertial sensor feels."""


@dataclass(frozen=True, eq=False)
class Packets:
    """Packets of one size in the order in which they leave the sensor."""

    payloads: NDArray[np.uint8]
    """shape (n, size)"""
    times: NDArray[np.float64]
    """[s], simulation time when each is complete and leaves, shape (n,)"""

    def __len__(self) -> int:
        return len(self.times)

    @classmethod
    def none(cls, size: int) -> Packets:
        return cls(np.empty((0, size), np.uint8), np.empty(0))

    @classmethod
    def joined(cls, parts: list[Packets]) -> Packets:
        """One after the other; at least one must be given, for the size of a packet."""
        return cls(np.concatenate([p.payloads for p in parts]), np.concatenate([p.times for p in parts]))


Sent = dict[Channel, Packets]


class Encoder(Protocol):
    """Turns the frames of one sensor, in their order, into what it sends."""

    sensor: Sensor
    epoch: float
    """[s] Unix time of simulation time 0"""

    @property
    def packets_per_second(self) -> float:
        """Of the data, as long as nothing is lost."""

    def encode(self, frame: Frame) -> Sent:
        """All packets that this frame completes."""

    def flush(self) -> Sent:
        """The packet begun, if there is one."""
