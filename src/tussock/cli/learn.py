"""``tussock learn``: volumes from a scan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.scans import ModelOption, OriginOption, PathOption, TurnsOption, UnitOption
from tussock.errors import InputError, nearest

__all__ = ["learn"]

_PARTITIONS = ("voxels", "two-means", "growing")


def learn(
    capture: Annotated[
        Path, typer.Argument(help="A scan: .pcap or .pcapng, KITTI .bin, or a file of a frame or of points.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write (.volumes).")],
    voxel_m: Annotated[
        float | None,
        typer.Option(help="Side of a voxel, or size of an ellipsoid [m]; chosen by held-out pulses if not given."),
    ] = None,
    tau: Annotated[float, typer.Option(help="Mahalanobis distance within which a pulse meets a volume.")] = 2.0,
    partition: Annotated[str, typer.Option(help="voxels, two-means or growing.")] = "voxels",
    box: Annotated[
        str | None, typer.Option(help="Learn from the returns in x0,y0,z0,x1,y1,z1 only [m], in the scan's frame.")
    ] = None,
    plain: Annotated[bool, typer.Option("--plain", help="One permeability a volume, exactly as in the paper.")] = False,
    origin: OriginOption = None,
    trajectory: PathOption = None,
    model: ModelOption = None,
    unit: UnitOption = None,
    turns: TurnsOption = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw the volumes as ellipsoids to this PNG.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Learn small volumes, a Gaussian and a permeability each, from the pulses of a scan."""
    from tussock.cli.console import note, print_json, waiting
    from tussock.cli.console import out as console
    from tussock.cli.scans import open_scan, parse_box
    from tussock.learn.learn_volumes import learn_volumes
    from tussock.learn.partition.voxels import check_voxel
    from tussock.plots.canvas import check_picture
    from tussock.plots.volumes import plot_volumes
    from tussock.scene.volumes import check_tau
    from tussock.scene_files.volume_file import check_volume_path, save_volumes

    if partition not in _PARTITIONS:
        raise InputError(f"partition {partition!r}: no such partition; {nearest(partition, _PARTITIONS)}")
    check_tau(tau)
    if voxel_m is not None:
        check_voxel(voxel_m)
    check_volume_path(out, force=force)
    if picture is not None:
        check_picture(picture, force=force)
    corners = None if box is None else parse_box(box)
    with waiting("reading", quiet=as_json):
        pulses = open_scan(capture, origin=origin, trajectory=trajectory, model=model, unit=unit, turns=turns)
    doing = "learning" if voxel_m is not None else "choosing the size and learning"
    notes: list[str] = []
    with waiting(doing, quiet=as_json) as learned:
        volumes = learn_volumes(
            pulses, voxel=voxel_m, method=partition, tau=tau, plain=plain, box=corners, threads=threads,  # type: ignore[arg-type]
            say=notes.append,
        )  # fmt: skip
    save_volumes(volumes, out, force=force)
    if picture is not None:
        plot_volumes(volumes, picture, title=f"Volumes learned from {capture.name}", force=force)
    about = volumes.meta
    if as_json:
        print_json(
            {
                "pulses": about["pulses"], "returns": about["returns"], "volumes": len(volumes), "voxel_m": about["voxel_m"],
                "partition": partition, "tau": tau, "bytes_per_volume": volumes.nbytes / len(volumes),
                "permeability_mean": float(volumes.permeability.mean()), "learn_s": learned["seconds"],
                "notes": notes, "files": [str(file) for file in (out, picture) if file is not None],
            }
        )  # fmt: skip
        return
    how = "given" if voxel_m is not None else "chosen by held-out pulses"
    console.print(f"{capture.name}: {about['pulses']:,} pulses, {about['returns']:,} returns to learn from")
    console.print(
        f"{len(volumes):,} volumes at {about['voxel_m']:g} m ({how}), mean permeability {volumes.permeability.mean():.3f}, in "
        f"{learned['seconds']:.1f} s"
    )
    console.print(f"wrote {out} ({out.stat().st_size / 1e6:.2f} MB)")
    if picture is not None:
        console.print(f"drew {picture}")
    for text in notes:
        note(text)
