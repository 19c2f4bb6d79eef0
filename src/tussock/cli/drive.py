"""``tussock drive``: a vehicle finds its way through a scene by what its sensors tell it."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tussock.cli.options import Seed, Threads, WeatherWords, WindWords, complete_scene, complete_sensor, takes
from tussock.errors import InputError, OutputError

if TYPE_CHECKING:
    from tussock.drive.loop import DriveResult, DriveStep
    from tussock.drive.remote import RemoteDriver
    from tussock.drive.settings import DriveSettings
    from tussock.sensors.sensor import Sensor
    from tussock.wire.velodyne.position import GeoOrigin

__all__ = ["drive"]

_FILES = ("drive.mcap", "metrics.json", "truth.csv", "drive.png", "drive.gif")


@dataclass(frozen=True, kw_only=True)
class DriveOptions:
    """What the command takes."""

    scene: Annotated[
        str,
        typer.Argument(
            autocompletion=complete_scene,
            help="A scene file (.toml), a pack (.tussock), a .blend, or a ready scene's name.",
        ),
    ]
    to: Annotated[list[str], typer.Option("--to", help="Goal x,y [m]; several are headed for one after the other.")]
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for log, metrics, picture and animation.")]
    sensor: Annotated[
        str, typer.Option(autocompletion=complete_sensor, help="A sensor of the catalogue or a sensor file (.toml).")
    ] = "vlp-16"
    weather: WeatherWords = None
    start: Annotated[
        str | None, typer.Option("--from", help="Start x,y or x,y,yaw [m, deg]; the scene's own place if not given.")
    ] = None
    vehicle: Annotated[
        str | None, typer.Option(help="A vehicle of the catalogue (skid-steer, mrzr, warthog) or a file (.toml).")
    ] = None
    settings: Annotated[Path | None, typer.Option(help="A file (.toml) with the settings of the drive.")] = None
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="One setting of the drive, as key=value; may be repeated.")
    ] = None
    sensor_changes: Annotated[
        list[str] | None, typer.Option("--set-sensor", help="One setting of the sensor, as key=value; repeatable.")
    ] = None
    seconds: Annotated[float | None, typer.Option(help="Time limit [s] of simulated time.")] = None
    speed: Annotated[
        float | None, typer.Option(help="Pace: 1 is real time, 2 twice as fast; as fast as it goes if not given.")
    ] = None
    camera: Annotated[bool, typer.Option("--camera/--no-camera", help="A picture ahead, once a second.")] = True
    film: Annotated[bool, typer.Option("--film/--no-film", help="The animation.")] = True
    share: Annotated[
        str | None,
        typer.Option(help="Let another program drive, through shared memory of this name (see docs/drive.md)."),
    ] = None
    lockstep: Annotated[
        bool,
        typer.Option("--lockstep/--free", help="With --share: wait for each answer, or go on with the last command."),
    ] = True
    timeout: Annotated[float, typer.Option(help="With --share: how long to wait for an answer [s].")] = 10.0
    packets: Annotated[str | None, typer.Option(help="With --share: also send the sensor's packets to HOST:PORT.")] = (
        None
    )
    nmea: Annotated[str | None, typer.Option(help="With --share: also send GPS as NMEA to HOST:PORT.")] = None
    origin: Annotated[
        str | None,
        typer.Option(
            help="Latitude,longitude of the scene's origin, or latitude,longitude,x,y of another place, for GPS."
        ),
    ] = None
    wind: WindWords = None
    seed: Seed = 0
    threads: Threads = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite the files of an earlier drive.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the metrics as JSON.")] = False


@takes(DriveOptions)
def drive(given: DriveOptions) -> None:
    """Drive to a goal; exit status 0 if it was reached, 1 if not.

    The folder gets drive.mcap (for Foxglove and ROS 2), metrics.json, truth.csv, drive.png and drive.gif. The log
    grows as the vehicle drives and is whole up to the moment when the program ends, whatever ends it.
    """
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, waiting
    from tussock.cli.interrupt import going_on
    from tussock.cli.settings import parse_settings
    from tussock.cli.sources import open_source
    from tussock.drive.camera import FrontCamera
    from tussock.drive.files import save_metrics, save_truth
    from tussock.drive.film import Film
    from tussock.drive.log import open_drive_log
    from tussock.drive.loop import Drive, Trip
    from tussock.drive.stage import Stage
    from tussock.extras import load_extra
    from tussock.plots.drive import plot_drive
    from tussock.plots.drive_film import save_film
    from tussock.poses import Pose
    from tussock.randomness import check_seed
    from tussock.sensors.catalogue import load_sensor
    from tussock.wire.velodyne.position import GeoOrigin

    check_seed(given.seed)
    origin = GeoOrigin.parse(given.origin) if given.origin else None
    chosen = _settings(given.settings, given.vehicle, given.seconds, given.changes)
    goals = [_numbers("--to", text, (2,)) for text in given.to]
    eye = load_sensor(given.sensor)
    if given.sensor_changes:
        eye = eye.with_(**parse_settings(given.sensor_changes))
    if given.speed is not None and not given.speed > 0:
        raise InputError.of("--speed", "must be above 0", given.speed)
    load_extra("mcap.writer", extra="ros", purpose="the log of a drive")
    _check_out(given.out, given.force)
    path = given.out / "drive.mcap"
    # What the other program joins is taken away again however this ends, a refused start or goal too.
    with ExitStack() as held:
        with waiting("building the scene", quiet=given.as_json):
            source = open_source(given.scene, given.weather, wind=given.wind)
            place = source.place if isinstance(source.place, Pose) else source.place.pose(0.0)
            begin = _start(given.start, place)
            stage = Stage(source.scene, chosen.vehicle, threads=given.threads)
            pilot = _pilot(given, eye, chosen, begin, goals, origin)
            if pilot is not None:
                held.enter_context(pilot)
            trip = Trip(goals, begin, given.seed)
            ready = Drive(stage, eye, trip, settings=chosen, driver=pilot, threads=given.threads)
        _make_folder(given.out)
        watchers: list[Film] = [Film()] if given.film else []
        front = FrontCamera(stage.world, seed=given.seed, threads=given.threads) if given.camera else None
        held.enter_context(going_on(lambda: f"{path} is kept, up to this moment; --force drives anew"))
        log = held.enter_context(open_drive_log(path, eye, chosen, camera=front, origin=origin))
        shown = held.enter_context(_progress(goals, given.as_json))
        result = ready.run([log, shown, *watchers], speed=given.speed)
    save_metrics(result, given.out / "metrics.json", scene=stage.name, sensor=eye, seed=given.seed, force=given.force)
    save_truth(result, given.out / "truth.csv", force=given.force)
    title = f"{stage.name}: {chosen.vehicle.name} with {eye.name}"
    plot_drive(result, given.out / "drive.png", title=title, force=given.force)
    for one in watchers:
        save_film(result, one.snapshots, given.out / "drive.gif", force=given.force)
    if given.as_json:
        print_json(result.metrics.as_json())
    else:
        _say(result, given.out, console)
    if not result.metrics.success:
        raise typer.Exit(1)


def _say(result: DriveResult, out: Path, console: object) -> None:
    from tussock.cli.console import out as printer

    m = result.metrics
    printer.print(m.message, markup=False)
    near = "" if m.closest_m is None else f", nearest obstacle {m.closest_m:.2f} m"
    printer.print(f"{m.length_m:.1f} m in {m.time_s:.1f} s, {m.collisions} collisions{near}, {m.replans} replans")
    printer.print(f"work {m.drive_work_j / 1e3:.1f} kJ, of it {m.plant_work_j / 1e3:.1f} kJ against plants")
    printer.print(
        f"{m.time_s / max(result.total_s, 1e-9):.1f} × real time; scans took {result.scan_s:.1f} of {result.total_s:.1f} s"
    )
    printer.print(f"wrote {out}/: {', '.join(name for name in _FILES if (out / name).exists())}", markup=False)


def _pilot(
    given: DriveOptions, eye: Sensor, settings: DriveSettings, start: tuple[float, ...], goals: list[tuple[float, ...]],
    origin: GeoOrigin | None,
) -> RemoteDriver | None:  # fmt: skip
    """The other program that drives, None for the built-in autonomy."""
    from math import atan2

    from tussock.drive.remote import AlsoSent, RemoteDriver
    from tussock.wire.addresses import Endpoint

    if given.share is None:
        if given.packets or given.nmea:
            raise InputError("--packets and --nmea go with --share")
        return None
    x, y = start[:2]
    yaw = start[2] if len(start) == 3 else atan2(goals[0][1] - y, goals[0][0] - x)
    sent = AlsoSent(
        packets=Endpoint.parse(given.packets) if given.packets else None,
        sentences=Endpoint.parse(given.nmea) if given.nmea else None,
        origin=origin,
    )
    gps, place = settings.sensors.gps, (x, y, yaw)
    return RemoteDriver(given.share, eye, gps, place, lockstep=given.lockstep, timeout=given.timeout, sent=sent)


def _settings(
    path: Path | None, vehicle: str | None, seconds: float | None, changes: list[str] | None
) -> DriveSettings:
    from tussock.cli.settings import parse_settings
    from tussock.drive.settings import DriveSettings, load_drive_settings

    chosen = load_drive_settings(path) if path is not None else DriveSettings()
    values: dict[str, object] = dict(parse_settings(changes or []))
    if vehicle is not None:
        values = {"vehicle": vehicle, **values}
    if seconds is not None:
        values["time_limit_s"] = seconds
    return chosen.changed(**values) if values else chosen


def _numbers(option: str, text: str, counts: tuple[int, ...]) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) not in counts:
        form = " or ".join("x,y" if n == 2 else "x,y,yaw" for n in counts)
        raise InputError.of(option, f"must be {form} [m{', deg' if 3 in counts else ''}]", text)
    return values


def _start(text: str | None, place: object) -> tuple[float, ...]:
    """Where the vehicle starts; a heading that is not given is that to the goal."""
    from math import radians

    from tussock.poses import Pose

    assert isinstance(place, Pose)
    if text is None:
        return float(place.position[0]), float(place.position[1])
    x, y, *yaw = _numbers("--from", text, (2, 3))
    return (x, y, radians(yaw[0])) if yaw else (x, y)


def _check_out(out: Path, force: bool) -> None:
    """Refuse a folder that holds a drive already, before anything is built."""
    from tussock.whole_files import check_writable

    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is a file; name a folder")
    if not out.exists() and not out.parent.is_dir():
        raise OutputError(f"{out.parent}: no such folder; create it first")
    for name in _FILES if out.is_dir() else ():
        check_writable(out / name, force=force)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(exist_ok=True)
        for name in _FILES:
            (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{out}: cannot be made a folder ({error.strerror})") from None


class _progress:
    """A bar over the way to the goal; shown every step of a drive."""

    def __init__(self, goals: list[tuple[float, ...]], quiet: bool) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        from tussock.cli.console import said

        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"))
        self._bar = Progress(*columns, console=said, transient=True, disable=quiet or not said.is_terminal)
        self._task = self._bar.add_task("driving", total=None, told="")
        self._goals = len(goals)
        self._whole = 0.0
        self._begin = 0.0

    def __enter__(self) -> _progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def watch(self, step: DriveStep) -> None:
        import time
        from math import hypot

        x, y = (float(v) for v in step.sensed.driven.rows[-1, :2])
        left = hypot(step.goal[0] - x, step.goal[1] - y)
        self._begin = self._begin or time.perf_counter()
        self._whole = max(self._whole, left)
        took = time.perf_counter() - self._begin
        told = f"{left:.0f} m left, {step.sensed.end:.1f} s simulated" + (
            f", {step.sensed.end / took:.1f} × real time" if took > 0.5 else ""
        )
        self._bar.update(self._task, total=self._whole, completed=self._whole - left, told=told)
