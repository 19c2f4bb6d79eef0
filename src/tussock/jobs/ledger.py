"""What is finished of a data set, whoever made it and however it was stopped.

A worker writes the files of an item and then, as the last of them, a receipt with their checksums: an item with a
receipt is done. The client gathers receipts into journal segments as it goes, so that a million items are taken up
again in seconds; a receipt is removed only after its segment is there. When all is done the journal becomes
``manifest.parquet``, sorted, so that the same plan has the same manifest however it was made.

    plan.json          the plan, resolved, and its digest: another plan is refused here
    .receipts/         one a finished item, until it is in the journal
    .journal/          segments
    manifest.parquet   item, path, size and SHA-256 of every file
    catalogue.parquet  one row a frame, in the layout of Parquet: see `tussock.jobs.catalogue`
    manifest.json      counts, failures, versions
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, OutputError
from tussock.jobs.catalogue import CATALOGUE, catalogue_bytes
from tussock.jobs.plan import Plan
from tussock.jobs.store import Store, Stored
from tussock.version import VERSION

__all__ = ["FORMAT", "MANIFEST", "SUMMARY", "Ledger", "read_manifest", "write_receipt"]

FORMAT = "tussock data set of worlds"
MANIFEST, SUMMARY, PLAN = "manifest.parquet", "manifest.json", "plan.json"
_RECEIPTS, _JOURNAL = ".receipts", ".journal"
_COLUMNS = ["item", "path", "size", "sha256"]


def write_receipt(store: Store, index: int, files: Iterable[Stored]) -> None:
    """Say that an item is done."""
    store.put(f"{_RECEIPTS}/{index:09d}.json", json.dumps([list(file) for file in files]).encode())


class Ledger:
    """The finished items of one plan in one store."""

    def __init__(self, store: Store, plan: Plan, *, force: bool = False) -> None:
        self.store, self.plan = store, plan
        self.done: NDArray[np.bool_] = np.zeros(len(plan), bool)
        self._segments = 0
        self.complete = False
        known = store.get(PLAN)
        text = json.dumps(
            {"format": FORMAT, "digest": plan.digest, "tussock": VERSION, "plan": plan.model_dump(mode="json")},
            indent=1, sort_keys=True,
        ).encode()  # fmt: skip
        if known is None:
            taken = [name for name in store.names("") if not name.startswith(".")]
            if taken and not force:
                raise OutputError(f"{store.root}: is not empty and holds no such data set; choose another place")
            store.put(PLAN, text)
        elif _digest(known, store) != plan.digest:
            raise OutputError(
                f"{store.root}: holds the data set of another plan (or of another version of Tussock); choose another "
                "place, or go on with the plan in its plan.json"
            )
        self._take_up()

    def todo(self) -> NDArray[np.int64]:
        """Indices of the items that are not done, in order."""
        return np.flatnonzero(~self.done)

    def gather(self) -> int:
        """Put the receipts that are there into a journal segment; how many."""
        names = self.store.names(_RECEIPTS)
        if not names:
            return 0
        rows: list[tuple[int, Stored]] = []
        for name in names:
            data = self.store.get(f"{_RECEIPTS}/{name}")
            if data is None:
                continue
            index = int(name.removesuffix(".json"))
            if not 0 <= index < len(self.plan):
                continue
            rows += [(index, Stored(*file)) for file in json.loads(data)]
            self.done[index] = True
        self.store.put(f"{_JOURNAL}/{self._segments:06d}.parquet", _table_bytes(rows))
        self._segments += 1
        for name in names:
            self.store.drop(f"{_RECEIPTS}/{name}")
        return len(names)

    def close(self, failures: dict[int, str]) -> dict[str, Any]:
        """Write the manifest; the journal is removed where every item is done. The summary, as in manifest.json."""
        if self.complete:
            return dict(json.loads(self.store.get(SUMMARY) or b"{}"))
        self.gather()
        table = self._whole_journal()
        summary = {
            "format": FORMAT, "digest": self.plan.digest, "tussock": VERSION, "items": len(self.plan),
            "frames": int(self.done.sum()) * self.plan.frames, "files": table.num_rows,
            "bytes": int(np.sum(table["size"].to_numpy())) if table.num_rows else 0,
            "failed": {self.plan.item(index).name: why for index, why in sorted(failures.items())},
        }  # fmt: skip
        if self.done.all() or len(failures) == len(self.todo()):
            if self.plan.output.layout == "parquet":
                self.store.put(CATALOGUE, catalogue_bytes(self.store, table))
            self.store.put(MANIFEST, _parquet(table))
            self.store.put(SUMMARY, (json.dumps(summary, indent=1, sort_keys=True) + "\n").encode())
        if self.done.all():
            for name in self.store.names(_JOURNAL):
                self.store.drop(f"{_JOURNAL}/{name}")
            self.store.clear_folders((_JOURNAL, _RECEIPTS))
        return summary

    def _take_up(self) -> None:
        self.store.clear_parts()
        segments = self.store.names(_JOURNAL)
        if segments:
            self._segments = 1 + max(int(name.removesuffix(".parquet")) for name in segments)
            self.done[self._segments_of(["item"])["item"].to_numpy()] = True
        elif not self.store.names(_RECEIPTS) and self.store.get(SUMMARY) is not None:
            items = read_manifest(self.store)["item"].to_numpy()
            self.done[np.unique(items)] = True
            self.complete = bool(self.done.all())
            if not self.complete:
                self.store.put(f"{_JOURNAL}/000000.parquet", self.store.get(MANIFEST) or b"")
                self._segments = 1
        self.gather()

    def _segments_of(self, columns: list[str]) -> Any:
        """Some columns of all journal segments, one below the other."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = [pq.read_table(io.BytesIO(_table_bytes([])), columns=columns)]
        for name in self.store.names(_JOURNAL):
            data = self.store.get(f"{_JOURNAL}/{name}")
            try:
                tables.append(pq.read_table(io.BytesIO(data or b""), columns=columns))
            except (pa.ArrowInvalid, OSError) as error:
                raise InputError(f"{self.store.root}/{_JOURNAL}/{name}: cannot be read ({error}); remove it") from None
        return pa.concat_tables(tables)

    def _whole_journal(self) -> Any:
        """All files of all finished items, in order, each once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        whole = self._segments_of(_COLUMNS)
        order = pc.sort_indices(whole, sort_keys=[("item", "ascending"), ("path", "ascending")])
        whole = whole.take(order).combine_chunks()
        if len(whole) < 2:
            return whole
        # Stopped between a segment and the removal of its receipts, an item may stand there twice.
        here, before = whole.slice(1), whole.slice(0, len(whole) - 1)
        new = pc.or_(pc.not_equal(here["item"], before["item"]), pc.not_equal(here["path"], before["path"]))
        if pc.all(new).as_py():
            return whole
        return whole.filter(pa.chunked_array([pa.array([True]), *new.chunks])).combine_chunks()


def read_manifest(store: Store) -> Any:
    """The table of all files: item, path, size, sha256."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = store.get(MANIFEST)
    if data is None:
        raise InputError(f"{store.root}: holds no finished data set ({MANIFEST} is missing); run its plan to the end")
    try:
        table = pq.read_table(io.BytesIO(data))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{store.root}/{MANIFEST}: cannot be read ({error})") from None
    if table.column_names != _COLUMNS:
        raise InputError(f"{store.root}/{MANIFEST}: is not the manifest of a data set")
    return table


def _digest(known: bytes, store: Store) -> str:
    try:
        about = json.loads(known)
        if about["format"] != FORMAT:
            raise ValueError("another format")
        return str(about["digest"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{store.root}/{PLAN}: cannot be read ({error}); choose another place") from None


def _table_bytes(rows: list[tuple[int, Stored]]) -> bytes:
    import pyarrow as pa

    table = pa.table(
        {
            "item": pa.array([index for index, _ in rows], pa.int64()),
            "path": pa.array([file.path for _, file in rows], pa.string()),
            "size": pa.array([file.size for _, file in rows], pa.int64()),
            "sha256": pa.array([bytes.fromhex(file.sha256) for _, file in rows], pa.binary(32)),
        }
    )
    return _parquet(table)


def _parquet(table: Any) -> bytes:
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd", use_dictionary=False)
    return buffer.getvalue()
