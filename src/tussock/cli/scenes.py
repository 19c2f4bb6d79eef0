"""``tussock scenes``: the ready scenes, and a picture of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import Seed, WeatherWords, WindWords, complete_scene, takes
from tussock.errors import InputError

__all__ = ["scenes"]


@dataclass(frozen=True, kw_only=True)
class ScenesOptions:
    """What the command takes."""

    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=complete_scene, help="Show this scene, a ready one or a file: its objects and sizes."
        ),
    ] = None
    picture: Annotated[Path | None, typer.Option(help="Draw the scene to this picture (.png, .jpg).")] = None
    save: Annotated[
        Path | None,
        typer.Option(help="Write the scene as a scene file: .toml with its meshes, .usd, .usda, .usdc or .glb."),
    ] = None
    seed: Seed = 0
    time: Annotated[float, typer.Option(help="Moment of the picture [s].")] = 0.0
    weather: WeatherWords = None
    wind: WindWords = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False


@takes(ScenesOptions)
def scenes(given: ScenesOptions) -> None:
    """List the ready scenes, or show one, or a scene file; write it in another format."""
    from tussock.air.weather import parse_weather
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, waiting
    from tussock.cli.sources import open_scene
    from tussock.poses import Pose
    from tussock.scene.wind import wind_of
    from tussock.scene_files.scene_save import check_scene_path, save_scene
    from tussock.scenes.ready import ready_scene, ready_view, scene_names
    from tussock.whole_files import check_writable

    name, picture, save, force, as_json = given.name, given.picture, given.save, given.force, given.as_json
    known = scene_names()
    weather = None if given.weather is None else parse_weather(given.weather)
    wind = None if given.wind is None else wind_of(given.wind)
    if name is None:
        if picture or save:
            raise InputError("scene: is required for a picture or a file; name one, for example `tussock scenes yard`")
        if as_json:
            print_json([{"name": word, "meaning": meaning} for word, meaning in known.items()])
            return
        for word, meaning in known.items():
            console.print(f"{word:<14}{meaning}")
        return
    if picture:
        check_writable(picture, force=force)
    if save:
        check_scene_path(save, force=force)
    ready = name in known
    with waiting("growing the scene", quiet=as_json):
        if ready:
            scene = ready_scene(name, seed=given.seed) if name not in ("rods",) else ready_scene(name)
        else:
            scene = open_scene(name)
    if given.weather is not None:
        scene = scene.with_weather(weather)
    if wind is not None:
        scene.wind = wind
    if picture:
        from tussock.plots.scene import plot_scene

        with waiting("drawing", quiet=as_json):
            view = ready_view(name) if ready else Pose.at(-12.0, -4.0, 3.0, yaw=0.2, pitch=0.1)
            plot_scene(scene, picture, view, time=given.time, force=force)
    if save:
        save_scene(scene, save, force=force)
    rows = [
        {"name": o.name, "label": o.label, "triangles": len(o.mesh.triangles), "placements": len(o.placements),
         "moves": o.motion is not None}
        for o in scene.objects
    ]  # fmt: skip
    if as_json:
        print_json(
            {"scene": scene.name, "triangles": scene.triangles, "placements": scene.placement_count, "objects": rows}
        )
        return
    console.print(f"{scene.name}: {scene.triangles:,} triangles in {scene.placement_count:,} placements")
    for row in rows:
        moves = ", moves" if row["moves"] else ""
        console.print(
            f"  {row['name']:<14}{row['label']:<14}{row['placements']:,} × {row['triangles']:,} triangles{moves}"
        )
    for file in (picture, save):
        if file:
            console.print(f"wrote {file}")
