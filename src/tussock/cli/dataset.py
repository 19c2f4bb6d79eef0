"""``tussock dataset``: a rig drives through a scene, and a data set in KITTI's form, or a ROS log, is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tussock.cli.options import Command, Seed, Threads, WeatherWords, WindWords, complete_scene, takes
from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.rigs.rig import Rig

__all__ = ["DatasetCommand", "dataset"]


class DatasetCommand(Command):
    """``tussock dataset check DIR`` is ``tussock check DIR``; a rig file of that name is ``./check``."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] == ["check"] and parent is not None:
            return parent.command.get_command(parent, "check").make_context("check", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@dataclass(frozen=True, kw_only=True)
class DatasetOptions:
    """What the command takes."""

    rig: Annotated[Path, typer.Argument(help="A rig file (.toml).")]
    out: Annotated[
        Path,
        typer.Option(
            help="Folder of the data set (an unfinished one in it is taken up again), or a ROS log: .mcap, .rosbag2."
        ),
    ]
    end: Annotated[float, typer.Option("--to", help="End of the time range [s].")]
    start: Annotated[float, typer.Option("--from", help="Start of the time range [s].")] = 0.0
    weather: WeatherWords = None
    scene: Annotated[
        str | None,
        typer.Option(autocompletion=complete_scene, help="A scene file or ready scene; the rig's own if not given."),
    ] = None
    layout: Annotated[str, typer.Option(help="odometry (with SemanticKITTI labels) or raw.")] = "odometry"
    classes: Annotated[str, typer.Option(help="Whose class numbers: semantickitti, rellis-3d, goose or tussock.")] = (
        "semantickitti"
    )
    truth: Annotated[
        bool, typer.Option("--truth/--no-truth", help="Boxes; depth, classes and instances of pixels (odometry).")
    ] = True
    lidar: Annotated[str | None, typer.Option(help="The LIDAR to use; the first if not given.")] = None
    camera: Annotated[
        list[str] | None, typer.Option(help="A camera to use, once or twice; the first two if not given.")
    ] = None
    wind: WindWords = None
    seed: Seed = 0
    threads: Threads = None
    force: Annotated[bool, typer.Option("--force", help="Begin anew, also where another data set is.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(DatasetOptions)
def dataset(given: DatasetOptions) -> None:
    """Write a KITTI odometry (with SemanticKITTI labels) or raw data set, or all sensors of the rig to a ROS log.

    Run it again to go on with a data set after a stop. `tussock dataset check DIR` verifies one that is finished.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, said
    from tussock.cli.interrupt import going_on
    from tussock.cli.sources import open_scene
    from tussock.datasets.write import write_dataset
    from tussock.rigs.log import LOG_SUFFIXES
    from tussock.rigs.rig import load_rig

    carrier = load_rig(given.rig)
    name = given.scene or carrier.scene
    if name is None:
        raise InputError(f"{given.rig}: names no scene; add one or pass --scene")
    if given.out.suffix in LOG_SUFFIXES:
        if given.lidar or given.camera or given.layout != "odometry":
            raise InputError(
                f"{given.out}: a log holds all sensors of the rig; leave --layout, --lidar and --camera out"
            )
        _log(carrier, name, given)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=said, transient=True, disable=given.as_json or not said.is_terminal) as bar:
        task = bar.add_task("moments", total=None)

        done, total = 0, 0

        def show(finished: int, of: int) -> None:
            nonlocal done, total
            done, total = finished, of
            bar.update(task, completed=finished, total=of)

        def what_is_kept() -> str:
            return (
                f"{done} of {total} moments are finished and kept: the same command goes on from there"
                if done
                else "no moment is finished; the same command begins again"
            )

        with going_on(what_is_kept):
            written = write_dataset(
                carrier, open_scene(name, given.weather, wind=given.wind), given.out, start=given.start, end=given.end,
                layout=given.layout,  # type: ignore[arg-type]
                classes=given.classes, truth=given.truth, seed=given.seed, lidar=given.lidar, cameras=given.camera or None, force=given.force,
                threads=given.threads, on_moment=show,
            )  # fmt: skip
    if given.as_json:
        print_json({"moments": written.moments, "made": written.made, "manifest": str(written.manifest)})
        return
    kept = written.moments - written.made
    console.print(f"{written.moments} moments" + (f", {kept} of them kept from before" if kept else ""))
    console.print(f"wrote {written.manifest}")


def _log(rig: Rig, scene: str, given: DatasetOptions) -> None:
    """All sensors of the rig in one ROS log."""
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, steps
    from tussock.cli.sources import open_scene
    from tussock.rigs.capture import capture, moments_between
    from tussock.rigs.log import open_rig_log
    from tussock.trace.world import World
    from tussock.whole_files import check_folder, check_writable

    (check_folder if given.out.suffix == ".rosbag2" else check_writable)(given.out, force=given.force)
    total = len(moments_between(rig, given.start, given.end))
    world = World(open_scene(scene, given.weather, wind=given.wind))
    moments = capture(rig, world, start=given.start, end=given.end, seed=given.seed, threads=given.threads)
    with open_rig_log(given.out, rig, force=given.force) as log:
        for moment in steps(moments, "moments", total=total, quiet=given.as_json):
            log.write(moment)
    if given.as_json:
        print_json({"moments": total, "made": total, "log": str(given.out)})
        return
    console.print(f"{total} moments of {', '.join(rig.sensor_names)}")
    console.print(f"wrote {given.out}")
