"""Parquet: one file an item, one row group a frame, so that a frame, a class or an area is read without the rest.

items/000731/w000731-vlp-16-drive.parquet    the columns of a frame, ``frame`` and ``instance`` beside them
items/000731/w000731-vlp-16-drive.json       what the item is: choices, calibration, poses, boxes
items/000731/w000731-vlp-16-drive/000000_camera.png

Row groups carry the least and greatest value of every column; readers skip those that cannot hold what they want.
"""

from __future__ import annotations

import io

import numpy as np

from tussock.files.contents import contents_of
from tussock.jobs.layouts.frames import json_bytes, shown
from tussock.jobs.making import Made

__all__ = ["parquet_files"]


def parquet_files(made: Made, threads: int | None) -> dict[str, bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stem = f"items/{made.item.world:06d}/{made.item.name}"
    files: dict[str, bytes] = {}
    frames = []
    buffer = io.BytesIO()
    writer = None
    for moment in made.moments(threads):
        seen = shown(made, moment, threads)
        fields = dict(contents_of(seen.frame).fields)
        rows = len(seen.frame)
        fields["label"] = (seen.labels & np.uint32(0xFFFF)).astype(np.uint16)
        fields["instance"] = (seen.labels >> np.uint32(16)).astype(np.uint16)
        fields["frame"] = np.full(rows, moment.number, np.uint32)
        table = pa.table({name: pa.array(np.ascontiguousarray(array)) for name, array in fields.items()})
        if writer is None:
            writer = pq.ParquetWriter(buffer, table.schema, compression="zstd")
        writer.write_table(table, row_group_size=max(rows, 1))
        for name, picture in seen.pictures.items():
            files[f"{stem}/{moment.number:06d}_{name}.png"] = picture
        frames.append(seen.about)
    assert writer is not None
    writer.close()
    files[f"{stem}.parquet"] = buffer.getvalue()
    files[f"{stem}.json"] = json_bytes({**made.about, "frames": frames})
    return files
