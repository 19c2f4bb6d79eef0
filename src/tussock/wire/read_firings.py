"""The firings in a capture, whatever sensor was recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tussock.wire.captures.datagrams import read_datagrams, warn
from tussock.wire.firings import Firings
from tussock.wire.velodyne.firings import firings_of
from tussock.wire.velodyne.packet_stream import stream_of

__all__ = ["CAPTURE_SUFFIXES", "read_firings"]

CAPTURE_SUFFIXES = (".pcap", ".pcapng")


def read_firings(
    path: Path, *, model: str | None = None, unit: str | None = None, say: Callable[[str], None] = warn
) -> Firings:
    """Every pulse in a capture of one sensor.

    ``model`` names the sensor and wins over what its packets say; ``unit`` chooses one of several (`choose_unit`). What
    the capture lacks is told to ``say``, a line each; a `CaptureWarning` unless told otherwise.
    """
    return firings_of(stream_of(read_datagrams(path), model=model, unit=unit, say=say))
