"""The catalogue of a data set in Parquet: one row a frame, so that frames are found without opening their files.

item, world, frame    which frame
file, row_group       where its points are
biome, season         of its world, empty for plain scenes
returns               how many points it has
x, y, z               [m] of the sensor in the world when it starts
low, high             [m] corners of the box in the world that holds all points of the frame; null without points
classes               returns of every class, as a map
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.jobs.store import Store

__all__ = ["CATALOGUE", "catalogue_bytes"]

CATALOGUE = "catalogue.parquet"
_AT_ONCE = 5000
"""items that are held in memory at a time"""


def catalogue_bytes(store: Store, files: Iterable[str]) -> bytes:
    """The catalogue of all items whose ``files`` a manifest names, in their order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([
        ("item", pa.int64()), ("world", pa.int64()), ("frame", pa.int64()), ("file", pa.string()),
        ("row_group", pa.int32()), ("biome", pa.string()), ("season", pa.string()), ("returns", pa.int64()),
        ("x", pa.float64()), ("y", pa.float64()), ("z", pa.float64()), ("low", pa.list_(pa.float64())),
        ("high", pa.list_(pa.float64())), ("classes", pa.map_(pa.string(), pa.int64())),
    ])  # fmt: skip
    paths = (path for path in files if path.endswith(".json"))
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema, compression="zstd") as writer:
        while some := list(islice(paths, _AT_ONCE)):
            rows = [row for path in some for row in _rows(store, path)]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    return buffer.getvalue()


def _rows(store: Store, path: str) -> list[dict[str, Any]]:
    try:
        return _rows_of(path, json.loads(store.get(path) or b'{"frames": []}'))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        why = " ".join(str(error).split())[:120]
        raise InputError(
            f"{store.root}/{path}: cannot be read ({why}); remove it, and its item is made again"
        ) from None


def _rows_of(path: str, about: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    for group, frame in enumerate(about["frames"]):
        x, y, z = np.array(frame["pose"])[:3, 3].tolist()
        rows.append({
            "item": about["index"], "world": about["world"], "frame": frame["frame"],
            "file": path.removesuffix(".json") + ".parquet", "row_group": group,
            "biome": about["choices"].get("biome", ""), "season": about["choices"].get("season", ""),
            "returns": frame["returns"], "x": x, "y": y, "z": z, "low": frame["low_m"],
            "high": frame["high_m"], "classes": sorted(frame["classes"].items()),
        })  # fmt: skip
    return rows
