"""Pulses from captures of Velodyne sensors (``.pcap``), through velodyne-decoder, pulses without return included.

The decoder gives points, and none where a pulse had no return. But where a pulse went, it knows for every one: the
packets are decoded twice more, with the same made-up distance in every place, a near and a far one. The two points of
a pulse lie on its line, calibration and offsets of the model included. A pulse starts where its line passes the
sensor's axis, which is where the sensor counts its distances from.

An HDL-64E sends its calibration in its packets, a little over a second for the whole of it. From a shorter capture the
model must be named, and the decoder's own calibration of another sensor of that model is used.

Of two returns of a pulse the strongest is taken. Left out: nothing is corrected for the sensor's own motion unless a
trajectory is given, whose times are those of the capture's packets.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError, nearest
from tussock.extras import load_extra
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.poses import Trajectory
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.velodyne.layout import PACKET, PACKET_BYTES
from tussock.wire.velodyne.models import MODE_BYTES, MODELS

__all__ = ["pulses_of_capture"]

_NEAR, _FAR = 5_000, 20_000
"""made-up distances, in the sensor's own steps: 10 and 40 m, or 20 and 80 m"""
_MOST_RANGE = 1000.0
_CALIBRATED_WHITE, _RAW_WHITE = 100.0, 255.0
"""intensity byte of a white wall met head-on, see `tussock.wire.velodyne.models`"""
_HDL64 = {
    "HDL64E_S1": "HDL-64E_S1-utexas.yml",
    "HDL64E_S2": "HDL-64E_S2.1-sztaki.yml",
    "HDL64E_S3": "HDL-64E_S3-VeloView.yml",
}
"""calibrations that come with the decoder"""
_STREAM_START = b"\xff\xee"
_LAST = 2
"""the decoder's return type of a last return that is not the strongest too"""


class _Packets(NamedTuple):
    payloads: NDArray[Any]
    """records of `PACKET`, shape (n,)"""
    times: NDArray[np.float64]
    """[s] Unix time, shape (n,)"""


def pulses_of_capture(
    path: Path, *, model: str | None = None, trajectory: Trajectory | None = None, reach: float | None = None
) -> MeasuredPulses:
    """Every pulse of a capture, revolution by revolution, in the sensor's frame, or in the world by a trajectory.

    ``model`` names the sensor where its packets do not (HDL-64E). The last turn may be a part of a revolution.
    """
    decoder = load_extra("velodyne_decoder", extra="capture", purpose="reading a capture")
    packets = _read(path)
    config, white = _config(decoder, path, packets, model)
    try:
        measured = _decoded(decoder, packets, config)
        near, far = (_decoded(decoder, _filled(packets, steps), config) for steps in (_NEAR, _FAR))
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be decoded ({' '.join(str(error).split())[:120]})") from None
    if not len(near):
        raise InputError(f"{path}: holds no firing that can be decoded")
    rows = _rows_of(measured, near)
    one, two = _points(near), _points(far)
    way = (two - one) / np.linalg.norm(two - one, axis=1, keepdims=True)
    # Where the line is nearest to the sensor's axis.
    back = (one[:, :2] * way[:, :2]).sum(1) / (way[:, :2] ** 2).sum(1)
    start = one - back[:, None] * way
    ranges = np.full(len(near), np.nan)
    ranges[rows] = ((_points(measured) - start[rows]) * way[rows]).sum(1)
    intensity = np.zeros(len(near))
    intensity[rows] = np.clip(measured["intensity"] / white, 0, 1)
    azimuths = np.arctan2(way[:, 1], way[:, 0])
    if trajectory is not None:
        trajectory.check_covers(f"the times of {path.name}", near["time"].min(), near["time"].max(), slack=0.2)
        positions, quaternions = trajectory.at(near["time"])
        turn = Rotation.from_quat(quaternions)
        start, way = turn.apply(start) + positions, turn.apply(way)
    return MeasuredPulses.of(
        start, way, ranges, intensity=intensity, rings=near["ring"], azimuths=azimuths, turns=near["turn"], reach=reach
    )


def _read(path: Path) -> _Packets:
    """The data packets of a capture, in the order of time."""
    found = read_datagrams(path)
    if (notes := found.losses.notes(path)) and (found.losses.shortened or found.losses.cut_after is not None):
        raise InputError(notes[0])
    ours = found.select(found.begins(_STREAM_START))
    whole = ours.select(ours.size == PACKET_BYTES)
    if len(whole) < len(ours):
        raise InputError(
            f"{path}: every data packet must have {PACKET_BYTES} bytes, but {len(ours) - len(whole)} of {len(ours)} have "
            "not; record it again, whole"
        )
    if not len(whole):
        other = f"only {len(found)} other datagrams" if len(found) else "nothing"
        raise InputError(f"{path}: must hold Velodyne packets of {PACKET_BYTES} bytes, but holds {other}")
    return _Packets(whole.payloads().view(PACKET)[:, 0], whole.times)


def _config(decoder: Any, path: Path, packets: _Packets, model: str | None) -> tuple[Any, float]:
    """The decoder's settings for these packets, and the intensity byte of a white wall."""
    config = decoder.Config(min_range=0.0, max_range=_MOST_RANGE)
    known = {kind.model_byte: kind for kind in MODELS.values() if kind.model_byte is not None}
    factory = packets.payloads["factory"]
    odd_mode, odd_model = ~np.isin(factory[:, 0], list(MODE_BYTES.values())), ~np.isin(factory[:, 1], list(known))
    wrong = odd_mode | odd_model
    if model is not None:
        config.model = _model(decoder, model)
        if not wrong.any():
            _check_model(decoder, config.model, model, known[int(factory[0, 1])].name)
        if config.model.name in _HDL64:
            told = _told_calibration(decoder, packets)
            config.calibration = told[1] if told else decoder.get_bundled_calibration(_HDL64[config.model.name])
        return config, _RAW_WHITE if config.model.name in _HDL64 else _CALIBRATED_WHITE
    if wrong.any():
        told = _told_calibration(decoder, packets)
        if told is None:
            packet = int(np.argmax(wrong))
            names = ", ".join(f"{key:02x} {kind.name}" for key, kind in sorted(known.items()))
            rule = "the first, return mode, must be 37, 38 or 39" if odd_mode[packet] else f"the second must be {names}"
            raise InputError(
                f"{path}: factory bytes of packet {packet}: {rule}, got {bytes(factory[packet]).hex(' ')}; only an "
                "HDL-64E sends others: name it, as --model hdl-64e-s3"
            )
        config.model, config.calibration = _model(decoder, f"HDL64E_{told[0]}"), told[1]
        return config, _RAW_WHITE
    bytes_seen = np.unique(factory[:, 1])
    if len(bytes_seen) > 1:
        names = " and ".join(known[int(byte)].name for byte in bytes_seen)
        raise InputError.of(str(path), "must be of one sensor", names, "separate them by address first")
    return config, known[int(bytes_seen[0])].white


def _check_model(decoder: Any, given: Any, called: str, told: str) -> None:
    """Packets that name their model need no other; VLP-32A and B send what a VLP-32C does."""
    alike = {"VLP32A", "VLP32B", "VLP32C"}
    own = _model(decoder, told)
    if given != own and not {given.name, own.name} <= alike:
        raise InputError.of("model", f"the packets are those of {told}", called, "leave --model out")


def _model(decoder: Any, name: str) -> Any:
    def plain(text: str) -> str:
        return text.lower().replace("-", "").replace("_", "").replace(" ", "")

    models = {plain(key): value for key, value in decoder.Model.__members__.items()}
    if plain(name) not in models:
        raise InputError(f"model {name!r}: unknown to the decoder; {nearest(name, decoder.Model.__members__)}")
    return models[plain(name)]


def _told_calibration(decoder: Any, packets: _Packets) -> tuple[str, Any] | None:
    """S2 or S3, and the calibration, that an HDL-64E tells in the factory bytes of many packets; None if it does not."""
    import yaml  # comes with the decoder

    stream = (bytes(4) + bytes(pair) for pair in packets.payloads["factory"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            told = decoder.hdl64e.read_status_info(stream)
            table = decoder.hdl64e.status_info_to_calib_dict(told)
        except (ValueError, KeyError, IndexError):  # too short, or no HDL-64E
            return None
    return str(told["Model"]), decoder.Calibration.from_string(yaml.dump(table))


def _filled(packets: _Packets, steps: int) -> _Packets:
    """The same packets with one distance in every place."""
    payloads = packets.payloads.copy()
    payloads["blocks"]["returns"]["distance"] = steps
    return _Packets(payloads, packets.times)


def _decoded(decoder: Any, packets: _Packets, config: Any) -> NDArray[Any]:
    """The decoder's points with their turn and Unix time, one a pulse, turn by turn and column by column."""
    stream = decoder.StreamDecoder(config)
    raw = packets.payloads.tobytes()
    done = [
        stream.decode(float(time), raw[k * PACKET_BYTES : (k + 1) * PACKET_BYTES], True)
        for k, time in enumerate(packets.times)
    ]
    done.append(stream.finish(True))
    turns = [revolution for revolution in done if revolution is not None]
    parts = [_plain(stamp, points, turn) for turn, (stamp, points) in enumerate(turns)]
    return np.concatenate(parts) if parts else np.empty(0, _POINT)


_POINT = np.dtype(
    [("x", "f8"), ("y", "f8"), ("z", "f8"), ("intensity", "f8"), ("time", "f8"), ("key", "i8"), ("ring", "u2"),
     ("turn", "i4")]
)  # fmt: skip


def _plain(stamp: Any, points: NDArray[Any], turn: int) -> NDArray[Any]:
    """The points of one revolution, the strongest of each pulse, in an order that two decodings share."""
    key = ((np.int64(turn) << 16 | points["column"]) << 8) | points["ring"]
    order = np.lexsort((points["return_type"] == _LAST, key))
    first = order[np.diff(key[order], prepend=-1) != 0]
    plain = np.empty(len(first), _POINT)
    for name in ("x", "y", "z", "intensity", "ring"):
        plain[name] = points[name][first]
    plain["time"] = points["time"][first].astype(np.float64) + stamp.host
    plain["key"], plain["turn"] = key[first], turn
    return plain


def _rows_of(measured: NDArray[Any], every: NDArray[Any]) -> NDArray[np.int64]:
    """Where in ``every`` pulse the measured ones are."""
    rows = np.searchsorted(every["key"], measured["key"])
    assert np.array_equal(every["key"][rows], measured["key"]), "the decoder split both alike"
    return rows


def _points(cloud: NDArray[Any]) -> NDArray[np.float64]:
    return np.stack([cloud["x"], cloud["y"], cloud["z"]], 1)
