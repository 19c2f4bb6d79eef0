"""Where a command's scene, sensor, pose and seed come from.

What the command line says goes before what a source brings (`tussock.sources`).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tussock.errors import InputError
from tussock.sources import Source, opened

if TYPE_CHECKING:
    from tussock.blender.load import During
    from tussock.scene.scene import Scene

__all__ = ["open_scene", "open_source", "parse_sun", "parse_utc"]


def open_source(
    name: str, weather: str | None = None, *, wind: str | None = None, during: During | None = None
) -> Source:
    """A scene file, a pack or a .blend by its path, or a ready scene by its name.

    In the weather and the wind that it has itself, or in those that ``weather`` (`tussock.air.weather.parse_weather`)
    and ``wind`` (`tussock.scene.wind.wind_of`) say. Of a .blend the frames ``during`` a time are read; all if not given.
    """
    from tussock.air.weather import parse_weather
    from tussock.cli.console import note
    from tussock.scene.wind import wind_of

    said = None if weather is None else parse_weather(weather)  # before anything is opened
    blows = None if wind is None else wind_of(wind)
    source = opened(name, note, during=during)
    if weather is not None:  # "dry" too: it takes the scene's own weather away
        source = replace(source, scene=source.scene.with_weather(said))
    if blows is not None:
        source.scene.wind = blows
    return source


def open_scene(name: str, weather: str | None = None, *, wind: str | None = None) -> Scene:
    """The scene alone."""
    return open_source(name, weather, wind=wind).scene


def parse_utc(text: str) -> float:
    """Unix time [s] of a date and time; without a zone it is UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise InputError.of("utc", "must be a date and time", text, "for example 2025-01-01T00:00:00") from None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def parse_sun(text: str) -> tuple[float, float]:
    """``azimuth,elevation`` [deg]."""
    try:
        azimuth, elevation = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError.of("sun", "must be azimuth,elevation [deg]", text, "for example 215,40") from None
    return azimuth, elevation
