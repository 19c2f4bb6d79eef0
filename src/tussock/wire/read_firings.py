"""The firings in a recording of packets, whatever sensor was recorded.

Whose packets these are is told by the packets: Velodyne's and Hesai's begin with flags of their own, Livox's say their
length and number of points, and what comes to an Ouster's port is an Ouster's. The name of a model wins over that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import OusterUnit, read_unit
from tussock.sensors.sensor import Sensor
from tussock.wire.captures.datagrams import Datagrams, read_datagrams, warn
from tussock.wire.firings import Firings
from tussock.wire.hesai.firings import hesai_datagrams, hesai_firings
from tussock.wire.hesai.models import MODELS as HESAI
from tussock.wire.livox.firings import livox_datagrams, livox_firings
from tussock.wire.livox.formats import FORMATS as LIVOX
from tussock.wire.ouster.firings import firings_of_scans, ouster_firings
from tussock.wire.ouster.models import FORMATS, unit_of
from tussock.wire.ouster.profiles import LIDAR_PORT
from tussock.wire.ouster.read import metadata_beside, read_ouster
from tussock.wire.velodyne.firings import firing_parts, firings_of
from tussock.wire.velodyne.layout import PACKET_BYTES
from tussock.wire.velodyne.packet_stream import FIRST_FLAG, stream_of

__all__ = ["CAPTURE_SUFFIXES", "firings_among", "firings_in_parts", "read_firings"]

CAPTURE_SUFFIXES = (".pcap", ".pcapng", ".osf")


def read_firings(
    path: Path | str, *, model: str | None = None, unit: str | None = None, say: Callable[[str], None] = warn
) -> Firings:
    """Every pulse in a capture of one sensor (.pcap, .pcapng), or in an Ouster's OSF file.

    ``model`` names the sensor and wins over what its packets say: a model, a sensor's file (.toml), or the metadata of an
    Ouster (.json), which otherwise lies beside the capture. ``unit`` chooses one of several (`choose_unit`). What the
    capture lacks is told to ``say``, a line each; a `CaptureWarning` unless told otherwise.
    """
    path = Path(path)
    if path.suffix == ".osf":
        scans = list(read_ouster(path))
        if not scans:
            raise InputError(f"{path}: holds no revolution")
        return firings_of_scans(scans)
    return firings_among(read_datagrams(path), model=model, unit=unit, say=say)


def firings_among(
    found: Datagrams, *, model: str | None, unit: str | None, say: Callable[[str], None], told: OusterUnit | None = None
) -> Firings:
    """As `read_firings`, of packets from anywhere; ``told`` is the unit of an Ouster's where they came with it."""
    path, sensor = found.path, _named(model)
    if sensor is not None and sensor.packets in HESAI:
        return hesai_firings(_some(found, hesai_datagrams(found), sensor), sensor, unit, say)
    if sensor is not None and sensor.packets in LIVOX:
        return livox_firings(_some(found, livox_datagrams(found), sensor), sensor, unit, say)
    makes = _makes(found) if model is None else []
    if model is None:
        if len(makes) > 1:
            raise InputError(f"holds packets of {' and '.join(makes)}; name the model with --model", source=path)
        if makes == ["Hesai"]:
            return hesai_firings(found, None, unit, say)
        if makes == ["Livox"]:
            return livox_firings(found, None, unit, say)
    ouster = told if told is not None and model is None and not makes else _ouster(found, model, sensor)
    if ouster is not None:
        return ouster_firings(found, ouster, unit, say)
    return firings_of(stream_of(found, model=model, unit=unit, say=say))


def firings_in_parts(
    path: Path | str,
    *,
    model: str | None = None,
    unit: str | None = None,
    packets: int,
    say: Callable[[str], None] = warn,
) -> Iterator[Firings]:
    """As `read_firings`, one after the other: of a Velodyne so many packets at a time, of others all at once."""
    path = Path(path)
    if path.suffix != ".osf":
        found, sensor = read_datagrams(path), _named(model)
        others = sensor is not None and (
            sensor.packets in HESAI or sensor.packets in LIVOX or sensor.packets in FORMATS
        )
        if not others and (found.begins(FIRST_FLAG) & (found.size == PACKET_BYTES)).any():
            if model is None and len(makes := _makes(found)) > 1:
                raise InputError(f"holds packets of {' and '.join(makes)}; name the model with --model", source=path)
            yield from firing_parts(stream_of(found, model=model, unit=unit, say=say), packets)
            return
    yield read_firings(path, model=model, unit=unit, say=say)


def _named(model: str | None) -> Sensor | None:
    """The sensor of this name; None for a name that only who reads the packets knows."""
    if model is None or model.lower().endswith(".json"):
        return None
    try:
        return load_sensor(model)
    except InputError:
        return None


def _makes(found: Datagrams) -> list[str]:
    """The makers whose packets are told by themselves."""
    velodyne = bool((found.begins(FIRST_FLAG) & (found.size == PACKET_BYTES)).any())
    there = {"Velodyne": velodyne, "Hesai": len(hesai_datagrams(found)), "Livox": len(livox_datagrams(found))}
    return [make for make, some in there.items() if some]


def _some(found: Datagrams, ours: Datagrams, sensor: Sensor) -> Datagrams:
    if not len(ours):
        raise InputError.of(
            "model", f"must be what was recorded, but {found.path.name} holds no packets of it", sensor.name
        )
    return found


def _ouster(found: Datagrams, model: str | None, sensor: Sensor | None) -> OusterUnit | None:
    """The unit whose packets these are; None for those of another make."""
    if model is not None:
        if model.lower().endswith(".json"):
            return read_unit(Path(model))
        return unit_of(sensor) if sensor is not None and sensor.packets in FORMATS else None
    if (found.begins(FIRST_FLAG) & (found.size == PACKET_BYTES)).any() or not (found.port == LIDAR_PORT).any():
        return None
    return read_unit(metadata_beside(found.path))
