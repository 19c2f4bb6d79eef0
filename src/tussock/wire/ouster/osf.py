"""Ouster's own recording format (OSF), written and read by ouster-sdk (extra ``ouster``).

What is written is what the SDK makes of our packets, so a file holds exactly what a capture of them would.
"""

from __future__ import annotations

import json
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError, cause
from tussock.extras import load_extra
from tussock.frames.frame import Frame
from tussock.sensors.ouster_unit import OusterUnit, parse_unit
from tussock.whole_files import whole_file
from tussock.wire.ouster.decode import OusterScan
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.metadata import metadata
from tussock.wire.packets import whole_nanoseconds

__all__ = ["OsfRecording", "open_osf", "read_osf"]


@contextmanager
def open_osf(path: Path, encoder: OusterEncoder, *, force: bool = False) -> Iterator[OsfRecording]:
    """A recording at ``path``; it appears whole when the block ends, or not at all."""
    with whole_file(path, force=force) as temporary:
        recording = OsfRecording(temporary, encoder)
        try:
            yield recording
        finally:
            recording.close()


class OsfRecording:
    """Takes the frames of a run in their order."""

    def __init__(self, path: Path, encoder: OusterEncoder) -> None:
        self._core = _load("core")
        self._encoder = encoder
        self._info = self._core.SensorInfo(json.dumps(metadata(encoder.unit)))
        self._format = self._core.PacketFormat(self._info)
        self._writer = _load("osf").Writer(str(path), self._info)

    def write(self, frame: Frame) -> None:
        """Add one revolution, its inertial packets left out."""
        packets = self._encoder.encode(frame)["data"]
        whole, batcher = self._core.LidarFrame(self._info), self._core.FrameBatcher(self._info)
        arrival = whole_nanoseconds(self._encoder.epoch) + np.rint(packets.times * 1e9).astype(np.int64)
        for payload, time in zip(packets.payloads, arrival.tolist(), strict=True):
            packet = self._core.LidarPacket(self._format)
            packet.buf[:] = payload
            packet.host_timestamp = time
            batcher.batch(packet, whole)
        self._writer.save(0, whole)

    def write_image(self, topic: str, time: float, pixels: Any, frame_id: str) -> None:
        raise InputError("an OSF file holds no images; write the run to .mcap or .rosbag2")

    def close(self) -> None:
        self._writer.close()


def read_osf(path: Path) -> Iterator[OusterScan]:
    """The revolutions of an OSF file, all sensors one after the other as they come."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    osf = _load("osf")
    _check_blocks(path)
    try:
        source = osf.OsfFrameSetSource(str(path))
        units = [parse_unit(json.loads(info.to_json_string()), str(path)) for info in source.sensor_info]
        sets = iter(source)
    except InputError:
        raise
    except Exception as error:  # the SDK has its own
        raise InputError(f"{path}: cannot be read as OSF ({cause(error, 300)})") from None
    for frames in sets:
        for unit, frame in zip(units, frames, strict=True):
            if frame is not None:
                yield _scan(frame, unit)


def _check_blocks(path: Path) -> None:
    """Refuse a file that was damaged: the SDK follows whatever is in it, also out of its memory.

    A file is a row of blocks: the length (uint32), as many bytes, and the CRC-32 of both (uint32).
    """
    end = path.stat().st_size
    with path.open("rb") as file:
        while (at := file.tell()) < end:
            prefix = file.read(4)
            length = struct.unpack("<I", prefix)[0] if len(prefix) == 4 else end
            if at + 8 + length > end:
                raise InputError(f"{path}: cannot be read as OSF (its blocks do not fill it; it was cut or damaged)")
            sum_, left = zlib.crc32(prefix), length
            while left:
                piece = file.read(min(left, 2**20))
                sum_, left = zlib.crc32(piece, sum_), left - len(piece)
                if not piece:
                    raise InputError(f"{path}: cannot be read as OSF (it became shorter while it was read)")
            if file.read(4) != struct.pack("<I", sum_):
                raise InputError(f"{path}: cannot be read as OSF (the checksum of the block at byte {at} is wrong)")


def _scan(frame: Any, unit: OusterUnit) -> OusterScan:
    fields = {name: np.asarray(frame.field(name)) for name in frame.fields if frame.field(name).ndim == 2}
    return OusterScan(
        unit, int(frame.frame_id), fields, np.asarray(frame.timestamp), np.asarray(frame.status).astype(np.uint32),
        len(frame.packet_timestamp),
    )  # fmt: skip


def _load(part: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_extra(f"ouster.sdk.{part}", extra="ouster", purpose="OSF")
