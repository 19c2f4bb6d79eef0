"""A run: the frames of a time range, one numbered file each, that can be cut, stopped and taken up again.

A frame's file carries the frame's number, whatever range was asked for, and appears whole or not at all. So a file
that is there is finished: a run that is started again keeps it and does the rest, and a range scanned in two
parts gives the same files as in one. Beside them lies ``NAME.run.json``, which says what the frames are of (scene,
sensor, path, seed, version). Files of another run are never mixed with these: that is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tussock.errors import InputError, OutputError, cause
from tussock.files.contents import Coords
from tussock.files.formats import format_of, save_frame
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.scene.fingerprint import fingerprint
from tussock.scene.scene import Scene
from tussock.sensors.sensor import Sensor
from tussock.simulate import SUN, frames_between, scan
from tussock.trace.world import World
from tussock.version import VERSION
from tussock.whole_files import check_writable, whole_file

__all__ = ["Done", "Run"]


class Done(NamedTuple):
    """A frame of a run, as it is finished."""

    number: int
    file: Path
    frame: Frame | None
    """None where the file was there already"""


@dataclass(frozen=True)
class Run:
    """What is scanned, and where the frames go: ``out`` gives folder, name and format.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> from pathlib import Path
    >>> sensor = tussock.load_sensor("vlp-16")
    >>> run = tussock.Run(scene, sensor, tussock.Pose.at(0, 0, 1), Path("f.npz"), start=0.0, end=0.3)
    >>> len(run.files)
    3
    """

    scene: Scene
    sensor: Sensor
    path: Pose | Trajectory
    out: Path | str
    start: float
    """[s]"""
    end: float
    """[s], not in the range itself"""
    seed: int = 0
    coords: Coords = "sensor"
    keep_misses: bool = False
    waveform: bool = False
    threads: int | None = None
    on: str = "cpu"
    """or gpu"""
    epoch: float = 0.0
    """[s] when frame 0 starts"""
    sun: tuple[float, float] = SUN
    """[deg] azimuth and elevation, for sensors that see it"""

    def __post_init__(self) -> None:
        format_of(self._out)
        if not self.frames:
            raise InputError.of("time range", "holds no start of a frame", f"{self.start:g} s to {self.end:g} s")

    @property
    def frames(self) -> range:
        """Numbers of the frames that start in the range."""
        return frames_between(self.sensor, self.start, self.end, epoch=self.epoch)

    def file(self, number: int) -> Path:
        return self._out.with_name(self._name(number))

    def _name(self, number: int) -> str:
        return f"{self._out.stem}_{number:06d}{self._out.suffix}"

    @property
    def _out(self) -> Path:
        return Path(self.out)

    @property
    def files(self) -> list[Path]:
        return [self.file(number) for number in self.frames]

    @property
    def manifest(self) -> Path:
        return self._out.with_name(f"{self._out.stem}.run.json")

    def identity(self) -> dict[str, Any]:
        """What every frame of the run has in common; not the range, so that a run can be split and continued."""
        path = self.path if isinstance(self.path, Trajectory) else Trajectory.standing(self.path)
        return {
            "format": "tussock run",
            "version": 1,
            "tussock": VERSION,
            "scene": {"name": self.scene.name, "fingerprint": fingerprint(self.scene)},
            "sensor": self.sensor.told(),
            "path": fingerprint(path),
            "seed": self.seed,
            "coords": self.coords,
            "misses": self.keep_misses,
            "waveform": self.waveform,
            "suffix": self._out.suffix,
            # Both give the same returns but for the last bits of some, so a run is made in one place.
            **({"on": self.on} if self.on != "cpu" else {}),
            **({"epoch": self.epoch} if self.epoch else {}),
            **({"sun": list(self.sun)} if self.sensor.receiver.near_infrared else {}),
        }

    def prepare(self, *, force: bool = False) -> list[int]:
        """Check that the run may write here, note what it is, and say which frames are there already.

        ``force``: whatever lies there is not kept, and is overwritten.
        """
        identity = json.loads(json.dumps(self.identity()))
        check_writable(self.file(self.frames[-1]), force=True)
        known = None if force else self._noted()
        finished = [] if force else self.there()
        if known is None and finished:
            raise OutputError(f"{self.file(finished[0])}: exists already; choose another name or pass force=True")
        if known is not None and known != identity:
            other = next((key for key in identity if known.get(key) != identity[key]), "note")
            raise OutputError(
                f"{self.manifest}: notes a run with another {other}; choose another name or pass force=True"
            )
        if known != identity:
            with whole_file(self.manifest, force=True) as temporary:
                temporary.write_text(json.dumps(identity, indent=1) + "\n", encoding="utf-8")
        return finished

    def scan(self, world: World, *, finished: list[int] | None = None) -> Iterator[Done]:
        """Scan and write the frames that are not ``finished``, in order; each is on disk when it is yielded."""
        kept = set(finished or ())
        for number in self.frames:
            file = self.file(number)
            if number in kept:
                yield Done(number, file, None)
                continue
            frame = scan(
                world,
                self.sensor,
                self.path,
                seed=self.seed,
                frame=number,
                keep_misses=self.keep_misses,
                waveform=self.waveform,
                threads=self.threads,
                on=self.on,
                epoch=self.epoch,
                sun=self.sun,
            )
            save_frame(frame, file, force=True, coords=self.coords)
            yield Done(number, file, frame)

    def there(self) -> list[int]:
        """Numbers of the frames whose files are there, from one look at the folder."""
        with os.scandir(self._out.parent) as entries:
            names = {entry.name: entry for entry in entries}
        name = re.compile(f"{re.escape(self._out.stem)}_([0-9]{{6,}}){re.escape(self._out.suffix)}")
        numbers = (int(found[1]) for entry in names if (found := name.fullmatch(entry)))
        there = sorted(n for n in numbers if n in self.frames and self._name(n) in names)
        for number in there:
            if not names[self._name(number)].is_file():
                raise OutputError(f"{self.file(number)}: is no plain file; choose another name")
        return there

    def _noted(self) -> dict[str, Any] | None:
        try:
            noted = json.loads(self.manifest.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise OutputError(
                f"{self.manifest}: is not the note of a run ({cause(error)}); remove it or pass force=True"
            ) from None
        return noted if isinstance(noted, dict) else {}
