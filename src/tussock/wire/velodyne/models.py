"""The packets of each Velodyne model, as data: everything in which one differs from another.

A packet has 1206 bytes: 12 blocks of 100 (flag, azimuth, 32 × {distance, intensity}), the time in microseconds past
the hour, and two factory bytes. A firing cycle of all lasers fills half a block (16 lasers), one (32), two (64)
or four (128); the flag says which 32 lasers a block holds.

Sources: VLP-16 manual 63-9243, VLS-128 manual 63-9483, HDL-64E S2 and S3 manuals; modes, model bytes, units and
flags confirmed in recordings of a VLP-32C, a VLS-128 and an HDL-32E. In dual mode the order of the blocks is
confirmed for the VLP-16; that of the HDL-64E and the VLS-128 is the one open decoders use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tussock.errors import InputError, nearest
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor

__all__ = ["DATA_PORT", "MODELS", "MODE_BYTES", "PacketModel", "ReturnMode", "mode_of", "model_of", "speaks_packets"]

ReturnMode = Literal["strongest", "last", "dual"]

DATA_PORT = 2368
"""where the factory's settings send data packets to"""

MODE_BYTES: dict[str, int] = {"strongest": 0x37, "last": 0x38, "dual": 0x39}
"""The first factory byte."""

_RECEIVER_MODES: dict[str, ReturnMode] = {"strongest": "strongest", "last": "last", "strongest+last": "dual"}


@dataclass(frozen=True)
class PacketModel:
    """What is particular to one model."""

    name: str
    lasers: int
    distance_step_m: float
    """a distance is a whole number of these; 0 means no return"""
    model_byte: int | None
    """the second factory byte; None: the HDL-64E's two factory bytes are a slow stream of status"""
    white: float
    """intensity byte of a white wall met head-on (relative intensity 1)"""
    dual_order: Literal["last, strongest", "strongest, last"] = "last, strongest"
    """`last, strongest`: block by block; `strongest, last`: first all blocks of a cycle, then all of the other"""
    dual_cycles: int = 0
    """firing cycles in a packet of two returns each"""
    stamp_us: float = 0.0
    """the packet's time is that of its first firing plus this"""

    @property
    def cycles(self) -> int:
        """Firing cycles in a packet of one return each."""
        return 12 * 32 // self.lasers


# A calibrated Velodyne reports diffuse reflectors as 0 to 100 and retro-reflectors as 101 to 255 (VLP-16 manual,
# section 6.1), the VLS-128 as 0 to 110 and 111 to 255 (its manual, section 6.1); the HDL-64E reports raw intensity with
# 255 as the most. A sensor's file has the same scale: intensity_ceiling times this is 255.
_CALIBRATED, _CALIBRATED_128, _RAW = 100.0, 110.0, 255.0

MODELS: dict[str, PacketModel] = {
    model.name: model
    for model in (
        PacketModel("vlp-16", 16, 0.002, 0x22, _CALIBRATED, dual_cycles=12),
        PacketModel("puck-hi-res", 16, 0.002, 0x24, _CALIBRATED, dual_cycles=12),
        PacketModel("hdl-32e", 32, 0.002, 0x21, _CALIBRATED, dual_cycles=6),
        PacketModel("vlp-32c", 32, 0.004, 0x28, _CALIBRATED, dual_cycles=6),
        PacketModel("hdl-64e-s2", 64, 0.002, None, _RAW, "strongest, last", dual_cycles=3),
        PacketModel("hdl-64e-s3", 64, 0.002, None, _RAW, "strongest, last", dual_cycles=3),
        # A cycle never spans packets, so one of 4 × 2 blocks leaves four of the twelve empty.
        PacketModel("vls-128", 128, 0.004, 0xA1, _CALIBRATED_128, dual_cycles=1, stamp_us=6.46),
    )
}
"""Every model by the name that ``packets`` of a sensor's file gives."""


def model_of(sensor: Sensor) -> PacketModel:
    """The packets that a sensor sends; an `InputError` where none are known for it."""
    known = ", ".join(MODELS)
    if sensor.packets is None:
        raise InputError(f"sensor {sensor.name}: its packets are not known; sensors with packets: {known}")
    if sensor.packets not in MODELS:
        raise InputError(f"sensor {sensor.name}: packets {sensor.packets!r}: {nearest(sensor.packets, MODELS)}")
    model = MODELS[sensor.packets]
    pattern = sensor.pattern
    if not isinstance(pattern, SpinningPattern) or sensor.lasers != model.lasers or pattern.turns:
        raise InputError.of(
            f"sensor {sensor.name}: packets {model.name}", f"need a spinning pattern of {model.lasers} lasers",
            f"{sensor.pattern.kind} of {sensor.lasers}",
        )  # fmt: skip
    if model.model_byte is None and any(pattern.axis_height_m):
        raise InputError(
            f"sensor {sensor.name}: packets {model.name}: have no place for axis_height_m in the calibration they tell; "
            "give vertical_offset_m"
        )
    return model


def mode_of(sensor: Sensor) -> ReturnMode:
    """The return mode of a sensor's packets, from that of its receiver."""
    mode = str(sensor.receiver.mode)
    if mode not in _RECEIVER_MODES:
        allowed = ", ".join(_RECEIVER_MODES)
        raise InputError.of("receiver.mode", f"packets carry only {allowed}", mode, "set receiver.mode to one of them")
    return _RECEIVER_MODES[mode]


def speaks_packets(sensor: Sensor) -> bool:
    """Whether a sensor has packets of this family, and its receiver a mode that they carry."""
    return sensor.packets in MODELS and sensor.receiver.mode in _RECEIVER_MODES
