"""Another program drives: it sees what the sensors give through shared memory, and its commands come back.

    points    out  f4 (n, 6)   x, y, z [m] in the sensor's axes, intensity, ring, time since the frame's start [s]
    imu       out  f8 (n, 7)   time [s], turn rates [rad/s], specific forces [m/s²], all of the step
    state     out  f8 (16)     `STATE` below
    command   in   f8 (2)      speed [m/s] and turn rate [rad/s] to obey from the next frame on

In lock step simulation time stands still until the other side has answered; else its last command holds. Beside it,
the sensor's packets and NMEA sentences ($GPGGA and $GPRMC for each fix) can be sent over UDP, to programs that expect a real sensor.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from tussock.drive.autonomy.estimate import Estimate, Estimator
from tussock.drive.autonomy.following import DriveCommand
from tussock.drive.autonomy.stack import Thought
from tussock.drive.sensing.gps import Gps
from tussock.drive.sensing.nmea import gga, rmc
from tussock.drive.sensing.readings import GpsFixes, Readings
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.sensors.sensor import Sensor
from tussock.wire.addresses import Endpoint, open_sender
from tussock.wire.ros.messages import rings_of
from tussock.wire.shared.shared_memory import SharedSegment
from tussock.wire.shared.shared_run import shared_points
from tussock.wire.shared.shm_layout import ChannelSpec
from tussock.wire.velodyne.encode import PacketEncoder
from tussock.wire.velodyne.position import GeoOrigin

__all__ = ["STATE", "AlsoSent", "RemoteDriver"]

STATE = (
    "time", "goal_x", "goal_y", "gps_time", "gps_x", "gps_y", "gps_z", "gps_fixes", "yaw", "pitch", "roll",
    "wheel_speed", "wheel_turn_rate", "bumped", "frame", "reserved",
)  # fmt: skip
"""what the small sensors said last: metres, seconds, radians; gps_fixes counts them, bumped counts contacts"""
_IMU_ROWS = 1024


class AlsoSent(NamedTuple):
    """What else goes out of a drive by UDP, beside the shared memory."""

    packets: Endpoint | None = None
    """where the sensor's packets go"""
    sentences: Endpoint | None = None
    """where GPS goes, as NMEA"""
    origin: GeoOrigin | None = None
    """where on Earth the scene is; `GeoOrigin.near` the start if not given"""


class RemoteDriver:
    """Hands every step to another program and takes its command."""

    def __init__(
        self, name: str, sensor: Sensor, gps: Gps, start: tuple[float, float, float], *, lockstep: bool = True,
        timeout: float = 10.0, sent: AlsoSent | None = None,
    ) -> None:  # fmt: skip
        sent = sent or AlsoSent()
        rows = (len(sensor.pulses(0)) + sensor.lasers) * sensor.receiver.returns
        self.segment = SharedSegment.create(
            name,
            [
                ChannelSpec("points", "out", "f4", (rows, 6)),
                ChannelSpec("imu", "out", "f8", (_IMU_ROWS, 7)),
                ChannelSpec("state", "out", "f8", (len(STATE),)),
                ChannelSpec("command", "in", "f8", (2,)),
            ],
            lockstep=lockstep,
        )
        self.plans = 0
        self._timeout, self._rings = timeout, rings_of(sensor)
        self._estimator = Estimator(gps, *start)
        self._state = np.zeros(len(STATE))
        self._encoder = PacketEncoder(sensor) if sent.packets is not None else None
        self._packets, self._sentences, self._quality = sent.packets, sent.sentences, gps.quality
        self._origin = sent.origin or GeoOrigin.near(*start[:2])
        self._sockets: dict[Endpoint, socket.socket] = {}

    def think(self, frame: Frame, readings: Readings, end: float, goal: tuple[float, float]) -> Thought:
        """Publish a step, wait for the answer in lock step, and obey the last command."""
        estimate = self._estimator.update(readings, end)
        start = float(frame.meta["start_s"])
        self.segment.publish("points", shared_points(frame, self._rings, start), time=end)
        imu = readings.imu
        rows = np.column_stack([imu.times, imu.rates, imu.forces])[-_IMU_ROWS:]
        self.segment.publish("imu", rows, time=end)
        self.segment.publish("state", self._told(frame, readings, end, goal), time=end)
        self._send(frame, readings.gps)
        step = self.segment.step()
        if self.segment.lockstep and not self.segment.await_answer(step, timeout=self._timeout):
            raise InputError(
                f"shared memory {self.segment.name!r}: nobody answered within {self._timeout:g} s; start the other program"
            )
        sample = self.segment.latest("command")
        speed, turn = (0.0, 0.0) if sample is None else (float(v) for v in sample.array)
        if not (np.isfinite(speed) and np.isfinite(turn)):
            raise InputError.of(
                "command", "must be two finite numbers: speed [m/s] and turn rate [rad/s]", (speed, turn)
            )
        return Thought(DriveCommand(speed, turn), estimate, None, np.empty((0, 3)))

    def bumped(self, estimate: Estimate, *, ahead: bool, at: Sequence[tuple[float, float]] = ()) -> None:
        """Counted in the state: what to do about it is the other side's affair."""
        self._state[STATE.index("bumped")] += 1

    def close(self) -> None:
        self.segment.close()
        for sender in self._sockets.values():
            sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _told(self, frame: Frame, readings: Readings, end: float, goal: tuple[float, float]) -> np.ndarray:
        told, at = self._state, STATE.index
        told[at("time")], told[at("goal_x")], told[at("goal_y")] = end, *goal
        told[at("frame")] = frame.meta["frame"]
        gps, compass, odometry, _ = readings
        if len(gps.times):
            told[at("gps_time")] = gps.times[-1]
            told[at("gps_x") : at("gps_z") + 1] = gps.positions[-1]
            told[at("gps_fixes")] += len(gps.times)
        if len(compass.times):
            told[at("yaw") : at("roll") + 1] = compass.angles[-1]
        if len(odometry.times):
            told[at("wheel_speed")], told[at("wheel_turn_rate")] = odometry.speeds[-1], odometry.turn_rates[-1]
        return told

    def _send(self, frame: Frame, gps: GpsFixes) -> None:
        if self._encoder is not None and self._packets is not None:
            for payload in self._encoder.encode(frame).payloads:
                self._to(self._packets, bytes(payload))
        if self._sentences is not None:
            for time, place, velocity in zip(gps.times.tolist(), gps.positions, gps.velocities, strict=True):
                # A datagram each: not every reader looks for a second line in one.
                self._to(self._sentences, gga(time, place, self._quality, self._origin))
                self._to(self._sentences, rmc(time, place, velocity, self._origin))

    def _to(self, endpoint: Endpoint, payload: bytes) -> None:
        if endpoint not in self._sockets:
            self._sockets[endpoint] = open_sender(endpoint)
        self._sockets[endpoint].sendto(payload, endpoint.address)
