"""Real scans as beams, by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tussock.errors import InputError
from tussock.learn.beams import Beams
from tussock.learn.point_files import read_frame_file, read_kitti, read_las
from tussock.learn.velodyne_capture import read_capture
from tussock.poses import Trajectory

__all__ = ["load_beams"]


def load_beams(
    path: Path | str,
    *,
    origin: ArrayLike | None = None,
    trajectory: Trajectory | None = None,
    model: str | None = None,
    turns: Sequence[int] | None = None,
    reach: float | None = None,
) -> Beams:
    """Read beams from a capture (.pcap), a KITTI scan (.bin), LAS/LAZ, or any file that holds a frame or points.

    ``origin`` [m] or ``trajectory`` says where points from elsewhere were measured from; ``model`` names the sensor
    of a capture that does not; ``turns`` picks revolutions, from 0; ``reach`` [m] is as far as a pulse without return
    has certainly met nothing.
    """
    path = Path(path)
    start = None
    if origin is not None:
        start = np.asarray(origin, float)
        if start.shape != (3,) or not np.isfinite(start).all():
            raise InputError.of("origin", "must be three numbers [m]", start.tolist())
        if trajectory is not None:
            raise InputError("origin: give either an origin or a trajectory, not both")
    if reach is not None and not (np.isfinite(reach) and reach > 0):
        raise InputError.of("reach", "must be a length above 0 [m]", reach)
    if not path.is_file():
        raise InputError(f"{path}: no such file" if not path.is_dir() else f"{path}: is a folder, not a file")
    suffix = path.suffix.lower()
    if suffix in (".pcap", ".pcapng"):
        beams = read_capture(path, model=model, **({} if reach is None else {"reach": reach}))
    elif suffix == ".bin":
        beams = read_kitti(path, reach=reach)
    elif suffix in (".las", ".laz"):
        beams = read_las(path, origin=start, trajectory=trajectory, reach=reach)
    else:
        beams = read_frame_file(path, origin=start, trajectory=trajectory, reach=reach)
    if turns is None:
        return beams
    there = int(beams.turns.max()) + 1
    for turn in turns:
        if not 0 <= turn < there:
            raise InputError.of("turns", f"must lie within 0 and {there - 1}, the revolutions of {path.name}", turn)
    return beams.select(np.isin(beams.turns, list(turns)))
