"""``tussock learn``: volumes from a scan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import takes
from tussock.cli.scans import ScanFileOptions, open_given_scan, parse_box
from tussock.errors import InputError, nearest

__all__ = ["learn"]

_PARTITIONS = ("voxels", "two-means", "growing")


@dataclass(frozen=True, kw_only=True)
class LearnOptions(ScanFileOptions):
    """What the command takes."""

    out: Annotated[Path, typer.Option("--out", "-o", help="File to write (.volumes).")]
    voxel_m: Annotated[
        float | None,
        typer.Option(help="Side of a voxel, or size of an ellipsoid [m]; chosen by held-out pulses if not given."),
    ] = None
    tau: Annotated[float, typer.Option(help="Mahalanobis distance within which a pulse meets a volume.")] = 2.0
    partition: Annotated[str, typer.Option(help="voxels, two-means or growing.")] = "voxels"
    box: Annotated[
        str | None, typer.Option(help="Learn from the returns in x0,y0,z0,x1,y1,z1 only [m], in the scan's frame.")
    ] = None
    plain: Annotated[bool, typer.Option("--plain", help="One permeability a volume, exactly as in the paper.")] = False
    picture: Annotated[Path | None, typer.Option(help="Also draw the volumes as ellipsoids to this PNG.")] = None
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(LearnOptions)
def learn(given: LearnOptions) -> None:
    """Learn small volumes, a Gaussian and a permeability each, from the pulses of a scan."""
    from tussock.cli.console import note, print_json, waiting
    from tussock.cli.console import out as console
    from tussock.learn.learn_volumes import learn_volumes
    from tussock.learn.partition.voxels import check_voxel
    from tussock.plots.canvas import check_picture
    from tussock.plots.volumes import plot_volumes
    from tussock.scene.volumes import check_tau
    from tussock.scene_files.volume_file import check_volume_path, save_volumes
    from tussock.whole_files import named_together

    if given.partition not in _PARTITIONS:
        raise InputError(f"partition {given.partition!r}: no such partition; {nearest(given.partition, _PARTITIONS)}")
    check_tau(given.tau)
    if given.voxel_m is not None:
        check_voxel(given.voxel_m)
    check_volume_path(given.out, force=given.force)
    if given.picture is not None:
        check_picture(given.picture, force=given.force)
    corners = None if given.box is None else parse_box(given.box)
    with waiting("reading", quiet=given.as_json):
        pulses = open_given_scan(given)
    doing = "learning" if given.voxel_m is not None else "choosing the size and learning"
    notes: list[str] = []
    with waiting(doing, quiet=given.as_json) as learned:
        volumes = learn_volumes(
            pulses, voxel=given.voxel_m, method=given.partition, tau=given.tau, plain=given.plain,  # type: ignore[arg-type]
            box=corners, threads=given.threads, say=notes.append,
        )  # fmt: skip
    with named_together():
        save_volumes(volumes, given.out, force=given.force)
        if given.picture is not None:
            plot_volumes(volumes, given.picture, title=f"Volumes learned from {given.capture.name}", force=given.force)
    about = volumes.meta
    if given.as_json:
        print_json(
            {
                "pulses": about["pulses"], "returns": about["returns"], "volumes": len(volumes), "voxel_m": about["voxel_m"],
                "partition": given.partition, "tau": given.tau, "bytes_per_volume": volumes.nbytes / len(volumes),
                "permeability_mean": float(volumes.permeability.mean()), "learn_s": learned["seconds"],
                "notes": notes, "files": [str(file) for file in (given.out, given.picture) if file is not None],
            }
        )  # fmt: skip
        return
    how = "given" if given.voxel_m is not None else "chosen by held-out pulses"
    console.print(f"{given.capture.name}: {about['pulses']:,} pulses, {about['returns']:,} returns to learn from")
    console.print(
        f"{len(volumes):,} volumes at {about['voxel_m']:g} m ({how}), mean permeability {volumes.permeability.mean():.3f}, in "
        f"{learned['seconds']:.1f} s"
    )
    console.print(f"wrote {given.out} ({given.out.stat().st_size / 1e6:.2f} MB)")
    if given.picture is not None:
        console.print(f"drew {given.picture}")
    for text in notes:
        note(text)
