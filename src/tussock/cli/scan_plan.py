"""What ``tussock scan`` does once its words are understood: which frames, into which files, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tussock.cli.console import note
from tussock.cli.interrupt import going_on
from tussock.cli.sources import open_source, parse_sun
from tussock.errors import InputError
from tussock.files.contents import Coords
from tussock.files.formats import save_frame
from tussock.files.truth_table import save_truth_table
from tussock.frames.frame import Frame
from tussock.frames.join import join_frames
from tussock.ground.below import depth_below_ground
from tussock.poses import Pose, Trajectory
from tussock.runs import Run
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.simulate import SUN, checked_on, frames_between, scan
from tussock.trace.cuda.driver import gpu
from tussock.trace.world import World
from tussock.whole_files import check_writable
from tussock.wire.recording import RECORDING_SUFFIXES, check_recording, open_recording
from tussock.wire.velodyne.position import GeoOrigin

if TYPE_CHECKING:
    from tussock.cli.scan import ScanOptions

__all__ = ["ScanPlan", "plan_scan"]


@dataclass(frozen=True)
class ScanPlan:
    """A world, a sensor in it, and the frames to take."""

    world: World
    sensor: Sensor
    place: Pose | Trajectory
    seed: int
    frames: range
    out: Path
    coords: Coords
    misses: bool
    waveform: bool
    threads: int | None
    on: str
    epoch: float
    sun: tuple[float, float]
    force: bool
    numbered: Run | None
    """a time range as one file a frame, which may have been begun already"""
    finished: list[int]
    """its frames that are there"""
    tables: list[Path]
    """files of BlenSor's table, one a frame"""

    @property
    def files(self) -> list[Path]:
        return self.numbered.files if self.numbered else [self.out]

    def telling_what_is_kept(self) -> AbstractContextManager[None]:
        """While frames are taken: what is said to somebody who stops that."""
        numbered = self.numbered
        if numbered is None:
            return nullcontext()

        def say() -> str:
            kept = f"{len(numbered.there())} of {len(self.frames)} frames are finished and kept"
            return f"{kept}: the same command goes on from there"

        return going_on(say)

    def frame(self, number: int) -> Frame:
        return scan(
            self.world, self.sensor, self.place,
            seed=self.seed, frame=number, keep_misses=self.misses, waveform=self.waveform, threads=self.threads,
            on=self.on, epoch=self.epoch, sun=self.sun,
        )  # fmt: skip

    def written(self, epoch: float, origin: GeoOrigin) -> Iterator[tuple[int, Frame | None]]:
        """Each frame with its number, once its files are there; None for a frame that was there already."""
        for index, (number, frame) in enumerate(self._written(epoch, origin)):
            if self.tables and (frame is not None or not self.tables[index].exists()):
                save_truth_table(frame or self.frame(number), self.tables[index], force=True)
            yield number, frame

    def _written(self, epoch: float, origin: GeoOrigin) -> Iterator[tuple[int, Frame | None]]:
        if self.numbered is not None:
            for done in self.numbered.scan(self.world, finished=self.finished):
                yield done.number, done.frame
        elif self.out.suffix in RECORDING_SUFFIXES:
            with open_recording(self.out, self.sensor, force=self.force, epoch=epoch, origin=origin) as run:
                for number in self.frames:
                    frame = self.frame(number)
                    run.write(frame)
                    yield number, frame
        else:
            taken = []
            for number in self.frames:
                frame = self.frame(number)
                taken.append(frame)
                if number != self.frames[-1]:
                    yield number, frame
            whole = taken[0] if len(taken) == 1 else join_frames(taken, self.place)
            save_frame(whole, self.out, force=self.force, coords=self.coords)
            yield self.frames[-1], taken[-1]


def plan_scan(given: ScanOptions, changes: dict[str, object]) -> ScanPlan:
    """Open what is scanned and settle what is written; nothing is written yet, and nothing traced.

    ``changes`` are settings of the sensor that differ from its file.
    """
    if checked_on(given.on) == "gpu":
        gpu()  # says what is missing before a scene is built
    # A range is taken up again by what it was made of: the whole scene, not the part that was wanted first.
    during = None if given.end is not None else partial(_one_frame, given, changes)
    source = open_source(given.scene, given.weather, wind=given.wind, during=during)
    station = source.station(given.sensor, given.pose, given.trajectory)
    assert station.sensor is not None
    device = station.sensor.with_(**changes) if changes else station.sensor
    seed = source.seed if given.seed is None else given.seed
    coords: Coords = "world" if given.coords == "world" else "sensor"
    epoch, sun = given.epoch, SUN if given.sun is None else parse_sun(given.sun)
    start = given.start if given.start is not None else epoch
    first = frames_between(device, start, start, epoch=epoch).start
    frames = range(first, first + 1) if given.end is None else frames_between(device, start, given.end, epoch=epoch)
    if not len(frames):
        raise InputError.of("time range", "holds no start of a frame", f"{start:g} s to {given.end:g} s")
    numbered, finished, together = None, [], _together(given, device)
    if given.out.suffix in RECORDING_SUFFIXES:
        if epoch:
            raise InputError.of("--epoch", "does not go with a recording", str(given.out), "give --utc")
        check_recording(given.out, device, force=given.force)
    elif together:
        check_writable(given.out, force=given.force)
    elif given.end is not None:
        numbered = Run(
            source.scene, device, station.place, given.out, start, given.end,
            seed=seed, coords=coords, keep_misses=given.misses, waveform=given.waveform, threads=given.threads,
            on=given.on, epoch=epoch, sun=sun,
        )  # fmt: skip
        finished = numbered.prepare(force=given.force)
    _note_ground(source.scene, station.place, epoch + frames[0] * device.frame_period)
    tables = _one_a_frame(given.table, frames)
    for target in tables:
        check_writable(target, force=given.force or bool(finished))
    return ScanPlan(
        World(source.scene), device, station.place, seed, frames, given.out, coords, given.misses, given.waveform,
        given.threads, given.on, epoch, sun, given.force, numbered, finished, tables,
    )  # fmt: skip


def _one_frame(given: ScanOptions, changes: dict[str, object], own: dict[str, Sensor]) -> tuple[float, float]:
    """Start and end [s] of the frame that is asked for, of one of a scene's own sensors or of the catalogue's."""
    if given.sensor is None and len(own) != 1:
        return 0.0, 0.0  # which is said when the sensor is chosen
    device = next(iter(own.values())) if given.sensor is None else own.get(given.sensor) or load_sensor(given.sensor)
    device = device.with_(**changes) if changes else device
    start = given.start if given.start is not None else given.epoch
    first = frames_between(device, start, start, epoch=given.epoch).start
    return given.epoch + first * device.frame_period, given.epoch + (first + 1) * device.frame_period


def _note_ground(scene: Scene, path: Pose | Trajectory, begin: float) -> None:
    """Say it where the sensor starts below the ground: everything would be seen from beneath, and nothing fail."""
    place = path.at([begin])[0][0] if isinstance(path, Trajectory) else path.position
    depth = depth_below_ground(scene, place)
    if depth is not None:
        note(f"the sensor is {depth:.2f} m below the ground at {','.join(f'{x:g}' for x in place)}; see --pose")


def _together(given: ScanOptions, sensor: Sensor) -> bool:
    """Whether the frames of a range go into one file; a line scanner's frame is one line, of which nobody wants files."""
    if given.together is not None and (given.end is None or given.out.suffix in RECORDING_SUFFIXES):
        raise InputError("--together, --one-a-frame: go with --to and a format of single frames")
    if given.together and given.waveform:
        raise InputError("--together: waveforms are kept one file a frame; leave it out")
    if given.end is None or given.waveform:
        return False
    line = sensor.pattern.kind == "line" and given.out.suffix.lower() in (".las", ".laz")
    return line if given.together is None else given.together


def _one_a_frame(path: Path | None, frames: range) -> list[Path]:
    """One file a frame; a single frame has the name as it was given."""
    if path is None:
        return []
    return [path] if len(frames) == 1 else [path.with_stem(f"{path.stem}_{frame:06d}") for frame in frames]
