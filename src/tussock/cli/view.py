"""``tussock view``: frames in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import complete_scene, takes
from tussock.cli.scans import ModelOption, UnitOption

__all__ = ["view"]


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """What the command takes."""

    files: Annotated[list[Path], typer.Argument(help="Frame files, folders of them, captures, or KITTI data sets.")]
    scene: Annotated[
        str | None, typer.Option(autocompletion=complete_scene, help="Also show this scene: a file or a ready scene.")
    ] = None
    model: ModelOption = None
    unit: UnitOption = None
    color: Annotated[str, typer.Option(help="range, intensity, height, label or return.")] = "range"
    port: Annotated[int, typer.Option(help="Port to serve the page at.")] = 8080
    host: Annotated[str, typer.Option(help="Address to serve at; 0.0.0.0 for other machines too.")] = "127.0.0.1"
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True


@takes(ViewOptions)
def view(given: ViewOptions) -> None:
    """Look at frames in the browser: turn, colour, and move through time."""
    import webbrowser

    from tussock.cli.console import note, out
    from tussock.cli.interrupt import going_on
    from tussock.cli.sources import open_scene
    from tussock.datasets.recordings import open_recordings
    from tussock.viewer import Viewer

    frames = open_recordings(given.files, model=given.model, unit=given.unit, say=note)
    shown = Viewer(
        frames, scene=open_scene(given.scene) if given.scene else None, color=given.color, host=given.host, port=given.port,  # type: ignore[arg-type]
    )  # fmt: skip
    out.print(f"{len(frames)} frame(s) at {shown.url}; press Ctrl-C to stop", highlight=False)
    if given.browser:
        webbrowser.open(shown.url)
    with going_on(lambda: "the page is closed", status=0):
        shown.wait()
