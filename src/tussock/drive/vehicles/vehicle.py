"""A vehicle: its size, how it steers, what it can push, and what holds it back. All numbers are data.

The catalogue is one TOML file each in ``data/``, with the source of every group of numbers; a user's file holds a
whole vehicle or starts from another one (``base = "skid-steer"``). The body's origin lies on the ground in the middle
between the wheels, x forward, y left, z up; sensors are mounted relative to it.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, model_validator

from tussock.drive.site.obstacles import Body
from tussock.errors import InputError, nearest
from tussock.quantities import NotNegative, Positive
from tussock.settings import Settings, read_toml

__all__ = ["GRAVITY", "Vehicle", "VehicleNumbers", "load_vehicle", "vehicle_names"]

GRAVITY = 9.81


class VehicleNumbers(NamedTuple):
    """A vehicle as kernels have it: metres, seconds, radians, newtons, kilograms, watts."""

    steered: bool
    length: float
    width: float
    wheelbase: float
    track: float
    max_speed: float
    max_reverse: float
    max_turn_rate: float
    max_steer: float
    steer_rate: float
    acceleration: float
    braking: float
    turn_acceleration: float
    speed_lag: float
    turn_lag: float
    mass: float
    power: float
    traction: float
    rolling: float
    slip: float
    side_slip: float
    plant_resistance: float
    pressed_share: float


class Vehicle(Settings):
    """Everything the drive needs to know of a vehicle.

    >>> faster = tussock.load_vehicle("skid-steer").changed(max_speed_m_s=3.0)
    """

    name: str
    description: str = ""
    steering: Literal["skid", "ackermann"] = "skid"
    """skid: turns on the spot; ackermann: the front wheels turn, and it turns only while it moves"""

    length_m: Positive
    width_m: Positive
    height_m: Positive
    """of the roof: what hangs higher is passed under"""
    wheelbase_m: Positive
    track_m: Positive
    climb_m: NotNegative
    """the highest step that the wheels climb; lower stones do not stop it"""
    centre_of_mass_m: Positive
    """its height above the ground; with the track it says when the vehicle tips over"""

    max_speed_m_s: Positive
    max_reverse_m_s: NotNegative
    max_turn_rate_deg_s: Positive
    max_steer_deg: Annotated[float, Field(gt=0.0, lt=80.0)] = 30.0
    steer_rate_deg_s: Positive = 45.0
    acceleration_m_s2: Positive
    braking_m_s2: Positive
    turn_acceleration_deg_s2: Positive = 180.0
    speed_lag_s: Positive
    """time constant with which the wheels' speed follows the command"""
    turn_lag_s: Positive

    mass_kg: Positive
    power_w: Positive
    traction: Annotated[float, Field(gt=0.0, le=2.0)]
    """greatest driving force over the load on the wheels"""
    rolling_resistance: Annotated[float, Field(ge=0.0, lt=1.0)]
    """force over the load on the wheels"""
    slip: Annotated[float, Field(ge=0.0, lt=1.0)]
    """share by which the wheels run ahead of the ground when the driving force is the greatest possible"""
    side_slip: Annotated[float, Field(ge=0.0, lt=1.0)]
    """sideways over forward speed when a side slope pulls with the greatest force that traction holds"""
    plant_resistance_n_m2: NotNegative
    """force a metre of width that plants of area index 1 and 1 m height hold against it"""
    pressed_share: Annotated[float, Field(ge=0.0, le=1.0)] = 0.2
    """what is left of that where the vehicle has passed before"""
    sources: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Vehicle:
        if self.wheelbase_m > self.length_m:
            raise ValueError(f"wheelbase_m must be at most length_m ({self.length_m:g})")
        if self.track_m > self.width_m:
            raise ValueError(f"track_m must be at most width_m ({self.width_m:g})")
        if self.climb_m >= self.height_m:
            raise ValueError(f"climb_m must be below height_m ({self.height_m:g})")
        return self

    @property
    def body(self) -> Body:
        """What of it meets obstacles and plants."""
        push = self.traction * self.mass_kg * GRAVITY
        return Body(self.climb_m, self.height_m, min(0.5, 0.5 * self.height_m), push)

    @property
    def radius_m(self) -> float:
        """[m] from the middle to a corner: the circle that a turn on the spot needs"""
        return 0.5 * float((self.length_m**2 + self.width_m**2) ** 0.5)

    @property
    def turning_radius_m(self) -> float:
        """[m] of the tightest circle of the middle between the wheels; 0 where it turns on the spot"""
        from math import radians, tan

        return 0.0 if self.steering == "skid" else self.wheelbase_m / tan(radians(self.max_steer_deg))

    @property
    def numbers(self) -> VehicleNumbers:
        from math import radians

        return VehicleNumbers(
            steered=self.steering == "ackermann",
            length=self.length_m,
            width=self.width_m,
            wheelbase=self.wheelbase_m,
            track=self.track_m,
            max_speed=self.max_speed_m_s,
            max_reverse=self.max_reverse_m_s,
            max_turn_rate=radians(self.max_turn_rate_deg_s),
            max_steer=radians(self.max_steer_deg),
            steer_rate=radians(self.steer_rate_deg_s),
            acceleration=self.acceleration_m_s2,
            braking=self.braking_m_s2,
            turn_acceleration=radians(self.turn_acceleration_deg_s2),
            speed_lag=self.speed_lag_s,
            turn_lag=self.turn_lag_s,
            mass=self.mass_kg,
            power=self.power_w,
            traction=self.traction,
            rolling=self.rolling_resistance,
            slip=self.slip,
            side_slip=self.side_slip,
            plant_resistance=self.plant_resistance_n_m2,
            pressed_share=self.pressed_share,
        )


@cache
def vehicle_names() -> tuple[str, ...]:
    """The names in the catalogue.

    >>> "skid-steer" in tussock.vehicle_names()
    True
    """
    folder = files("tussock.drive.vehicles") / "data"
    return tuple(sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml")))


def load_vehicle(name_or_path: str | Path) -> Vehicle:
    """A vehicle by its name in the catalogue or from a TOML file.

    >>> tussock.load_vehicle("skid-steer").steering
    'skid'
    """
    if isinstance(name_or_path, str) and not name_or_path.lower().endswith(".toml") and "/" not in name_or_path:
        return Vehicle.parse(_from_catalogue(name_or_path), name_or_path)
    path = Path(name_or_path)
    table = read_toml(path)
    base = table.pop("base", None)
    if base is not None:
        if not isinstance(base, str):
            raise InputError.of(f"{path}: base", "must be the name of a vehicle", base)
        below = _from_catalogue(base)
        sources = {**below.get("sources", {}), **table.get("sources", {})}
        table = {**below, "name": path.stem, **table, "sources": sources}
    return Vehicle.parse({"name": path.stem, **table}, str(path))


def _from_catalogue(name: str) -> dict[str, Any]:
    if name not in vehicle_names():
        raise InputError(
            f"vehicle: {name!r} is not in the catalogue; {nearest(name, vehicle_names())} (or give a .toml file)"
        )
    with as_file(files("tussock.drive.vehicles") / "data") as folder:
        return {**read_toml(folder / f"{name}.toml"), "name": name}
