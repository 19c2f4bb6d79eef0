"""Points put back beside the scene: a copy of a .blend with the clean and the noisy points of a frame as meshes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tussock.blender.process import run_inside
from tussock.frames.frame import Frame
from tussock.whole_files import check_writable, whole_file

__all__ = ["add_points"]


def add_points(blend: Path, target: Path, frame: Frame, *, force: bool = False) -> None:
    """Write ``target``: ``blend`` with the meshes ``tussock clean`` and ``tussock noisy``, in world coordinates."""
    check_writable(target, force=force)
    returns = frame.select(frame.hit)
    with tempfile.TemporaryDirectory(prefix="tussock-blend-") as scratch:
        clouds = {"tussock clean": returns.world_xyz(true=True), "tussock noisy": returns.world_xyz()}
        arrays: dict[str, Any] = {name: xyz.astype(np.float32) for name, xyz in clouds.items()}
        np.savez(Path(scratch) / "arrays.npz", **arrays)
        with whole_file(target, force=force) as temporary:
            # Blender insists on its own ending.
            written = Path(scratch) / "out.blend"
            run_inside(Path(scratch), "points", str(blend.resolve()), str(written))
            temporary.write_bytes(written.read_bytes())
