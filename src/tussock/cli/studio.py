"""``tussock studio``: a scene and a sensor in the browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from tussock.cli.options import complete_scene, complete_sensor, takes

__all__ = ["studio"]


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """What the command takes."""

    scene: Annotated[
        str,
        typer.Argument(
            autocompletion=complete_scene,
            help="A ready scene's name, or a file: scene, mesh, pack, .blend, frame, capture, volumes; or a folder of frames.",
        ),
    ] = "yard"
    sensor: Annotated[
        str | None,
        typer.Option(autocompletion=complete_sensor, help="A sensor of the catalogue, or a sensor file; vlp-16."),
    ] = None
    pose: Annotated[str | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw of the sensor [m, deg].")] = None
    color: Annotated[str, typer.Option(help="label, range, intensity, height, return, error or time.")] = "label"
    port: Annotated[int, typer.Option(help="Port to serve the page at.")] = 8080
    host: Annotated[str, typer.Option(help="Address to serve at; 0.0.0.0 for other machines too.")] = "127.0.0.1"
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True


@takes(StudioOptions)
def studio(given: StudioOptions) -> None:
    """See a scene, drag a sensor through it, turn its knobs, and build: in the browser."""
    import webbrowser

    from tussock.cli.console import note, out, waiting
    from tussock.cli.interrupt import going_on
    from tussock.studio.app import Studio

    with waiting("opening"):
        shown = Studio(
            given.scene, sensor=given.sensor, pose=given.pose, color=given.color, host=given.host, port=given.port, say=note,  # type: ignore[arg-type]
        )  # fmt: skip
    out.print(f"{given.scene} at {shown.url}; press Ctrl-C to stop", highlight=False)
    if given.browser:
        webbrowser.open(shown.url)

    def kept() -> str:
        return "the page is closed; " + (
            "the scene as it was changed is lost" if shown.session.unsaid else "nothing is lost"
        )

    with going_on(kept, status=0):
        shown.wait()
