"""From the recordings of a drive to volumes: memory by the volumes, not by the beams, and resumable.

read      captures, logs, sequences, tiles; several of each (`tussock.learn.drives.legs`)
place     each pulse by the pose at its own time; the own vehicle is left out (`tussock.learn.drives.drive`)
choose    the size of the voxels by held-out pulses of the beginning, unless it is given
fit       in three passes over the drive (`tussock.learn.fit_voxels`); what moved is left out
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.dead_lasers import silent_rings
from tussock.learn.drives.ahead import ReadAhead
from tussock.learn.drives.drive import Drive
from tussock.learn.drives.kept import KeptPasses
from tussock.learn.drives.legs import Reading, files_of
from tussock.learn.drives.own_vehicle import OwnVehicle
from tussock.learn.fit_volumes import REGION_FEWEST, check_regions
from tussock.learn.fit_voxels import VoxelOptions, fit_voxels
from tussock.learn.learn_volumes import warn_learning
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.voxels import check_voxel
from tussock.learn.range_noise import constant_noise
from tussock.poses import Trajectory
from tussock.scene.volumes import DEFAULT_TAU, Volumes, check_tau
from tussock.threads import resolve_threads

__all__ = ["DriveOptions", "learn_drive", "open_drive"]

_BEGINNING = 3_000_000
"""pulses of the beginning that the size is chosen from"""


@dataclass(frozen=True, kw_only=True)
class DriveOptions:
    """How a drive is learned; the names are those of `tussock.learn_volumes` where both have them.

    >>> tussock.DriveOptions(voxel=0.2, vehicle=[-2, -1, -2, 1, 1, 0]).tau
    2.0
    """

    voxel: float | None = None
    """[m] side of a voxel; chosen by held-out pulses if not given"""
    tau: float = DEFAULT_TAU
    plain: bool = False
    box: Sequence[float] | None = None
    """learn from the returns in x0, y0, z0, x1, y1, z1 alone [m], in the world"""
    fewest: float = 0.0
    """returns a voxel holds at least; where there are fewer, 4×4×4 are learned as one; 0: all are alike"""
    regions: bool | None = None
    """sizes by region, and what lies between the returns filled; so it is where no size is given, unless ``plain``"""
    vehicle: Sequence[float] | str | None = "found"
    """the own vehicle as a box in the sensor's coordinates [m], ``found`` by what drives along, or None"""
    moving: bool = False
    """whether things that moved are learned too"""
    model: str | None = None
    unit: str | None = None
    reach: float | None = None
    """[m] as far as a pulse without return has certainly met nothing; the farthest return if not given"""
    range_noise: float | None = None
    seconds: str | None = None
    """``even`` or ``odd``: learn from those seconds alone, to foretell the others"""
    threads: int | None = None
    keep: Path | None = None
    """folder for what was found so far; learning that was stopped goes on from there"""
    told: Callable[[int], None] = field(default=lambda pulses: None)
    """is told how many pulses were read, part by part, three times each"""


def learn_drive(
    recordings: Sequence[Path | str], poses: Trajectory | None = None, options: DriveOptions | None = None, *,
    say: Callable[[str], None] = warn_learning,
) -> Volumes:  # fmt: skip
    """Volumes from the recordings of one sensor that moved along ``poses``, in the coordinates of the poses.

    Recordings are captures, ROS logs, folders of a KITTI or RELLIS sequence (which have their poses), LAS tiles, frames.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), keep_misses=True)
    >>> tussock.save_frame(frame, "wall.npz")
    >>> len(tussock.learn_drive(["wall.npz"], options=tussock.DriveOptions(voxel=0.5))) > 0
    True
    """
    given = options or DriveOptions()
    drive = open_drive(recordings, poses, given, say)
    noisy = _Noisy(drive, given.range_noise)
    regions = given.voxel is None and not given.plain if given.regions is None else given.regions
    check_regions(regions, given.plain)
    voxel = _voxel(noisy, given, regions) if given.voxel is None else check_voxel(given.voxel)
    wanted = VoxelOptions(
        voxel=voxel, tau=check_tau(given.tau), plain=given.plain, box=given.box,
        fewest=float(given.fewest or (REGION_FEWEST if regions else 0.0)), filling=regions,
        threads=resolve_threads(given.threads), still=not given.moving, reach=given.reach,
        origin=noisy.beginning(1)[0].middle,
    )  # fmt: skip
    keeper = None if given.keep is None else KeptPasses(given.keep, _about(drive, poses, given, wanted), say)
    volumes = fit_voxels(ReadAhead(noisy), wanted, keeper=keeper, dead=silent_rings)
    if not volumes.meta["complete"]:
        say(
            "drive: pulses without return are not among those recorded, so volumes stop too many at the rim of things; "
            "record packets, or points with their rings"
        )
    if volumes.meta["dead_rings"]:
        say(f"drive: left out as dead, for they never returned and their neighbours did: {volumes.meta['dead_rings']}")
    return replace(volumes, meta=volumes.meta | {"files": [file.name for file in drive.files]})


def open_drive(
    recordings: Sequence[Path | str], poses: Trajectory | None, given: DriveOptions, say: Callable[[str], None]
) -> Drive:
    """The pulses of recordings, as often as asked for, without the own vehicle."""
    if not recordings:
        raise InputError("recordings: give at least one file or folder")
    reading = Reading(model=given.model, unit=given.unit, reach=given.reach, trajectory=poses, say=_once(say))
    drive = Drive(files=files_of([Path(path) for path in recordings]), poses=poses, reading=reading)
    if isinstance(given.vehicle, str):
        if given.vehicle != "found":
            raise InputError.of("vehicle", "must be a box x0,y0,z0,x1,y1,z1 [m], found or none", given.vehicle)
        moves = poses is not None and float(np.ptp(poses.positions, axis=0).max()) > 5.0
        if moves or any(file.is_dir() for file in drive.files):
            drive = drive.with_vehicle_found()
            if drive.vehicle is not None and drive.vehicle.directions:
                say(f"drive: the own vehicle hides {drive.vehicle.directions} degrees of rings; they are left out")
    elif given.vehicle is not None:
        drive = replace(drive, vehicle=OwnVehicle(box=given.vehicle))
    return replace(drive, told=given.told, seconds=given.seconds)


class _Noisy:
    """The pulses of a drive, with the range noise that somebody knows better."""

    def __init__(self, drive: Drive, sigma: float | None) -> None:
        self._drive, self._noise = drive, None if sigma is None else constant_noise(sigma)
        self._read: list[MeasuredPulses] = []
        """parts of the beginning that were looked at before"""
        self._rest: Iterator[MeasuredPulses] | None = None
        """those behind them"""

    def __iter__(self) -> Iterator[MeasuredPulses]:
        read, self._read, rest, self._rest = self._read, [], self._rest, None
        while read:
            yield read.pop(0)
        yield from self._parts() if rest is None else rest

    def _parts(self) -> Iterator[MeasuredPulses]:
        for part in self._drive:
            yield part if self._noise is None else replace(part, noise=self._noise)

    def beginning(self, most: int) -> list[MeasuredPulses]:
        """The first parts, of ``most`` pulses or a few more; who goes through all of them next gets them from memory."""
        self._rest = self._parts() if self._rest is None else self._rest
        while sum(map(len, self._read)) < most and (part := next(self._rest, None)) is not None:
            self._read.append(part)
        if not self._read:
            raise InputError("recordings: hold no pulses")
        return self._read


def _voxel(parts: _Noisy, given: DriveOptions, regions: bool) -> float:
    """The size that foretells held-out pulses of the beginning best."""
    return choose_voxel(
        parts.beginning(_BEGINNING),
        tau=given.tau,
        plain=given.plain,
        box=given.box,
        fewest=given.fewest,
        regions=regions,
        threads=given.threads,
    )


def _about(drive: Drive, poses: Trajectory | None, given: DriveOptions, wanted: VoxelOptions) -> dict[str, Any]:
    """All that decides what is learned, as plain data."""
    facts = [[str(file), *_size_and_time(file)] for file in drive.files]
    path = None if poses is None else [float(poses.times.sum()), float(poses.positions.sum()), len(poses.times)]
    settings = {name: getattr(wanted, name) for name in ("voxel", "tau", "plain", "fewest", "filling", "still")}
    settings |= {name: getattr(given, name) for name in ("model", "unit", "reach", "range_noise", "seconds")}
    box = None if given.box is None else list(given.box)
    vehicle = given.vehicle if isinstance(given.vehicle, str | None) else list(given.vehicle)
    return settings | {"box": box, "vehicle": vehicle, "files": facts, "poses": path, "origin": wanted.origin.tolist()}


def _size_and_time(file: Path) -> list[float]:
    inside = [file] if file.is_file() else sorted(one for one in file.rglob("*") if one.is_file())
    return [len(inside), sum(one.stat().st_size for one in inside), max(one.stat().st_mtime for one in inside)]


def _once(say: Callable[[str], None]) -> Callable[[str], None]:
    """Recordings are read several times; what they lack is said once."""
    said: set[str] = set()

    def tell(note: str) -> None:
        if note not in said:
            said.add(note)
            say(note)

    return tell
