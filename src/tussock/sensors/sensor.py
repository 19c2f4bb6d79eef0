"""A sensor: its scan pattern, beam, receiver and noise, each with the source of its numbers."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from tussock.errors import InputError
from tussock.sensors.beam import Beam
from tussock.sensors.imu import Imu
from tussock.sensors.noise import Noise
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.patterns.image import ImagePattern
from tussock.sensors.patterns.line import LinePattern
from tussock.sensors.patterns.risley import RisleyPattern
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.patterns.sweep import SweepPattern
from tussock.sensors.patterns.table import TablePattern
from tussock.sensors.patterns.two_blocks import TwoBlocksPattern
from tussock.sensors.pulses import Pulses
from tussock.sensors.receiver import Receiver
from tussock.sensors.waveform import WaveformSettings
from tussock.settings import Settings
from tussock.shown import Shown

__all__ = ["AnyPattern", "Sensor"]

AnyPattern = Annotated[
    SpinningPattern
    | TwoBlocksPattern
    | LinePattern
    | RisleyPattern
    | SweepPattern
    | ImagePattern
    | GridPattern
    | TablePattern,
    Field(discriminator="kind"),
]


class Sensor(Shown, Settings):
    """Everything the simulation needs to know of a sensor; pose and scene are not part of it.

    >>> sensor = tussock.load_sensor("vlp-16").with_(**{"receiver.mode": "last", "rotation_hz": 5})
    >>> sensor.frame_period
    0.2
    """

    name: str
    description: str = ""
    wavelength_nm: Annotated[float, Field(gt=0.0, lt=100_000.0)] = 905.0
    packets: str | None = None
    """which packets the sensor sends over the network: a name in `tussock.wire.families`"""
    pattern: AnyPattern
    beam: Beam = Beam()
    receiver: Receiver = Receiver()
    noise: Noise = Noise()
    waveform: WaveformSettings = WaveformSettings()
    """what is kept where the full waveform is asked for"""
    imu: Imu | None = None
    """the inertial sensor inside, where there is one"""
    sources: dict[str, str] = Field(default_factory=dict)
    """where each group of numbers comes from"""

    @model_validator(mode="after")
    def _speed_of_an_echo(self) -> Sensor:
        if self.noise.speed_sigma_m_s is not None and self.receiver.model != "echoes":
            raise ValueError("noise.speed_sigma_m_s needs receiver.model = 'echoes'")
        return self

    @model_validator(mode="after")
    def _adaptive_echoes(self) -> Sensor:
        if self.beam.adaptive and self.receiver.model != "echoes":
            raise ValueError("beam.adaptive needs receiver.model = 'echoes'")
        return self

    _pictured = True

    def _rays_in_words(self) -> str:
        if self.beam.probes < self.beam.rays:
            return f"{self.beam.probes} to {self.beam.rays} rays"
        return f"{self.beam.rays} ray{'s' if self.beam.rays > 1 else ''}"

    def _facts(self) -> dict[str, object]:
        return {
            "name": self.name,
            "pattern": f"{self.pattern.kind}, {self.lasers} laser{'s' if self.lasers > 1 else ''}",
            "pulses": f"{self.pulse_count():,} a frame, {1 / self.frame_period:g} frames a second",
            "beam": f"{self._rays_in_words()} a pulse",
            "returns": str(self.receiver.mode),
            "reach": f"{self.receiver.max_range_m:g} m",
        }

    @property
    def frame_period(self) -> float:
        """[s] from the start of one frame to the start of the next."""
        return self.pattern.frame_period

    @property
    def lasers(self) -> int:
        """How many lasers the pattern tells apart; each has its own range bias."""
        return self.pattern.lasers

    @property
    def rotation_hz(self) -> float:
        """Revolutions of the head or the mirror a second; frames a second where nothing turns."""
        return float(getattr(self.pattern, "rotation_hz", 1.0 / self.pattern.frame_period))

    def pulses(self, frame: int = 0) -> Pulses:
        """The pulses of frame ``frame`` in firing order; the arrays are shared and read-only."""
        return self.pattern.pulses(frame)

    def pulse_count(self, frame: int = 0) -> int:
        """How many pulses frame ``frame`` has; where that is plain arithmetic, no pulse is made for it."""
        return self.pattern.pulse_count(frame)

    def told(self) -> dict[str, Any]:
        """What frames and notes say of the sensor: its settings, and of files their contents, not where they lie."""
        return self.model_dump(mode="json") | {"pattern": self.pattern.told()}

    def with_(self, **settings: Any) -> Self:
        """A copy with other settings: ``with_(rotation_hz=5)``, ``with_(**{"beam.rays": 9})``."""
        if "rotation_hz" in settings:
            if "rotation_hz" not in type(self.pattern).model_fields:
                raise InputError(f"rotation_hz: {self.name} has a fixed frame rate and no rotation to set")
            settings["pattern.rotation_hz"] = settings.pop("rotation_hz")
        return self.changed(**settings)
