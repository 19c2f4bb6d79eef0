"""The story of a data set: moments of a rig over a time range, each written as it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tussock.datasets.kitti import KittiRig
from tussock.datasets.labeller import check_scheme
from tussock.datasets.odometry import Odometry
from tussock.datasets.progress import Progress
from tussock.datasets.raw import Raw
from tussock.errors import InputError, OutputError
from tussock.randomness import check_seed
from tussock.rigs.capture import capture_moment, check_range, moments_between, sensor_seed
from tussock.rigs.rig import Rig
from tussock.scene.fingerprint import fingerprint
from tussock.scene.scene import Scene
from tussock.trace.world import World
from tussock.version import VERSION

__all__ = ["Layout", "Written", "write_dataset"]

Layout = Literal["odometry", "raw"]


@dataclass(frozen=True)
class Written:
    """What `write_dataset` did.

    >>> tussock.write_dataset(rig, scene, "kitti", end=1.0).moments  # doctest: +SKIP
    10
    """

    moments: int
    made: int
    """moments that were not there before"""
    manifest: Path


def write_dataset(
    rig: Rig,
    scene: Scene,
    out: Path | str,
    *,
    start: float = 0.0,
    end: float,
    layout: Layout = "odometry",
    classes: str = "semantickitti",
    truth: bool = True,
    seed: int = 0,
    lidar: str | None = None,
    cameras: list[str] | None = None,
    force: bool = False,
    threads: int | None = None,
    on_moment: Callable[[int, int], None] | None = None,
) -> Written:
    """Write the moments that start in [start, end) [s] below the folder ``out``, in one of KITTI's layouts.

    The odometry layout has the classes of ``semantickitti``, ``rellis-3d``, ``goose`` or ``tussock``, and with ``truth`` boxes of
    things, and depth, classes and instances of every pixel; the raw layout has none of these.

    Moments that are there already, made with the same settings, are kept and not made again; so a run that was
    stopped goes on where it was, and a later ``end`` adds to it. ``force`` begins anew. ``on_moment`` is told how
    many of how many are finished.

    >>> rig = tussock.load_rig("rig.toml")  # doctest: +SKIP
    >>> tussock.write_dataset(rig, tussock.ready_scene("yard"), "kitti", end=1.0).made  # doctest: +SKIP
    10
    """
    folder, seed = Path(out), check_seed(seed)
    kitti = KittiRig.of(rig, lidar=lidar, cameras=cameras)
    numbers = moments_between(rig, start, end)
    world = World(scene)
    check_range(kitti.used, world, numbers)
    if layout not in ("odometry", "raw"):
        raise InputError.of("layout", "must be odometry or raw", layout)
    check_scheme(classes)
    writer = Odometry(kitti, world, classes=classes, truth=truth) if layout == "odometry" else Raw(kitti, world)
    progress = Progress(folder, _settings(kitti, scene, writer.settings, numbers, seed), force=force)

    made = 0
    try:
        texts = writer.fixed_files(numbers)
        fixed = progress.write_files({path: text.encode("ascii") for path, text in texts.items()})
        for index, number in enumerate(numbers):
            if index not in progress.finished:
                moment = capture_moment(kitti.used, world, number, seed=seed, views=writer.views, threads=threads)
                progress.write(index, writer.contents(moment, index))
                made += 1
            if on_moment is not None:
                on_moment(index + 1, len(numbers))
        manifest = progress.close(fixed, numbers)
    except OutputError as error:
        kept = sum(index in progress.finished for index in range(len(numbers)))
        raise OutputError(
            f"{error}; {kept} of {len(numbers)} moments are finished and kept: the same command goes on from there"
        ) from None
    return Written(len(numbers), made, manifest)


def _settings(kitti: KittiRig, scene: Scene, layout: dict[str, Any], numbers: range, seed: int) -> dict[str, Any]:
    """Everything that the bytes of the data set depend on."""
    return {
        "tussock": VERSION,
        **layout,
        "seed": seed,
        "sensor_seeds": {name: sensor_seed(seed, name) for name in kitti.used.sensor_names},
        "first_moment": numbers[0],
        "rig": kitti.used.plain(),
        "scene": {"name": scene.name, "fingerprint": fingerprint(scene)},
    }
