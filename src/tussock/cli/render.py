"""``tussock render``: what a camera sees, as a picture, a depth map or labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tussock.cli.options import SCENE_HELP, Seed, Threads, WeatherWords, WindWords, complete_scene, takes
from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.cameras.camera import Camera
    from tussock.cameras.view import View

__all__ = ["open_camera", "render"]

IMAGE_KINDS = ("color", "depth", "range", "label", "instance", "normal", "boxes")


@dataclass(frozen=True, kw_only=True)
class RenderOptions:
    """What the command takes."""

    scene: Annotated[str, typer.Argument(autocompletion=complete_scene, help=SCENE_HELP)]
    out: Annotated[Path, typer.Option(help="File to write: .png, .jpg; .exr, .tif, .npy (numbers); .json (boxes).")]
    kind: Annotated[
        str,
        typer.Option(help="color, depth (along the axis), range (along the ray), label, instance, normal or boxes."),
    ] = "color"
    camera: Annotated[Path | None, typer.Option(help="A camera file (.toml).")] = None
    size: Annotated[str | None, typer.Option(help="Width x height in pixels, as 1920x1080.")] = None
    fov: Annotated[float | None, typer.Option("--fov-deg", help="Horizontal field of view, pinhole.")] = None
    pose: Annotated[str | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw of the camera [m, deg].")] = None
    trajectory: Annotated[Path | None, typer.Option(help="The camera's path: a TUM or CSV file.")] = None
    weather: WeatherWords = None
    time: Annotated[float, typer.Option("--at", help="When the image opens [s].")] = 0.0
    samples: Annotated[int | None, typer.Option(help="Rays a pixel of a colour picture.")] = None
    sun: Annotated[str | None, typer.Option(help="Where the sun stands: azimuth,elevation [deg].")] = None
    exposure: Annotated[
        str | None, typer.Option(help="Stops of light, as 1.5, or auto: what a camera's meter would choose.")
    ] = None
    wind: WindWords = None
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other camera setting, as key=value; may be repeated.")
    ] = None
    rgb: Annotated[bool, typer.Option("--rgb", help="Labels and instances as colours instead of numbers.")] = False
    seed: Seed = 0
    threads: Threads = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    on: Annotated[
        str, typer.Option(help="Where to compute all but colour: cpu, or gpu (an NVIDIA graphics processor).")
    ] = "cpu"
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(RenderOptions)
def render(given: RenderOptions) -> None:
    """Take a picture of a scene, or a depth map, labels, normals or boxes of the same view."""
    from tussock.cameras.render import look
    from tussock.cameras.render import render as take
    from tussock.cameras.shading.light import Light
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, waiting
    from tussock.cli.settings import parse_settings
    from tussock.cli.sources import open_source
    from tussock.errors import nearest
    from tussock.files.images import save_image
    from tussock.trace.world import World
    from tussock.whole_files import check_writable

    if given.kind not in IMAGE_KINDS:
        raise InputError(f"kind {given.kind!r}: no such kind of image; {nearest(given.kind, IMAGE_KINDS)}")
    _check_suffix(given.out, given.kind)
    _check_on(given.on, given.kind)
    changes = parse_settings(given.settings or [])
    if given.samples is not None:
        changes["samples"] = given.samples
    if given.exposure is not None:
        changes |= _exposure(given.exposure)
    device = open_camera(given.camera, given.size, given.fov, changes)
    light = Light() if given.sun is None else _light(given.sun)
    check_writable(given.out, force=given.force)
    with waiting("building the scene", quiet=given.as_json) as built:
        exposed = given.time + device.shutter.duration
        source = open_source(
            given.scene, given.weather, wind=given.wind, during=lambda _: (max(given.time, 0.0), max(exposed, 0.0))
        )
        place = source.station(None, given.pose, given.trajectory, need_sensor=False).place
        world = World(source.scene)
    with waiting("looking", quiet=given.as_json) as looked:
        if given.kind == "color":
            image = take(world, device, place, light=light, time=given.time, seed=given.seed, threads=given.threads).rgb
        else:
            view = look(
                world,
                device,
                place,
                time=given.time,
                depth_only=given.kind in ("depth", "range"),
                seed=given.seed,
                threads=given.threads,
                on=given.on,
            )
            if given.kind == "boxes":
                _save_boxes(view, world, place, given.out, threads=given.threads, force=given.force)
            else:
                image = _image(
                    view, given.kind, viewable=given.rgb or given.kind in ("depth", "range", "normal"), out=given.out
                )
    if given.kind != "boxes":
        save_image(image, given.out, force=given.force)
    if given.as_json:
        print_json(
            {
                "scene": world.name, "triangles": world.triangles, "kind": given.kind, "width": device.width,
                "height": device.height, "build_s": built["seconds"], "look_s": looked["seconds"],
                "file": str(given.out),
            }
        )  # fmt: skip
        return
    console.print(f"{world.name}: {world.triangles:,} triangles, ready in {built['seconds']:.1f} s")
    console.print(f"{device.name}: {device.width} × {device.height} pixels in {looked['seconds']:.2f} s")
    console.print(f"wrote {given.out}")


def _exposure(text: str) -> dict[str, Any]:
    """The settings that ``--exposure`` stands for."""
    if text.strip() == "auto":
        return {"development.auto_exposure": True}
    try:
        return {"development.exposure_ev": float(text)}
    except ValueError:
        raise InputError.of("exposure", "must be auto or a number of stops", text, "for example 1.5") from None


def open_camera(path: Path | None, size: str | None, fov: float | None, changes: dict[str, Any]) -> Camera:
    """The camera of the command line: a file, or a pinhole of some size and field of view."""
    from tussock.cameras.camera import Camera, load_camera
    from tussock.cameras.lenses.pinhole import Pinhole

    if size is not None:
        changes = dict(zip(("width", "height"), _size(size), strict=True)) | changes
    if fov is not None:
        changes = {"lens": {"kind": "pinhole", "horizontal_fov_deg": fov}} | changes
    if path is not None:
        camera = load_camera(path)
        return camera.changed(**changes) if changes else camera
    lens = Pinhole(fx=1000.0) if "lens.fx" in changes else Pinhole(horizontal_fov_deg=80.0)
    return Camera(width=1280, height=720, lens=lens).changed(**changes)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().replace("×", "x").partition("x")
    try:
        return int(width), int(height)
    except ValueError:
        raise InputError.of("size", "must be WIDTHxHEIGHT in pixels", text, "for example 1920x1080") from None


def _light(text: str) -> Any:
    from tussock.cameras.shading.light import Light
    from tussock.cli.sources import parse_sun

    azimuth, elevation = parse_sun(text)
    return Light(sun_azimuth_deg=azimuth, sun_elevation_deg=elevation)


def _check_suffix(out: Path, kind: str) -> None:
    from tussock.errors import nearest
    from tussock.files.images import IMAGE_SUFFIXES

    known = (".json",) if kind == "boxes" else IMAGE_SUFFIXES
    if out.suffix.lower() not in known:
        raise InputError(f"{out}: unknown kind of file for {kind}; {nearest(out.suffix, known)}")


def _check_on(on: str, kind: str) -> None:
    """Say what is missing before a scene is built."""
    from tussock.simulate import checked_on

    if checked_on(on) != "gpu":
        return
    if kind == "color":
        raise InputError.of("on", "must be cpu for kind color", on, "light and shadow are not there; or another --kind")
    from tussock.trace.cuda.driver import gpu

    gpu()


def _image(view: View, kind: str, *, viewable: bool, out: Path) -> Any:
    """The channel as numbers, or as colours where the file is a picture and somebody shall look at it."""
    from tussock.plots.viewable import depth_rgb, instance_rgb, label_rgb, normal_rgb

    channel = getattr(view, kind)
    if out.suffix.lower() not in (".png", ".jpg", ".jpeg") or not viewable:
        return channel
    if kind in ("depth", "range"):
        return depth_rgb(channel)
    if kind == "label":
        return label_rgb(channel, view.meta["labels"], view.object_id > 0)
    return instance_rgb(channel) if kind == "instance" else normal_rgb(channel)


def _save_boxes(view: View, world: Any, place: Any, out: Path, *, threads: int | None, force: bool) -> None:
    import json

    from tussock.cameras.boxes import boxes_in
    from tussock.whole_files import whole_file

    boxes = [box.plain() for box in boxes_in(view, world, place, threads=threads)]
    with whole_file(out, force=force) as part:
        part.write_text(json.dumps({"camera": view.meta["camera"], "boxes": boxes}, indent=1) + "\n", encoding="utf-8")
