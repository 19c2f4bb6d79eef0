"""``tussock sensors``: what is in the catalogue, and what each sensor is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tussock.errors import InputError

__all__ = ["sensors"]


def sensors(
    name: Annotated[
        str | None,
        typer.Argument(help="A sensor, or a sensor file (.toml), to show in full; all are listed else."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw its scan pattern and the spot of a pulse to this PNG.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a picture that exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False,
) -> None:
    """List the sensors, or show one with the source of its numbers."""
    from tussock.cli.console import out, print_json

    if name is None:
        if plot is not None:
            raise InputError("--plot: which sensor? name one, as in: tussock sensors hdl-32e --plot hdl-32e.png")
        rows = _rows()
        if as_json:
            print_json(rows)
        else:
            _print_table(rows)
        return
    from tussock.sensors.catalogue import load_sensor

    sensor = load_sensor(name)
    if plot is not None:
        from tussock.plots.sensor import plot_sensor

        plot_sensor(sensor, plot, force=force)
        if as_json:
            print_json({"sensor": sensor.name, "picture": str(plot)})
        else:
            out.print(f"wrote {plot}")
        return
    plain = sensor.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
    if as_json:
        print_json(plain)
    else:
        import tomli_w

        out.print(tomli_w.dumps(plain), soft_wrap=True, end="")


def _rows() -> list[dict[str, Any]]:
    from tussock.sensors.catalogue import load_sensor, sensor_names

    rows = []
    for known in sensor_names():
        sensor = load_sensor(known)
        pulses = sensor.pulse_count()
        rows.append(
            {
                "name": known,
                "description": sensor.description,
                "lasers": sensor.lasers,
                "frames_per_s": round(1 / sensor.frame_period, 3),
                "pulses_per_frame": pulses,
                "pulses_per_s": round(pulses / sensor.frame_period),
                "max_range_m": sensor.receiver.max_range_m,
                "mode": sensor.receiver.mode,
            }
        )
    return rows


def _print_table(rows: list[dict[str, Any]]) -> None:
    """One line a sensor: on a screen the description gives way, in a pipe it is whole."""
    from textwrap import shorten

    from tussock.cli.console import out

    cells = [("sensor", "lasers", "Hz", "pulses/s", "to [m]")] + [
        (
            one["name"], str(one["lasers"]), f"{one['frames_per_s']:g}", f"{one['pulses_per_s']:,}",
            f"{one['max_range_m']:g}",
        )
        for one in rows
    ]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    room = max(out.width - sum(widths) - 2 * len(widths), 12) if out.is_terminal else 1000
    for row, description in zip(cells, ["", *(one["description"] for one in rows)], strict=True):
        numbers = [f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True)]
        line = "  ".join([f"{row[0]:<{widths[0]}}", *numbers, shorten(description, room, placeholder=" …")])
        out.print(line.rstrip())
    out.print("\nOne of them in full: tussock sensors NAME; drawn: tussock sensors NAME --plot FILE.png")
