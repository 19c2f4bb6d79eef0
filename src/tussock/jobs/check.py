"""Is a data set whole? Every file is there with its size and checksum, is readable, and holds what it says."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tussock.jobs.ledger import read_manifest
from tussock.jobs.store import Store

__all__ = ["Checked", "check_dataset"]


class Checked(NamedTuple):
    files: int
    bytes: int
    frames: int
    returns: int
    classes: dict[str, int]
    """returns of every class"""
    wrong: list[str]
    """one line a fault; empty: the data set is whole"""


def check_dataset(out: str, *, on_file: Callable[[int, int], None] | None = None) -> Checked:
    """Check a finished data set at a folder or a URL."""
    store = Store(out)
    table = read_manifest(store)

    wrong: list[str] = []
    size, frames, returns = 0, 0, 0
    classes: Counter[str] = Counter()
    rows = table.to_pylist()
    for number, row in enumerate(rows):
        data = store.get(row["path"])
        if data is None:
            wrong.append(f"{row['path']}: is missing")
        elif len(data) != row["size"]:
            wrong.append(f"{row['path']}: has {len(data)} bytes where the manifest says {row['size']}")
        elif hashlib.sha256(data).digest() != row["sha256"]:
            wrong.append(f"{row['path']}: differs from its checksum in the manifest")
        else:
            size += len(data)
            try:
                for entry, points in _frames(row["path"], data):
                    frames += 1
                    returns += entry["returns"]
                    classes.update(entry["classes"])
                    if points is not None and points != entry["returns"]:
                        wrong.append(f"{row['path']}: holds {points} points where it says {entry['returns']}")
            except (ValueError, KeyError, OSError, tarfile.TarError) as error:
                wrong.append(f"{row['path']}: cannot be read ({' '.join(str(error).split())[:120]})")
        if on_file is not None:
            on_file(number + 1, len(rows))
    return Checked(len(rows), size, frames, returns, dict(sorted(classes.items())), wrong)


def _frames(path: str, data: bytes) -> list[tuple[dict[str, Any], int | None]]:
    """What a file says of its frames, and how many points it holds of each, where it is the one that holds them."""
    if path.endswith(".tar"):
        found, points = [], {}
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                key = member.name.split(".", 1)[0]
                if member.name.endswith(".points.bin"):
                    points[key] = member.size // 16
                elif member.name.endswith(".about.json"):
                    body = tar.extractfile(member)
                    found.append((key, json.loads(body.read() if body else b"")))
        return [(about, points[key]) for key, about in found]
    if path.endswith(".json"):
        return [(about, None) for about in json.loads(data)["frames"]]
    if path.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            pq.read_table(io.BytesIO(data), columns=["x", "label"])
        except pa.ArrowInvalid as error:
            raise ValueError(str(error)) from None
    elif path.endswith(".bin") and not np.isfinite(np.frombuffer(data, "<f4")).all():
        raise ValueError("holds numbers that are not finite")
    return []
