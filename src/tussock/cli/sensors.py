"""``tussock sensors``: what is in the catalogue, and what each sensor is."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["sensors"]


def sensors(
    name: Annotated[str | None, typer.Argument(help="A sensor to show in full; all are listed without it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False,
) -> None:
    """List the sensors, or show one with the source of its numbers."""
    import tomli_w
    from rich.table import Table

    from tussock.cli.console import out, print_json
    from tussock.sensors.catalogue import load_sensor, sensor_names

    if name is not None:
        sensor = load_sensor(name)
        plain = sensor.model_dump(mode="json", exclude_none=True, exclude_defaults=False)
        if as_json:
            print_json(plain)
        else:
            out.print(tomli_w.dumps(plain), soft_wrap=True, markup=False, end="")
        return
    rows = []
    for known in sensor_names():
        sensor = load_sensor(known)
        pulses = len(sensor.pulses(0))
        rows.append(
            {
                "name": known,
                "description": sensor.description,
                "lasers": sensor.lasers,
                "frames_per_s": round(1 / sensor.frame_period, 3),
                "pulses_per_frame": pulses,
                "pulses_per_s": round(pulses / sensor.frame_period),
                "max_range_m": sensor.receiver.max_range_m,
            }
        )
    if as_json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for heading, side in (
        ("sensor", "left"), ("", "left"), ("lasers", "right"), ("frames/s", "right"), ("pulses/s", "right"),
        ("range [m]", "right"),
    ):  # fmt: skip
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    for one in rows:
        table.add_row(
            str(one["name"]), str(one["description"]), str(one["lasers"]), f"{one['frames_per_s']:g}",
            f"{one['pulses_per_s']:,}", f"{one['max_range_m']:g}",
        )  # fmt: skip
    out.print(table)
