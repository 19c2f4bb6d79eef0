"""Frames of a data set in Parquet by what they hold, found in its catalogue, and points read without the rest.

    from tussock.jobs.finding import find_frames, read_points
    rows = find_frames("dataset", classes=["person"], area=(-5, -5, 5, 5))
    table = read_points("dataset", rows, columns=["x", "y", "z", "label"])

Of the files of points only the row groups of the frames that were found, and of these only the columns that are asked
for, are read: at a URL by requests for parts of a file.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any

from tussock.errors import InputError
from tussock.jobs.catalogue import CATALOGUE
from tussock.jobs.store import Store

__all__ = ["find_frames", "read_points"]


def find_frames(
    root: str,
    *,
    classes: Iterable[str] = (),
    worlds: Iterable[int] | None = None,
    biome: str | None = None,
    area: tuple[float, float, float, float] | None = None,
) -> list[dict[str, Any]]:
    """The rows of the catalogue whose frames have returns of all ``classes`` (Tussock's names of them) and, where given,
    are of one of ``worlds``, of a ``biome``, and have points in ``area`` (x from, y from, x to, y to [m] in the world).
    """
    import pyarrow.parquet as pq

    if area is not None and not (area[0] < area[2] and area[1] < area[3]):
        raise InputError.of("area", "must be x from, y from, x to, y to [m], the least first", area)
    data = Store(root).get(CATALOGUE)
    if data is None:
        raise InputError(f"{root}: has no {CATALOGUE}: it is no finished data set in the layout parquet")
    wanted, numbers = set(classes), None if worlds is None else set(worlds)
    return [
        row
        for row in pq.read_table(io.BytesIO(data)).to_pylist()
        if wanted <= {name for name, _ in row["classes"]}
        and (numbers is None or row["world"] in numbers)
        and (biome is None or row["biome"] == biome)
        and (area is None or _touches(row, area))
    ]


def read_points(root: str, rows: Iterable[dict[str, Any]], columns: Sequence[str] | None = None) -> Any:
    """The points of frames that `find_frames` found, one below the other, as a pyarrow table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    store = Store(root)
    tables = []
    for row in rows:
        with store.open(row["file"]) as file:
            tables.append(pq.ParquetFile(file).read_row_group(row["row_group"], columns=columns))
    if not tables:
        raise InputError("points: no frame was found; ask for other classes, worlds or another area")
    return pa.concat_tables(tables)


def _touches(row: dict[str, Any], area: tuple[float, float, float, float]) -> bool:
    low, high = row["low"], row["high"]
    return bool(low) and all(low[k] <= area[k + 2] and high[k] >= area[k] for k in (0, 1))
