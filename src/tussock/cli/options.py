"""What a command takes, as one object: a frozen dataclass whose fields are its arguments and options.

Typer reads a function's parameters. `takes` shows it the fields of the class as such, in their order, and hands the
function one object of the class. `Command` is how every command shows itself, and `complete_scene`
and `complete_sensor` are what a shell completes. What many commands take has its help here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = [
    "SCENE_HELP", "Command", "Commands", "Seed", "Threads", "WeatherWords", "WindWords", "complete_scene", "complete_sensor", "takes",
]  # fmt: skip

SCENE_HELP = "A scene (.toml, .usd, .glb), a mesh (.obj, …), a pack (.tussock), a .blend, or a ready scene's name."
"""what every command that opens a scene takes"""

WeatherWords = Annotated[
    str | None, typer.Option(help="What is in the air, as 'rain 10 mm/h, fog 80 m'; snow, dust; or dry.")
]
WindWords = Annotated[
    str | None, typer.Option(help='Wind that plants sway in, as "6 m/s from 240" or "6 m/s from 240 gusts 0.5".')
]
Seed = Annotated[int, typer.Option(help="Seed of all chance.")]
Threads = Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")]

T = TypeVar("T")


def takes(options: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Make a function of one object a command with an option for every field of that object's class."""
    types = get_type_hints(options, include_extras=True)
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=types[field.name],
        )
        for field in fields(options)  # type: ignore[arg-type]
    ]

    def as_command(function: Callable[[T], None]) -> Callable[..., None]:
        @wraps(function)
        def command(**given: Any) -> None:
            function(options(**given))

        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return command

    return as_command


class Command(TyperCommand):
    """In its help a flag has no type: nothing is to be given after ``--force``."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_without_type(super().get_params(ctx))


class Commands(TyperGroup):
    """All commands together; flags as those of a `Command`."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_without_type(super().get_params(ctx))


def _flags_without_type(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


def complete_scene(incomplete: str) -> list[str]:
    """Ready scenes of that beginning; files are the shell's own."""
    from tussock.scenes.ready import scene_names

    return [name for name in scene_names() if name.startswith(incomplete)]


def complete_sensor(incomplete: str) -> list[str]:
    """Sensors of the catalogue of that beginning."""
    from tussock.sensors.catalogue import sensor_names

    return [name for name in sensor_names() if name.startswith(incomplete)]
