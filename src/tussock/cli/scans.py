"""Options that commands about scans share: which file, how it is read, which part of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["ModelOption", "ScanFileOptions", "UnitOption", "open_given_scan", "open_scan", "parse_box"]

ModelOption = Annotated[
    str | None, typer.Option("--model", help="The sensor of a capture, as hdl-64e-s3; it wins over what packets say.")
]
UnitOption = Annotated[
    str | None,
    typer.Option(
        "--unit", help="One of several sensors in a capture, as 192.168.1.201 or …201:2368; a topic in a log."
    ),
]


@dataclass(frozen=True, kw_only=True)
class ScanFileOptions:
    """A scan in a file of any kind, and how it is read."""

    capture: Annotated[
        Path, typer.Argument(help="A scan: .pcap or .pcapng, KITTI .bin, or a file of a frame or of points.")
    ]
    origin: Annotated[
        str | None, typer.Option(help="x,y,z that all points of a file from elsewhere were measured from [m].")
    ] = None
    trajectory: Annotated[
        Path | None,
        typer.Option("--trajectory", "--poses", help="Where the sensor was over time: a TUM, CSV or SBET file."),
    ] = None
    model: ModelOption = None
    unit: UnitOption = None
    turns: Annotated[str | None, typer.Option(help="Revolutions to use, from 0, as 0,1 or 0-2; all if not given.")] = (
        None
    )


def parse_box(text: str) -> list[float]:
    """``x0,y0,z0,x1,y1,z1`` [m]."""
    from tussock.learn.box import box_corners

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != 6:
        raise InputError.of("box", "must be six numbers x0,y0,z0,x1,y1,z1 [m]", text)
    box_corners(numbers)
    return numbers


def open_given_scan(given: ScanFileOptions) -> MeasuredPulses:
    """The scan of the command line."""
    return open_scan(
        given.capture, origin=given.origin, trajectory=given.trajectory, model=given.model, unit=given.unit,
        turns=given.turns,
    )  # fmt: skip


def open_scan(
    path: Path, *, origin: str | None = None, trajectory: Path | None = None, model: str | None = None,
    unit: str | None = None, turns: str | None = None, quiet: bool = False,
) -> MeasuredPulses:  # fmt: skip
    """The pulses of a file, read as the options say; what a capture lacks is said, unless it was said before."""
    from tussock.cli.console import note
    from tussock.learn.readers.read_pulses import load_pulses
    from tussock.poses import Trajectory

    start = None if origin is None else _three(origin)
    return load_pulses(
        path,
        origin=start,
        trajectory=None if trajectory is None else Trajectory.load(trajectory),
        model=model,
        unit=unit,
        say=_nothing if quiet else note,
        turns=None if turns is None else _numbers(turns),
    )


def _nothing(text: str) -> None:
    pass


def _three(text: str) -> list[float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError.of("origin", "must be three numbers x,y,z [m]", text) from None
    return [x, y, z]


def _numbers(text: str) -> list[int]:
    """``0,2-4`` as 0, 2, 3, 4."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        last = last if dash else first
        if not (first.strip().isdigit() and last.strip().isdigit() and int(first) <= int(last)):
            raise InputError.of("turns", "must be numbers from 0, as 0,1 or 0-2", text)
        found += range(int(first), int(last) + 1)
    return found
