"""``tussock motion``: where the things of a scene are over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import SCENE_HELP, complete_scene, takes

__all__ = ["motion"]


@dataclass(frozen=True, kw_only=True)
class MotionOptions:
    """What the command takes."""

    scene: Annotated[
        str,
        typer.Argument(autocompletion=complete_scene, help=SCENE_HELP),
    ]
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write: .csv, or .tum (one file an object).")]
    objects: Annotated[
        str | None, typer.Option(help="Names of objects, separated by commas, or 'all'; what moves if not given.")
    ] = None
    start: Annotated[float, typer.Option("--from", help="Start of the time range [s].")] = 0.0
    end: Annotated[float, typer.Option("--to", help="End of the time range [s].")] = 10.0
    rate: Annotated[float, typer.Option(help="Poses a second.")] = 10.0
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(MotionOptions)
def motion(given: MotionOptions) -> None:
    """Write the poses of objects over time."""
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json
    from tussock.cli.sources import open_scene
    from tussock.scene_files.motion_data import object_paths, sample_times, save_paths

    times = sample_times(given.start, given.end, given.rate)
    seen = open_scene(given.scene)
    names = (
        [thing.name for thing in seen.objects]
        if given.objects == "all"
        else given.objects.split(",")
        if given.objects
        else None
    )
    paths = object_paths(seen, times, [name.strip() for name in names] if names else None)
    files = save_paths(paths, given.out, force=given.force)
    if given.as_json:
        names = sorted({path.object for path in paths})
        print_json({"scene": seen.name, "objects": names, "times": len(times), "files": [str(f) for f in files]})
        return
    console.print(f"wrote {len(times)} times of {len(paths)} placement(s): {', '.join(map(str, files[:4]))}"
                  + (" …" if len(files) > 4 else ""))  # fmt: skip
