"""The firings in a recording of packets, whatever sensor was recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import OusterUnit, read_unit
from tussock.wire.captures.datagrams import Datagrams, read_datagrams, warn
from tussock.wire.firings import Firings
from tussock.wire.ouster.firings import firings_of_scans, ouster_firings
from tussock.wire.ouster.models import FORMATS, unit_of
from tussock.wire.ouster.profiles import LIDAR_PORT
from tussock.wire.ouster.read import metadata_beside, read_ouster
from tussock.wire.velodyne.firings import firings_of
from tussock.wire.velodyne.layout import PACKET_BYTES
from tussock.wire.velodyne.packet_stream import FIRST_FLAG, stream_of

__all__ = ["CAPTURE_SUFFIXES", "read_firings"]

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
        return firings_of_scans(list(read_ouster(path)))
    found = read_datagrams(path)
    ouster = _ouster(found, model)
    if ouster is not None:
        return ouster_firings(found, ouster, unit, say)
    return firings_of(stream_of(found, model=model, unit=unit, say=say))


def _ouster(found: Datagrams, model: str | None) -> OusterUnit | None:
    """The unit whose packets these are; None for those of another make."""
    if model is not None:
        if model.lower().endswith(".json"):
            return read_unit(Path(model))
        try:
            sensor = load_sensor(model)
        except InputError:
            return None  # said by who reads the packets: it knows more names
        return unit_of(sensor) if sensor.packets in FORMATS else None
    if (found.begins(FIRST_FLAG) & (found.size == PACKET_BYTES)).any() or not (found.port == LIDAR_PORT).any():
        return None
    return read_unit(metadata_beside(found.path))
