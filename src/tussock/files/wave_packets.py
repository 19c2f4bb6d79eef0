"""Waveform packets of LAS 1.4: the descriptor in the LAS file, the samples in a file of their own (``.wdp``) beside it.

Each point says where in that file the samples of its pulse begin, where along them it lies (picoseconds after the first
sample), and which way the pulse went (metres per picosecond of the samples' time, there and back). All pulses share one
descriptor: 32 bits a sample, signal = offset + gain·sample. The file begins with the header of an extended record
(``LASF_Spec``, 65535), from whose first byte offsets count.

ASPRS LAS 1.4 R15, sections 2.6.10 (point format 9), 2.7.4 (descriptor, record 100) and 5.1 (packets).
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import Contents
from tussock.frames.waveforms import Waveforms

__all__ = [
    "DESCRIPTOR",
    "Scale",
    "add_to_points",
    "beside",
    "descriptor",
    "read_packets",
    "save_packets",
    "scale_of",
    "shapes_of_echoes",
]

DESCRIPTOR = 100
"""record number of the first descriptor, whose index is 1"""
_USER, _RECORD = b"LASF_Spec", 65535
_HEADER = struct.Struct("<H16sHQ32s")
_FORM = struct.Struct("<BBIIdd")
_METRES_PER_PS = 299_792_458.0 / 2 * 1e-12
_MOST = 2**32 - 1


class Scale(NamedTuple):
    """signal = offset + gain·sample"""

    gain: float
    offset: float


def beside(path: Path) -> Path:
    """Where the packets of a LAS file are."""
    return path.with_suffix(".wdp")


def scale_of(waveforms: Waveforms) -> Scale:
    """The steps that hold every sample in 32 bits."""
    if not waveforms.samples.size:
        return Scale(1.0, 0.0)
    low, high = float(waveforms.samples.min()), float(waveforms.samples.max())
    return Scale(max(high - low, 1e-12) / _MOST, low)


def descriptor(waveforms: Waveforms) -> bytes:
    """Bits a sample, compression, samples, step [ps], gain and offset."""
    scale = scale_of(waveforms)
    step = round(waveforms.bin_ns * 1000)
    return _FORM.pack(32, 0, waveforms.samples.shape[1], step, scale.gain, scale.offset)


def save_packets(contents: Contents, path: Path) -> None:
    waveforms = contents.waveforms
    assert waveforms is not None
    scale = scale_of(waveforms)
    words = np.rint((waveforms.samples.astype(np.float64) - scale.offset) / scale.gain)
    data = np.clip(words, 0, _MOST).astype("<u4").tobytes()
    with path.open("wb") as file:
        file.write(_HEADER.pack(0, _USER, _RECORD, len(data), b"waveforms of tussock"))
        file.write(data)


def add_to_points(cloud: Any, contents: Contents) -> None:
    """Fill the seven fields of point format 9."""
    waveforms, fields = contents.waveforms, contents.fields
    assert waveforms is not None
    row = np.searchsorted(waveforms.pulse, fields["pulse"])
    known = row < len(waveforms)
    known[known] = waveforms.pulse[row[known]] == fields["pulse"][known]
    row = np.where(known, row, 0)
    size = 4 * waveforms.samples.shape[1]
    start = waveforms.start[row] if len(waveforms) else np.zeros(len(row))
    cloud["wavepacket_index"] = known.astype(np.uint8)
    cloud["wavepacket_offset"] = np.where(known, _HEADER.size + row * size, 0).astype(np.uint64)
    cloud["wavepacket_size"] = np.where(known, size, 0).astype(np.uint32)
    along = (fields["range"].astype(np.float64) - start) / _METRES_PER_PS
    cloud["return_point_wave_location"] = np.where(known, along, 0.0).astype(np.float32)
    directions = contents.directions if contents.directions is not None else np.zeros((len(row), 3))
    for axis, name in enumerate(("x_t", "y_t", "z_t")):
        cloud[name] = (directions[:, axis] * _METRES_PER_PS).astype(np.float32)


def shapes_of_echoes(contents: Contents) -> dict[str, NDArray[np.float32]]:
    """Height and width [ns] of the Gaussian nearest to each point, shape (n,); none where nothing was decomposed."""
    parts = None if contents.waveforms is None else contents.waveforms.components
    if parts is None:
        return {}
    which = parts.nearest(contents.fields["pulse"], contents.fields["range"])
    known = which >= 0
    shapes = {name: np.full(len(which), np.nan, np.float32) for name in ("amplitude", "echo_width")}
    shapes["amplitude"][known], shapes["echo_width"][known] = parts.amplitude[which[known]], parts.width[which[known]]
    return shapes


def read_packets(cloud: Any, path: Path, fwhm_ns: float, noise: float) -> Waveforms | None:
    """The waveforms of a cloud of ours read from ``path``; None where the file beside it is gone."""
    records = [vlr for vlr in cloud.header.vlrs if vlr.record_id == DESCRIPTOR and vlr.user_id == "LASF_Spec"]
    if not records or not beside(path).exists():
        return None
    bits, compressed, count, step, gain, offset = _FORM.unpack(bytes(records[0].record_data_bytes())[: _FORM.size])
    if bits != 32 or compressed:
        return None
    data = beside(path).read_bytes()
    index, where = np.asarray(cloud["wavepacket_index"]), np.asarray(cloud["wavepacket_offset"])
    at, first = np.unique(where[index == 1], return_index=True)
    if len(at) and int(at[-1]) + 4 * count > len(data):
        raise InputError("is cut: its points name samples behind its end", source=beside(path))
    words = np.frombuffer(data, "<u4", offset=_HEADER.size).reshape(-1, count)[(at - _HEADER.size) // (4 * count)]
    rows = np.flatnonzero(index == 1)[first]
    along = np.asarray(cloud["return_point_wave_location"], np.float64)[rows] * _METRES_PER_PS
    start: NDArray[np.float32] = (np.asarray(cloud["range"])[rows] - along).astype(np.float32)
    return Waveforms(
        np.asarray(cloud["pulse"])[rows].astype(np.uint32), start, (offset + gain * words).astype(np.float32),
        step / 1000, fwhm_ns, noise,
    )  # fmt: skip
