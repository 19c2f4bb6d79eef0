"""Beams from captures of Velodyne sensors (``.pcap``), decoded by velodyne-decoder, pulses without return included.

The decoder yields points only. Which pulses had no return follows from the order of firing: every column of a
revolution fires every laser once. Their directions follow from the others: a laser's elevation never changes, and its
azimuth is that of its column plus an angle of its own. A laser that never had a return in the whole capture cannot be
placed and is left out.

The beams of one column do not leave from one point. The decoder's points lie on lines z = (h − f)·tan v at the
horizontal distance h, elevation v; f is a constant of the model. Beams here start on the sensor's axis, and their
range is the one that the sensor sent.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.learn.beams import Beams, joined_beams

__all__ = ["read_capture"]

_FOCUS = {0x21: 0.02883, 0x22: 0.04191, 0x24: 0.04191, 0x28: 0.0424, 0xA1: 0.05863}
"""f [m] by the model byte; where a model is not here, beams start at the sensor's origin"""
_MODEL_BYTES = {0x21: "HDL-32E", 0x22: "VLP-16", 0x24: "Puck Hi-Res", 0x28: "VLP-32C", 0xA1: "VLS-128"}
_PAYLOAD = 1206
_RETURN_MODES = (0x37, 0x38, 0x39, 0x3B)


def read_capture(path: Path, *, model: str | None = None, reach: float = 200.0) -> Beams:
    """All revolutions of a capture, in the sensor's frame; ``model`` (as velodyne-decoder names it) for an HDL-64E."""
    decoder_module = _decoder()
    packets = _packets(path, decoder_module)
    byte = _model_byte(path, packets) if model is None else -1
    config = decoder_module.Config()
    config.max_range = 1000.0
    if model is not None:
        config.model = _model(decoder_module, model)
    try:
        clouds = _decoded(packets, decoder_module, config)
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be decoded ({' '.join(str(error).split())[:120]})") from None
    clouds = [cloud for cloud in clouds if len(cloud)]
    if not clouds:
        raise InputError(f"{path}: holds no points")
    focus = _FOCUS.get(byte, 0.0)
    elevations = _ring_elevations(clouds, focus)
    return joined_beams([_revolution(cloud, focus, elevations, reach) for cloud in clouds])


def _decoder() -> Any:
    try:
        import velodyne_decoder
    except ImportError:
        raise InputError("capture: needs velodyne-decoder; install it with `pip install 'tussock[capture]'`") from None
    return velodyne_decoder


def _packets(path: Path, decoder: Any) -> list[tuple[float, bytes]]:
    """Time [s] and payload of every data packet."""
    if not path.is_file():
        raise InputError(f"{path}: no such capture")
    try:
        found = [(float(stamp), bytes(data)) for stamp, data in decoder.util.iter_pcap(str(path))]
    except Exception as error:  # dpkt raises whatever it stumbles over
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"{path}: not a readable pcap file, or its last packet is cut ({why})") from None
    whole = [packet for packet in found if len(packet[1]) == _PAYLOAD]
    flagged = [data for _, data in found if len(data) != _PAYLOAD and data[:1] == b"\xff" and data[1:2] in b"\xee\xdd"]
    if flagged:
        raise InputError.of(
            str(path), f"every data packet must have {_PAYLOAD} bytes", f"{len(flagged)} cut packets",
            "record it again with a longer snap length",
        )  # fmt: skip
    if not whole:
        raise InputError.of(str(path), f"must hold Velodyne packets of {_PAYLOAD} bytes", f"{len(found)} others")
    return whole


def _model_byte(path: Path, packets: list[tuple[float, bytes]]) -> int:
    """The factory byte that names the model, the same in every packet."""
    counts: dict[tuple[int, int], int] = {}
    for _, data in packets:
        mode, byte = struct.unpack("BB", data[-2:])
        counts[mode, byte] = counts.get((mode, byte), 0) + 1
    wrong = [key for key in counts if key[0] not in _RETURN_MODES or key[1] not in _MODEL_BYTES]
    known = ", ".join(f"{byte:02x} {name}" for byte, name in _MODEL_BYTES.items())
    if wrong:
        mode, byte = wrong[0]
        raise InputError.of(
            f"{path}: factory bytes", f"must name a return mode and a model ({known})", f"{mode:02x} {byte:02x}",
            "give the model where the packets do not say it",
        )  # fmt: skip
    if len({byte for _, byte in counts}) > 1:
        models = sorted({_MODEL_BYTES[byte] for _, byte in counts})
        raise InputError.of(str(path), "must be of one sensor", " and ".join(models), "separate them by port first")
    return next(iter(counts))[1]


def _model(decoder: Any, name: str) -> Any:
    models = {key.lower().replace("_", ""): value for key, value in decoder.Model.__members__.items()}
    key = name.lower().replace("-", "").replace("_", "").replace(" ", "")
    if key not in models:
        raise InputError(f"model {name!r}: unknown to the decoder; {nearest(key, models)}")
    return models[key]


def _decoded(packets: list[tuple[float, bytes]], decoder: Any, config: Any) -> list[NDArray[Any]]:
    stream = decoder.StreamDecoder(config)
    clouds = []
    for stamp, data in packets:
        done = stream.decode(stamp, data, True)
        if done is not None:
            clouds.append(np.asarray(done[1]))
    last = stream.finish(True)
    if last is not None:
        clouds.append(np.asarray(last[1]))
    # Where two returns a pulse were recorded, the strongest is the one that volumes are made for.
    return [cloud[_first_rows(cloud)] for cloud in clouds]


def _first_rows(cloud: NDArray[Any]) -> NDArray[np.int64]:
    """One row for each pulse: the strongest (return type 1 or 3) where there are two."""
    key = cloud["column"].astype(np.int64) * 65536 + cloud["ring"]
    order = np.lexsort((cloud["return_type"] % 2 == 0, key))
    return np.sort(order[np.flatnonzero(np.diff(key[order], prepend=-1))])


def _elevations(cloud: NDArray[Any], focus: float) -> NDArray[np.float64]:
    h = np.hypot(cloud["x"].astype(float), cloud["y"].astype(float))
    return np.arctan2(cloud["z"].astype(float), h - focus)


def _ring_elevations(clouds: list[NDArray[Any]], focus: float) -> NDArray[np.float64]:
    """[rad] of every ring over the whole capture, NaN where it never had a return; shape (rings,)."""
    rings = np.concatenate([cloud["ring"] for cloud in clouds]).astype(np.int64)
    values = np.concatenate([_elevations(cloud, focus) for cloud in clouds])
    count = int(rings.max()) + 1
    order = np.lexsort((values, rings))
    starts = np.searchsorted(rings[order], np.arange(count))
    ends = np.searchsorted(rings[order], np.arange(count), side="right")
    middle = np.minimum((starts + ends) // 2, len(values) - 1)
    return np.where(ends > starts, values[order][middle], np.nan)


def _revolution(cloud: NDArray[Any], focus: float, elevations: NDArray[np.float64], reach: float) -> Beams:
    """The beams of one revolution, column by column, rings from the lowest number up."""
    columns, column = np.unique(cloud["column"], return_inverse=True)
    ring = cloud["ring"].astype(np.int64)
    x, y = cloud["x"].astype(float), cloud["y"].astype(float)
    azimuth, h = np.arctan2(y, x), np.hypot(x, y)
    grid = np.full((len(columns), len(elevations)), -1, np.int64)
    grid[column, ring] = np.arange(len(cloud))
    guessed = _azimuths(azimuth, column, ring, grid.shape)
    known = np.isfinite(elevations) & (grid >= 0).any(0)
    place = np.broadcast_to(known, grid.shape)
    index = grid[place]
    hit = index >= 0
    r = np.broadcast_to(np.arange(len(elevations)), grid.shape)[place]
    angle = np.where(hit, azimuth[index], guessed[place])
    v = elevations[r]
    level = np.cos(v)
    way = np.stack([level * np.cos(angle), level * np.sin(angle), np.sin(v)], 1)
    start = np.zeros((len(index), 3))
    start[:, 2] = -focus * np.tan(v)
    ranges = np.where(hit, h[index] / level, np.nan)
    intensity = np.where(hit, np.clip(cloud["intensity"][index] / 255.0, 0, 1), 0)
    return Beams.of(start, way, ranges, intensity=intensity, rings=r, azimuths=angle, reach=reach)


def _azimuths(
    azimuth: NDArray[np.float64], column: NDArray[np.int64], ring: NDArray[np.int64], shape: tuple[int, int]
) -> NDArray[np.float64]:
    """The azimuth of every column and ring [rad]: column + ring, as the points that are there say; shape (c, r)."""
    turn = np.exp(1j * azimuth)
    of_ring = np.zeros(shape[1])
    of_column = np.zeros(shape[0])
    for _ in range(4):
        of_column = _circular_mean(turn * np.exp(-1j * of_ring[ring]), column, shape[0])
        of_ring = _circular_mean(turn * np.exp(-1j * of_column[column]), ring, shape[1])
    return of_column[:, None] + of_ring[None]


def _circular_mean(turns: NDArray[np.complex128], group: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    mean = np.bincount(group, turns.real, count) + 1j * np.bincount(group, turns.imag, count)
    return np.angle(mean)
