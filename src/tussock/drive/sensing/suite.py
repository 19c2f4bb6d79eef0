"""All small sensors of a vehicle, from the catalogue or a file of one's own."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from tussock.drive.sensing.compass import Compass, CompassAtWork
from tussock.drive.sensing.gps import Gps, GpsReceiver
from tussock.drive.sensing.imu import Imu, ImuAtWork
from tussock.drive.sensing.odometry import Odometer, Odometry
from tussock.drive.sensing.readings import Readings
from tussock.drive.vehicles.body import Driven
from tussock.errors import InputError, nearest
from tussock.settings import Settings, read_toml

__all__ = ["Suite", "SuiteAtWork", "small_sensor_names"]

_KINDS: dict[str, type[Settings]] = {"gps": Gps, "compass": Compass, "odometry": Odometry, "imu": Imu}
_DEFAULTS = {"gps": "gps-rtk", "compass": "compass-mti-30", "odometry": "odometry-encoders", "imu": "imu-mti-1"}


def small_sensor_names() -> tuple[str, ...]:
    """The names in the catalogue."""
    folder = files("tussock.drive.sensing") / "datasheets"
    return tuple(sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml")))


def _named(kind: str, name: str) -> Any:
    """A sensor of the catalogue or of a file, by its kind."""
    if name.endswith(".toml"):
        return _KINDS[kind].parse({"name": Path(name).stem, **read_toml(Path(name))}, name)
    known = [one for one in small_sensor_names() if one.startswith(kind)]
    if name not in known:
        raise InputError(f"{kind}: {name!r} is not in the catalogue; {nearest(name, known)} (or give a .toml file)")
    with as_file(files("tussock.drive.sensing") / "datasheets") as folder:
        return _KINDS[kind].parse({**read_toml(folder / f"{name}.toml"), "name": name}, name)


class Suite(Settings):
    """The small sensors; each may be given by its name in the catalogue, as a table, or by a file's path."""

    gps: Gps = Field(default_factory=lambda: _named("gps", _DEFAULTS["gps"]))
    compass: Compass = Field(default_factory=lambda: _named("compass", _DEFAULTS["compass"]))
    odometry: Odometry = Field(default_factory=lambda: _named("odometry", _DEFAULTS["odometry"]))
    imu: Imu = Field(default_factory=lambda: _named("imu", _DEFAULTS["imu"]))

    @field_validator("gps", "compass", "odometry", "imu", mode="before")
    @classmethod
    def _by_name(cls, value: Any, info: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return _named(str(info.field_name), value)
        except InputError as error:
            raise ValueError(str(error)) from None

    @classmethod
    def exact(cls) -> Suite:
        """Sensors without any error."""
        return cls(gps=Gps(), compass=Compass(), odometry=Odometry(), imu=Imu())


class SuiteAtWork:
    """The small sensors during a drive."""

    def __init__(self, suite: Suite, *, seed: int) -> None:
        self._gps, self._compass = GpsReceiver(suite.gps, seed=seed), CompassAtWork(suite.compass, seed=seed)
        self._odometry, self._imu = Odometer(suite.odometry, seed=seed), ImuAtWork(suite.imu, seed=seed)

    def read(self, driven: Driven) -> Readings:
        """What they say of one step."""
        return Readings(
            self._gps.read(driven), self._compass.read(driven), self._odometry.read(driven), self._imu.read(driven)
        )
