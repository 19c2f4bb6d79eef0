"""Recordings of Ouster sensors as revolutions: captures with their metadata, and OSF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tussock.errors import InputError
from tussock.sensors.imu import ImuReadings
from tussock.sensors.ouster_unit import OusterUnit, read_unit
from tussock.wire.captures.datagrams import Datagrams, read_datagrams
from tussock.wire.captures.units import choose_unit
from tussock.wire.ouster.decode import OusterScan, decode_imu, decode_scans, packet_size
from tussock.wire.ouster.osf import read_osf
from tussock.wire.ouster.profiles import IMU_BYTES

__all__ = ["metadata_beside", "ouster_imu", "read_ouster"]


def read_ouster(
    path: Path | str, *, metadata: Path | str | None = None, sender: str | None = None
) -> Iterator[OusterScan]:
    """The revolutions of a capture (.pcap, .pcapng) or an OSF file.

    A capture needs the unit's metadata: ``metadata``, or the .json beside it. Of several units in a capture ``sender``
    names one, by address or by address and port.

    >>> products = {scan.unit.product for scan in tussock.read_ouster("run.pcap")}  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix == ".osf":
        return read_osf(path)
    unit = read_unit(Path(metadata) if metadata is not None else metadata_beside(path))
    return iter(decode_scans(lidar_datagrams(read_datagrams(path), unit, sender).payloads(), unit))


def metadata_beside(path: Path) -> Path:
    """The metadata of a capture: of the same name, or the one whose name the capture's begins with."""
    exact = path.with_suffix(".json")
    if exact.is_file():
        return exact
    near = [file for file in path.parent.glob("*.json") if path.stem.startswith(file.stem)]
    if len(near) == 1:
        return near[0]
    raise InputError(
        f"{path}: Ouster's packets need the metadata of their unit; lay it beside as {exact.name}, or name it"
    )


def lidar_datagrams(datagrams: Datagrams, unit: OusterUnit, sender: str | None = None) -> Datagrams:
    """The LIDAR packets of one unit."""
    found = datagrams.select(datagrams.size == packet_size(unit))
    if not len(found):
        sizes = ", ".join(f"{size}" for size in np.unique(datagrams.size)[:8]) or "none"
        raise InputError.of(
            f"{datagrams.path}", f"must hold packets of {packet_size(unit)} bytes, as its metadata says", sizes,
            "is it the metadata of this recording?",
        )  # fmt: skip
    return choose_unit(found, sender)


def ouster_imu(path: Path | str, *, epoch: float = 0.0) -> ImuReadings:
    """What the inertial sensor felt in a capture; times [s] of its own clock since ``epoch``.

    >>> felt = tussock.ouster_imu("run.pcap")  # doctest: +SKIP
    """
    datagrams = read_datagrams(Path(path))
    return decode_imu(datagrams.select(datagrams.size == IMU_BYTES).payloads().reshape(-1, IMU_BYTES), epoch=epoch)
