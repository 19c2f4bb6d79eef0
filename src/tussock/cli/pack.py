"""``tussock pack`` and ``tussock unpack``: a whole experiment in one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import Seed, complete_scene, complete_sensor

__all__ = ["pack", "unpack"]


def pack(
    scene: Annotated[
        str, typer.Argument(autocompletion=complete_scene, help="A scene file, a .blend, or the name of a ready scene.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The pack to write (.tussock).")],
    sensor: Annotated[
        str | None, typer.Option(autocompletion=complete_sensor, help="A sensor of the catalogue, or a sensor file.")
    ] = None,
    pose: Annotated[str | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw of the sensor [m, deg].")] = None,
    trajectory: Annotated[Path | None, typer.Option(help="The sensor's path: a TUM or CSV file.")] = None,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Put scene, meshes, sensor, path, seed and versions into one file."""
    from tussock.cli.console import out as console
    from tussock.cli.console import waiting
    from tussock.cli.sources import open_source
    from tussock.pack import save_pack
    from tussock.whole_files import check_writable

    check_writable(out, force=force)
    source = open_source(scene)
    station = source.station(sensor, pose, trajectory, need_sensor=False)
    with waiting("packing"):
        save_pack(source.scene, out, sensor=station.sensor, place=station.place, seed=seed, force=force)
    console.print(f"wrote {out}, {out.stat().st_size / 2**20:.1f} MiB")


def unpack(
    file: Annotated[Path, typer.Argument(help="A pack (.tussock).")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for what it holds; new or empty.")],
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
) -> None:
    """Check a pack and write what it holds into a folder."""
    from tussock.cli.console import out as console
    from tussock.pack import unpack as read_pack

    files = read_pack(file, out, force=force)
    console.print(f"wrote {len(files)} files into {out}")
