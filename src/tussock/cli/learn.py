"""``tussock learn``: volumes from a scan, or from the recordings of a drive."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tussock.cli.options import Threads, takes
from tussock.cli.scans import ScanFileOptions, open_scan, parse_box
from tussock.errors import InputError, nearest

if TYPE_CHECKING:
    from tussock.scene.volumes import Volumes

__all__ = ["learn"]

_PARTITIONS = ("voxels", "two-means", "growing")


@dataclass(frozen=True, kw_only=True)
class LearnOptions(ScanFileOptions):
    """What the command takes."""

    capture: Annotated[  # type: ignore[assignment]
        list[Path],
        typer.Argument(
            help="A scan: .pcap or .pcapng, KITTI .bin, or a file of a frame or of points; or a drive: several of them, ROS "
            "logs, folders, a KITTI or RELLIS sequence."
        ),
    ]
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write (.volumes).")]
    voxel_m: Annotated[
        float | None,
        typer.Option(help="Side of a voxel, or size of an ellipsoid [m]; chosen by held-out pulses if not given."),
    ] = None
    range_noise_m: Annotated[
        float | None,
        typer.Option(help="Range noise of the sensor that measured, to be taken out [m]; by its model if not given."),
    ] = None
    tau: Annotated[float, typer.Option(help="Mahalanobis distance within which a pulse meets a volume.")] = 2.0
    partition: Annotated[str, typer.Option(help="voxels, two-means or growing.")] = "voxels"
    box: Annotated[
        str | None, typer.Option(help="Learn from the returns in x0,y0,z0,x1,y1,z1 only [m], in the scan's frame.")
    ] = None
    fewest: Annotated[
        float,
        typer.Option(help="Returns of a voxel; where there are fewer, 4x4x4 are learned as one. 0: all are alike."),
    ] = 0.0
    regions: Annotated[
        bool | None,
        typer.Option(
            "--regions/--one-size",
            help="Sizes by region, and what lies between the returns filled; so it is for a drive if no size is given.",
        ),
    ] = None
    vehicle: Annotated[
        str, typer.Option(help="Own vehicle of a drive: x0,y0,z0,x1,y1,z1 in the sensor's frame [m], found, or none.")
    ] = "found"
    odometry: Annotated[
        bool, typer.Option("--odometry", help="Find the poses of a drive by KISS-ICP, where none are known.")
    ] = False
    seconds: Annotated[
        str | None,
        typer.Option(help="Learn a drive from its even or its odd seconds alone; `compare` foretells the others."),
    ] = None
    moving: Annotated[bool, typer.Option("--moving", help="Learn what moved during a drive, too.")] = False
    plain: Annotated[bool, typer.Option("--plain", help="One permeability a volume, exactly as in the paper.")] = False
    photos: Annotated[
        Path | None,
        typer.Option(help="Colour the volumes from photographs: a file (.toml) of images, cameras and poses."),
    ] = None
    picture: Annotated[Path | None, typer.Option(help="Also draw the volumes as ellipsoids to this PNG.")] = None
    threads: Threads = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(LearnOptions)
def learn(given: LearnOptions) -> None:
    """Learn small volumes, a Gaussian and a permeability each, from the pulses of a scan."""
    from tussock.cli.console import note, print_json, waiting
    from tussock.cli.console import out as console
    from tussock.learn.attributes.color_volumes import color_volumes
    from tussock.learn.attributes.photos import load_photos
    from tussock.learn.learn_volumes import learn_volumes
    from tussock.learn.partition.voxels import check_voxel
    from tussock.learn.range_noise import constant_noise
    from tussock.plots.canvas import check_picture
    from tussock.plots.volumes import plot_volumes
    from tussock.scene.volumes import check_tau
    from tussock.scene_files.volume_file import check_volume_path, save_volumes
    from tussock.whole_files import named_together

    if given.partition not in _PARTITIONS:
        raise InputError(f"partition {given.partition!r}: no such partition; {nearest(given.partition, _PARTITIONS)}")
    check_tau(given.tau)
    if given.range_noise_m is not None:
        constant_noise(given.range_noise_m)
    if given.voxel_m is not None:
        check_voxel(given.voxel_m)
    check_volume_path(given.out, force=given.force)
    if given.picture is not None:
        check_picture(given.picture, force=given.force)
    corners = None if given.box is None else parse_box(given.box)
    photos = [] if given.photos is None else load_photos(given.photos)
    notes: list[str] = []
    learned: dict[str, float] = {}
    name = given.capture[0].name if len(given.capture) == 1 else f"{len(given.capture)} recordings"
    keep = given.out.with_name(given.out.name + ".learning")
    drives = _is_drive(given)
    if drives:
        begin = time.perf_counter()
        volumes = _from_drive(given, corners, keep, notes.append)
        learned["seconds"] = time.perf_counter() - begin
    else:
        with waiting("reading", quiet=given.as_json):
            pulses = open_scan(
                given.capture[0], origin=given.origin, trajectory=given.trajectory, model=given.model, unit=given.unit,
                turns=given.turns,
            )  # fmt: skip
        doing = "learning" if given.voxel_m is not None else "choosing the size and learning"
        with waiting(doing, quiet=given.as_json) as learned:
            volumes = learn_volumes(
                pulses, voxel=given.voxel_m, method=given.partition, tau=given.tau, plain=given.plain,  # type: ignore[arg-type]
                box=corners, fewest=given.fewest, regions=given.regions, threads=given.threads, range_noise=given.range_noise_m,
                say=notes.append,
            )  # fmt: skip
    if photos:
        volumes = color_volumes(volumes, photos, threads=given.threads)
    with named_together():
        save_volumes(volumes, given.out, force=given.force)
        if given.picture is not None:
            plot_volumes(volumes, given.picture, title=f"Volumes learned from {name}", force=given.force)
    if drives:
        shutil.rmtree(keep, ignore_errors=True)
    about = volumes.meta
    if given.as_json:
        print_json(
            {
                "pulses": about["pulses"], "returns": about["returns"], "volumes": len(volumes), "voxel_m": about["voxel_m"],
                "partition": given.partition, "tau": given.tau, "bytes_per_volume": volumes.nbytes / len(volumes),
                "permeability_mean": float(volumes.permeability.mean()), "learn_s": learned["seconds"],
                "range_noise_m": about["range_noise_m"], "moved": about.get("moved", 0), "two_returns": about["two_returns"],
                "labels": _labels(volumes), "colored": int((volumes.colors[:, 3] > 0).sum()), "notes": notes, "files": [str(file) for file in (given.out, given.picture) if file is not None],
            }
        )  # fmt: skip
        return
    how = "given" if given.voxel_m is not None else "chosen by held-out pulses"
    console.print(f"{name}: {about['pulses']:,} pulses, {about['returns']:,} returns to learn from")
    console.print(
        f"{len(volumes):,} volumes at {about['voxel_m']:g} m ({how}), mean permeability {volumes.permeability.mean():.3f}, in "
        f"{learned['seconds']:.1f} s"
    )
    if len(volumes.labels):
        shares = sorted(_labels(volumes).items(), key=lambda pair: -pair[1])
        shown = ", ".join(f"{label} {count / len(volumes):.0%}" for label, count in shares[:6])
        console.print(f"labels: {shown}{', …' if len(shares) > 6 else ''}")
    if len(volumes.colors):
        console.print(f"colours: {(volumes.colors[:, 3] > 0).mean():.0%} of the volumes")
    console.print(f"wrote {given.out} ({given.out.stat().st_size / 1e6:.2f} MB)")
    if given.picture is not None:
        console.print(f"drew {given.picture}")
    for text in notes:
        note(text)


def _labels(volumes: Volumes) -> dict[str, int]:
    """How many volumes have each label."""
    import numpy as np

    names = {number: name for name, number in volumes.label_names.items()}
    numbers, counts = np.unique(volumes.labels, return_counts=True)
    pairs = zip(numbers.tolist(), counts.tolist(), strict=True)
    return {names.get(number, f"label-{number}") if number else "unlabelled": count for number, count in pairs}


def _is_drive(given: LearnOptions) -> bool:
    """Whether the recordings are those of a sensor that moved, or too many for memory."""
    from tussock.wire.read_firings import CAPTURE_SUFFIXES
    from tussock.wire.ros.read_log import is_log

    one = given.capture[0]
    recorded = one.suffix.lower() in CAPTURE_SUFFIXES or is_log(one)
    moves = given.odometry or given.seconds is not None or (given.trajectory is not None and recorded)
    return len(given.capture) > 1 or (one.is_dir() and not is_log(one)) or moves


def _from_drive(
    given: LearnOptions, corners: list[float] | None, keep: Path, say: Callable[[str], None]
) -> Volumes:  # fmt: skip
    """Learn from recordings part by part, with a count of the pulses read."""
    from rich.text import Text

    from tussock.cli.console import said
    from tussock.learn.drives.odometry import poses_by_odometry
    from tussock.learn.learn_drive import DriveOptions, learn_drive
    from tussock.poses import Trajectory

    for option, value in (("origin", given.origin), ("turns", given.turns)):
        if value is not None:
            raise InputError(f"{option}: goes with a single scan, not with a drive; leave it out")
    if given.partition != "voxels":
        raise InputError.of("partition", "must be voxels for a drive", given.partition)
    if given.odometry and given.trajectory is not None:
        raise InputError("odometry: give either --poses or --odometry, not both")
    vehicle = (
        None if given.vehicle == "none" else given.vehicle if given.vehicle == "found" else parse_box(given.vehicle)
    )
    with said.status(Text("reading the drive")) as status:
        read = 0

        def told(pulses: int) -> None:
            nonlocal read
            read += pulses
            if not given.as_json:
                status.update(Text(f"learning the drive: {read / 1e6:.1f} million pulses in three passes"))

        options = DriveOptions(
            voxel=given.voxel_m, tau=given.tau, plain=given.plain, box=corners, fewest=given.fewest, regions=given.regions,
            vehicle=vehicle,
            moving=given.moving, model=given.model, unit=given.unit, range_noise=given.range_noise_m,
            threads=given.threads, keep=keep, told=told, seconds=given.seconds,
        )  # fmt: skip
        poses = None if given.trajectory is None else Trajectory.load(given.trajectory)
        if given.odometry:
            poses = poses_by_odometry(given.capture, model=given.model, unit=given.unit, say=say)
        return learn_drive(given.capture, poses, options, say=say)
