"""Which model sent packets, and in which mode: by the factory bytes and by the time from packet to packet.

Either can be wrong alone: bytes where a converter or an emulator wrote them, times where packets are missing. Where they
contradict each other nothing is guessed: an error says what each stands for, and a model that is named wins.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.velodyne.layout import layout_of
from tussock.wire.velodyne.models import MODE_BYTES, MODELS, PacketModel, ReturnMode, model_of

__all__ = ["check_timing", "no_model", "recognise_bytes", "recognise_mode", "sensor_named", "timing_of", "variants"]

RELATED = {
    "vlp-32a": "vlp-32c", "vlp-32b": "vlp-32c", "hdl-64e-s1": "hdl-64e-s2", "puck-lite": "vlp-16",
    "alpha-prime": "vls-128",
}  # fmt: skip
"""models that send the packets of another, at the same times"""
_VARIANTS = {"hdl-64e-s3": ("hdl-64e-s3-dual",), "vls-128": ("vls-128-recorded",)}
"""sensors of the catalogue that send the same packets at other times"""
_MODEL_BYTES = {m.model_byte: m for m in MODELS.values() if m.model_byte is not None} | {
    0x23: MODELS["vlp-16"],  # Puck LITE
    0x63: MODELS["vls-128"],  # with older firmware
}
_TIMING = 0.05
"""relative difference within which times are those of a model: units differ by up to 4 %"""


def sensor_named(name: str) -> tuple[PacketModel, Sensor, str]:
    """The packets, the sensor and the plain name of what people call so: a model, or a sensor of their own (.toml)."""
    plain = {_plain(known): known for known in (*sensor_names(), *RELATED)}
    own = plain.get(_plain(name), name)
    if own not in plain.values() and not name.lower().endswith((".toml", ".json")):
        raise InputError(f"no such model; {nearest(name, (*MODELS, *RELATED))}", field=f"model {name!r}")
    sensor = load_sensor(RELATED.get(own, own))
    return model_of(sensor), sensor, own


def _plain(text: str) -> str:
    return text.lower().replace("-", "").replace("_", "").replace(" ", "")


def variants(model: PacketModel) -> list[Sensor]:
    """The sensors of the catalogue that may have sent packets of a model."""
    return [load_sensor(name) for name in (model.name, *_VARIANTS.get(model.name, ()))]


def recognise_bytes(path: Path, factory: NDArray[np.uint8]) -> PacketModel | None:
    """The model that the factory bytes (n, 2) name; None where they are the status of an HDL-64E, or nonsense."""
    odd_mode = ~np.isin(factory[:, 0], list(MODE_BYTES.values()))
    odd_model = ~np.isin(factory[:, 1], list(_MODEL_BYTES))
    if (odd_mode | odd_model).any():
        return None
    seen = np.unique(factory[:, 1])
    models = list(dict.fromkeys(_MODEL_BYTES[int(byte)].name for byte in seen))
    if len(models) > 1:
        raise InputError.of(str(path), "must be of one sensor", " and ".join(models), "separate them first")
    return MODELS[models[0]]


def no_model(path: Path, factory: NDArray[np.uint8]) -> InputError:
    """Why factory bytes name no model."""
    odd_mode = ~np.isin(factory[:, 0], list(MODE_BYTES.values()))
    packet = int(np.argmax(odd_mode | ~np.isin(factory[:, 1], list(_MODEL_BYTES))))
    names = ", ".join(f"{byte:02x} {model.name}" for byte, model in sorted(_MODEL_BYTES.items()))
    rule = "the first, return mode, must be 37, 38 or 39" if odd_mode[packet] else f"the second must be {names}"
    return InputError(
        f"{path}: factory bytes of packet {packet}: {rule}, got {bytes(factory[packet]).hex(' ')}; only an HDL-64E sends "
        "others: name it, as --model hdl-64e-s3"
    )


def recognise_mode(path: Path, model: PacketModel, packets: NDArray[Any]) -> ReturnMode:
    """The return mode of packets (records of `PACKET`): by the mode byte, or by azimuths that come in pairs."""
    factory = packets["factory"]
    modes: dict[int, ReturnMode] = {byte: mode for mode, byte in MODE_BYTES.items()}  # type: ignore[misc]
    if model.model_byte is not None and np.isin(factory[:, 0], list(modes)).all():
        mode = factory[:, 0]
        others = np.flatnonzero(mode != mode[0])
        if len(others):
            before, after = modes[int(mode[0])], modes[int(mode[others[0]])]
            raise InputError(
                f"{path}: the return mode changes from {before} to {after} at packet {others[0]}; cut the capture there"
            )
        return modes[int(factory[0, 0])]
    # No mode byte: in dual mode the blocks of both returns of a cycle carry the same azimuth, in others they do not.
    first, second = layout_of(model, "dual").place[0, 0] // 100
    azimuth = packets["blocks"]["azimuth"]
    together = azimuth[:, first] == azimuth[:, second]
    return "dual" if together.mean() > 0.5 and np.ptp(azimuth.astype(np.int64), axis=1).max() > 0 else "strongest"


def timing_of(sensor: Sensor, mode: ReturnMode) -> float:
    """[µs] from packet to packet of a sensor."""
    assert isinstance(sensor.pattern, SpinningPattern)
    return layout_of(model_of(sensor), mode).cycles * float(sensor.pattern.cycle) * 1e6


def nearest_timing(sensors: list[Sensor], mode: ReturnMode, interval_us: float) -> tuple[Sensor, float]:
    """The sensor whose packets come at these times, and how far off they are, relatively."""
    apart = [abs(interval_us / timing_of(sensor, mode) - 1) for sensor in sensors]
    best = int(np.argmin(np.round(apart, 2)))
    return sensors[best], apart[best]


def check_timing(
    path: Path, sensor: Sensor, mode: ReturnMode, interval_us: float, *, named: bool, say: Callable[[str], None]
) -> None:
    """An error where the time from packet to packet is not that of the sensor; a note where the sensor was named."""
    wanted = timing_of(sensor, mode)
    if abs(interval_us / wanted - 1) <= _TIMING:
        return
    like = [
        f"a {model.name} in mode {words}"
        for model in MODELS.values()
        for as_mode, words in (("strongest", "strongest or last"), ("dual", "dual"))
        if nearest_timing(variants(model), as_mode, interval_us)[1] <= _TIMING  # type: ignore[arg-type]
    ]
    whose = f"as those of {' or '.join(like)} do" if like else "as those of no known model do"
    text = (
        f"packets of a {sensor.name} in mode {mode} leave every {wanted:.0f} µs, but these every {interval_us:.0f} µs, "
        f"{whose}"
    )
    if named:
        say(f"{path}: {text}; read as a {sensor.name}, as told")
        return
    raise InputError(
        f"{path}: the model byte and the times contradict each other: {text}; name the sensor with --model"
    )
