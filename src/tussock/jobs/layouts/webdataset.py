"""WebDataset: one tar an item, each frame a group of files with one key, as its readers expect.

shards/w000731-vlp-16-drive.tar
    w000731-vlp-16-drive-000000.points.bin    float32 x, y, z, intensity
    w000731-vlp-16-drive-000000.label.bin     uint32 instance << 16 | class
    w000731-vlp-16-drive-000000.about.json    pose, boxes, classes, choices of the world
    w000731-vlp-16-drive-000000.camera.png    with a camera
"""

from __future__ import annotations

import io
import tarfile

from tussock.jobs.layouts.frames import json_bytes, shown
from tussock.jobs.making import Made

__all__ = ["webdataset_files"]


def webdataset_files(made: Made, threads: int | None) -> dict[str, bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for moment in made.moments(threads):
            seen = shown(made, moment, threads)
            key = f"{made.item.name}-{moment.number:06d}".replace(".", "_")
            _add(tar, f"{key}.points.bin", seen.points.tobytes())
            _add(tar, f"{key}.label.bin", seen.labels.astype("<u4").tobytes())
            _add(tar, f"{key}.about.json", json_bytes({**made.about, **seen.about}))
            for name, picture in seen.pictures.items():
                _add(tar, f"{key}.{name}.png", picture)
    return {f"shards/{made.item.name}.tar": buffer.getvalue()}


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    # No owner, no time: the same frames are the same bytes.
    about = tarfile.TarInfo(name)
    about.size = len(data)
    tar.addfile(about, io.BytesIO(data))
