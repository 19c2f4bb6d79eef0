"""Frames to files and back, by the suffix of the file's name.

`FORMATS` is the table of what exists; each format is a file of its own.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from tussock.errors import InputError, cause, nearest
from tussock.files.contents import Coords, contents_of, frame_of
from tussock.files.csv import CSV
from tussock.files.e57 import E57
from tussock.files.file_format import Format
from tussock.files.kitti import KITTI
from tussock.files.las import LAS, LAZ
from tussock.files.npz import NPZ
from tussock.files.parquet import PARQUET
from tussock.files.pcd import PCD
from tussock.files.ply import PLY
from tussock.frames.frame import Frame
from tussock.whole_files import check_writable, whole_file

__all__ = ["FORMATS", "format_of", "load_frame", "save_frame"]

FORMATS: dict[str, Format] = {format.suffix: format for format in (PCD, PLY, NPZ, CSV, PARQUET, LAS, LAZ, KITTI, E57)}
"""Every known format by its suffix."""


def save_frame(frame: Frame, path: Path | str, *, force: bool = False, coords: Coords = "sensor") -> None:
    """Write a frame to ``path``, in the format of its suffix; whole or not at all.

    ``coords`` says where the points are: in the sensor's frame at each pulse's own time (as the frame has
    them), or in the world, in double precision where the format has it. An existing file is left alone
    unless ``force``.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"))
    >>> tussock.save_frame(frame, "wall.pcd", coords="world")
    """
    path = Path(path)
    format = format_of(path)
    if coords not in ("sensor", "world"):
        raise InputError.of("coords", "must be 'sensor' or 'world'", coords)
    if frame.waveforms is not None and format.waveforms is None:
        able = ", ".join(sorted(f.suffix for f in FORMATS.values() if f.waveforms is not None))
        raise InputError.of("waveforms", f"need a file of {able}", path.suffix, source=path)
    check_writable(path, force=force)
    contents = contents_of(frame, coords)
    besides = (*format.beside, *(format.waveforms or ()))
    writers = {path: format.save} | {one.path(path): one.save for one in besides if one.needed(contents)}
    old = [one.path(path) for one in besides if not one.needed(contents)]
    for target in (*writers, *old):
        check_writable(target, force=force)
    with ExitStack() as stack:
        # All are written before the first gets its name. The stack closes last first: `path` appears last.
        for target, save in writers.items():
            save(contents, stack.enter_context(whole_file(target, force=force)))
        for target in old:
            target.unlink(missing_ok=True)  # what belonged to the file that is overwritten


def load_frame(path: Path | str) -> Frame:
    """Read a frame, or a point cloud from elsewhere (`tussock.files.contents` says what is filled in).

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"))
    >>> tussock.save_frame(frame, "wall.npz")
    >>> tussock.load_frame("wall.npz").identical(frame)
    True
    """
    path = Path(path)
    format = format_of(path)
    if format.load is None:
        loadable = ", ".join(sorted(f.suffix for f in FORMATS.values() if f.load))
        raise InputError(f"{format.name} files can be written but not read; readable: {loadable}", source=path)
    try:
        if path.is_dir():
            raise InputError("is a folder, not a file")
        if not path.exists():
            raise InputError("no such file")
        return frame_of(format.load(path), path)
    except InputError as error:
        raise error.within(path) from None
    except Exception as error:
        # A damaged file can make a parser stumble in any way; to the reader it is one thing.
        raise InputError(f"not a readable {format.name} file ({cause(error)})", source=path) from None


_PACKED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip", ".7z")


def format_of(path: Path, *, also: tuple[str, ...] = ()) -> Format:
    """The format of a file's name; an error names the suffixes ``also`` known to the caller too."""
    suffix = path.suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    if suffix in _PACKED:
        raise InputError(f"compressed files ({suffix}) are not taken; unpack it first", source=path)
    suffixes = {*FORMATS, *also}
    known = ", ".join(sorted(suffixes))
    if not suffix:
        raise InputError(f"its name has no suffix to tell the format; add one of {known}", source=path)
    guess = nearest(suffix, suffixes)
    remedy = f"{guess} (known: {known})" if guess.startswith("did") else f"known: {known}"
    raise InputError(f"unknown file format {suffix!r}; {remedy}", source=path)
