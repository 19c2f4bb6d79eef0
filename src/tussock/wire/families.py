"""Which packets a sensor sends, by the ``packets`` of its file: one family of formats a maker.

A family says how frames become packets (`Encoder`), to which ports they go, and from which address, as the factory sets
the device up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.hesai.encode import HesaiEncoder
from tussock.wire.hesai.models import HESAI_PORT
from tussock.wire.hesai.models import MODELS as HESAI
from tussock.wire.livox.encode import LivoxEncoder
from tussock.wire.livox.formats import FIRST_IMU_PORT, FIRST_POINT_PORT, POINT_PORT
from tussock.wire.livox.formats import FORMATS as LIVOX
from tussock.wire.livox.formats import IMU_PORT as LIVOX_IMU_PORT
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.models import FORMATS as OUSTER
from tussock.wire.ouster.profiles import IMU_PORT, LIDAR_PORT
from tussock.wire.packets import EPOCH, Channel, Encoder, Packets, Sent
from tussock.wire.velodyne.encode import PacketEncoder
from tussock.wire.velodyne.models import DATA_PORT, MODELS
from tussock.wire.velodyne.position import POSITION_BYTES, POSITION_PORT, GeoOrigin, position_packets, position_period

__all__ = ["Family", "PositionClock", "family_of", "open_encoder"]


class Family(NamedTuple):
    """What the devices of one maker have in common on the network."""

    name: str
    packets: tuple[str, ...]
    """names that ``packets`` of a sensor's file may give"""
    ports: dict[Channel, int]
    """where the factory's settings send each channel to"""
    address: str
    """of the device"""


def _livox(sdk: int) -> tuple[str, ...]:
    return tuple(name for name, form in LIVOX.items() if form.sdk == sdk)


FAMILIES = (
    Family("velodyne", tuple(MODELS), {"data": DATA_PORT, "positions": POSITION_PORT}, "192.168.1.201"),
    Family("ouster", tuple(OUSTER), {"data": LIDAR_PORT, "imu": IMU_PORT}, "169.254.1.201"),
    Family("livox", _livox(2), {"data": POINT_PORT, "imu": LIVOX_IMU_PORT}, "192.168.1.100"),
    Family("livox-1", _livox(1), {"data": FIRST_POINT_PORT, "imu": FIRST_IMU_PORT}, "192.168.1.100"),
    Family("hesai", tuple(HESAI), {"data": HESAI_PORT}, "192.168.1.201"),
)


def family_of(sensor: Sensor) -> Family:
    """The family of a sensor's packets; an `InputError` where none are known for it."""
    known = [name for family in FAMILIES for name in family.packets]
    if sensor.packets is None:
        raise InputError(f"sensor {sensor.name}: its packets are not known; packets are known of: {', '.join(known)}")
    for family in FAMILIES:
        if sensor.packets in family.packets:
            return family
    raise InputError(f"sensor {sensor.name}: packets {sensor.packets!r}: {nearest(sensor.packets, known)}")


def open_encoder(sensor: Sensor, *, epoch: float = EPOCH, origin: GeoOrigin | None = None, number: int = 0) -> Encoder:
    """What turns the frames of a sensor into what it sends.

    ``epoch`` [s] is the Unix time of simulation time 0, ``origin`` where on the earth the scene's origin lies, for
    sensors that tell where they are, and ``number`` tells units of one run apart.
    """
    match family_of(sensor).name:
        case "velodyne":
            return _Velodyne(sensor, epoch, origin or GeoOrigin())
        case "livox" | "livox-1":
            return LivoxEncoder(sensor, epoch=epoch)
        case "hesai":
            return HesaiEncoder(sensor, epoch=epoch)
        case _:
            encoder = OusterEncoder(sensor, epoch=epoch)
            return OusterEncoder(sensor, epoch=epoch, serial=encoder.unit.serial + number) if number else encoder


class _Velodyne:
    """Velodyne's packets, and beside them where the sensor is."""

    def __init__(self, sensor: Sensor, epoch: float, origin: GeoOrigin) -> None:
        self.sensor, self.epoch = sensor, epoch
        self._data, self._origin = PacketEncoder(sensor, epoch=epoch), origin
        assert isinstance(sensor.pattern, SpinningPattern)
        cycle = float(sensor.pattern.cycle)
        self._clock = PositionClock(position_period(self._data.model, cycle))
        self._path = Trajectory.standing(Pose())

    @property
    def packets_per_second(self) -> float:
        return self._data.packets_per_second

    def encode(self, frame: Frame) -> Sent:
        self._path = frame.trajectory or self._path
        return self._with_positions(self._data.encode(frame))

    def flush(self) -> Sent:
        return self._with_positions(self._data.flush())

    def _with_positions(self, packets: Packets) -> Sent:
        times = self._clock.times(packets)
        if not len(times):
            return {"data": packets, "positions": Packets.none(POSITION_BYTES)}
        told = position_packets(times, self._path, epoch=self.epoch, origin=self._origin)
        return {"data": packets, "positions": Packets(told, times)}


class PositionClock:
    """The moments of position packets, on a clock of their own."""

    def __init__(self, period: float) -> None:
        self._period, self._sent = period, 0

    def times(self, packets: Packets) -> NDArray[np.float64]:
        """[s] those due until the last of these data packets, from the run's first on."""
        if not len(packets):
            return np.empty(0)
        first = int(np.ceil(packets.times[0] / self._period - 1e-9))
        begin, end = max(self._sent, first), int(np.floor(packets.times[-1] / self._period + 1e-9)) + 1
        self._sent = max(end, self._sent)
        return np.arange(begin, end, dtype=np.float64) * self._period
