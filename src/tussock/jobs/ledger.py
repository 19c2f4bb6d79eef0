"""What is finished of a data set, whoever made it and however it was stopped.

A worker writes the files of an item and then, as the last of them, a receipt with their checksums: an item with a
receipt is done. The client gathers receipts into journal segments as it goes, so that a million items are taken up
again in seconds; a receipt is removed only after its segment is there, and after the client has heard of its item: until
then a worker that is given the item anew finds the receipt and makes nothing twice. When all is done the journal becomes
``manifest.parquet``, sorted, so that the same plan has the same manifest however it was made.

    plan.json          the plan, resolved, and its digest: another plan is refused here
    labels.json        the class numbers, and what each of Tussock's labels is among them
    .receipts/         one a finished item, until it is in the journal
    .journal/          segments
    manifest.parquet   item, path, size and SHA-256 of every file
    catalogue.parquet  one row a frame, in the layout of Parquet: see `tussock.jobs.catalogue`
    manifest.json      counts, failures, versions
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.datasets.labeller import scheme_table
from tussock.errors import InputError, OutputError, cause
from tussock.jobs.catalogue import CATALOGUE, catalogue_bytes
from tussock.jobs.plan import Plan
from tussock.jobs.store import Store, Stored
from tussock.version import VERSION

__all__ = ["FORMAT", "MANIFEST", "SUMMARY", "Ledger", "read_manifest", "read_receipt", "write_receipt"]

FORMAT = "tussock data set of worlds"
MANIFEST, SUMMARY, PLAN, LABELS = "manifest.parquet", "manifest.json", "plan.json", "labels.json"
_RECEIPTS, _JOURNAL = ".receipts", ".journal"
_COLUMNS = ["item", "path", "size", "sha256"]
_ROWS_AT_ONCE = 100_000
"""of a manifest, and in one of its row groups"""


def write_receipt(store: Store, index: int, files: Iterable[Stored]) -> None:
    """Say that an item is done."""
    store.put(_receipt(index), json.dumps([list(file) for file in files]).encode())


def read_receipt(store: Store, index: int) -> list[Stored] | None:
    """The files of an item that is done; None where no receipt says so, or one that was damaged: it is made again."""
    data = store.get(_receipt(index))
    try:
        return None if data is None else [Stored(*file) for file in json.loads(data)]
    except (ValueError, TypeError, RecursionError):
        return None


def _receipt(index: int) -> str:
    return f"{_RECEIPTS}/{index:09d}.json"


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
            # Killed between the two, the table of labels may be there without the plan.
            taken = [name for name in store.names("") if not name.startswith(".") and name != LABELS]
            if taken and not force:
                raise OutputError(f"{store.root}: is not empty and holds no such data set; choose another place")
            table = scheme_table(plan.output.labels)
            store.put(LABELS, (json.dumps(table, indent=1, sort_keys=True) + "\n").encode())
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

    def gather(self, items: Iterable[int] | None = None) -> int:
        """Put the receipts of ``items``, or all that are there, into a journal segment; how many."""
        if items is None:
            items = [int(name.removesuffix(".json")) for name in self.store.names(_RECEIPTS)]
        rows: list[tuple[int, Stored]] = []
        found = []
        for index in items:
            files = read_receipt(self.store, index)
            if files is not None and 0 <= index < len(self.plan):
                rows += [(index, file) for file in files]
                found.append(index)
        if not found:
            return 0
        self.done[found] = True
        self.store.put(f"{_JOURNAL}/{self._segments:06d}.parquet", _parquet([_table(rows)]))
        self._segments += 1
        for index in found:
            self.store.drop(_receipt(index))
        return len(found)

    def _summary(self) -> dict[str, Any]:
        try:
            found = dict(json.loads(self.store.get(SUMMARY) or b"{}"))
            if not all(isinstance(found[key], int) for key in ("items", "frames", "files", "bytes")):
                raise ValueError("its counts are no numbers")
            return found
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = " ".join(str(error).split())[:120]
            raise InputError(f"{self.store.root}/{SUMMARY}: cannot be read ({why}); take it from a copy") from None

    def close(self, failures: dict[int, str]) -> dict[str, Any]:
        """Write the manifest; the journal is removed where every item is done. The summary, as in manifest.json."""
        if self.complete:
            return self._summary()
        self.gather()
        whole = _Sorted(self.store.names(_JOURNAL), self._segment)
        summary = {
            "format": FORMAT, "digest": self.plan.digest, "tussock": VERSION, "items": len(self.plan),
            "frames": int(self.done.sum()) * self.plan.frames, "files": whole.rows, "bytes": whole.bytes,
            "failed": {self.plan.item(index).name: why for index, why in sorted(failures.items())},
        }  # fmt: skip
        if self.done.all() or len(failures) == len(self.todo()):
            if self.plan.output.layout == "parquet":
                paths = (path for batch in whole.batches() for path in batch["path"].to_pylist())
                self.store.put(CATALOGUE, catalogue_bytes(self.store, paths))
            self.store.put(MANIFEST, _parquet(whole.batches()))
            self.store.put(SUMMARY, (json.dumps(summary, indent=1, sort_keys=True) + "\n").encode())
        if self.done.all():
            for name in self.store.names(_JOURNAL):
                self.store.drop(f"{_JOURNAL}/{name}")
            self.store.clear_folders((_JOURNAL, _RECEIPTS))
        self.store.clear_parts()
        return summary

    def _take_up(self) -> None:
        self.store.clear_parts()
        segments = self.store.names(_JOURNAL)
        if segments:
            self._segments = 1 + max(int(name.removesuffix(".parquet")) for name in segments)
            for name in segments:
                self._mark(self._segment(name, ["item"]), f"{_JOURNAL}/{name}")
        elif not self.store.names(_RECEIPTS) and self.store.get(SUMMARY) is not None:
            self._mark(read_manifest(self.store, ["item"]), MANIFEST)
            self.complete = bool(self.done.all())
            if not self.complete:
                self.store.put(f"{_JOURNAL}/000000.parquet", self.store.get(MANIFEST) or b"")
                self._segments = 1
        self.gather()

    def _mark(self, table: Any, name: str) -> None:
        """Count the items of a table as done."""
        items = np.unique(table["item"].to_numpy())
        if len(items) and not (items.dtype.kind in "iu" and items[0] >= 0 and items[-1] < len(self.plan)):
            raise InputError(f"{self.store.root}/{name}: names items that the plan does not have; it was damaged")
        self.done[items] = True

    def _segment(self, name: str, columns: list[str]) -> Any:
        """Some columns of a journal segment."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.read_table(io.BytesIO(self.store.get(f"{_JOURNAL}/{name}") or b""), columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"{self.store.root}/{_JOURNAL}/{name}: cannot be read ({cause(error)}); remove it"
            ) from None


class _Sorted:
    """The rows of a journal in the order of their items, each once, a batch at a time: never all of them in memory."""

    def __init__(self, segments: list[str], read: Callable[[str, list[str]], Any]) -> None:
        self._segments, self._read = segments, read
        tables = [read(name, ["item", "size"]) for name in segments]
        lengths = [len(table) for table in tables]
        self._starts = np.concatenate([[0], np.cumsum(lengths)])
        items = np.concatenate([[], *(table["item"].to_numpy() for table in tables)]).astype(np.int64)
        segment = np.repeat(np.arange(len(segments), dtype=np.int32), lengths)
        order = np.argsort(items, kind="stable")
        # Stopped between a segment and the removal of its receipts, an item may stand in two segments: the first counts.
        starts = np.flatnonzero(np.diff(items[order], prepend=-1))
        first = np.repeat(segment[order[starts]], np.diff(starts, append=len(order)))
        self._order = order[segment[order] == first]
        self.rows = len(self._order)
        sizes = np.concatenate([[], *(table["size"].to_numpy() for table in tables)]).astype(np.int64)
        self.bytes = int(sizes[self._order].sum())

    def batches(self) -> Iterator[Any]:
        """Tables of at most `_ROWS_AT_ONCE` rows; one without rows where there are none.

        Items are finished nearly in their order, so a batch needs few segments and a segment few batches.
        """
        import pyarrow as pa

        for at in range(0, max(self.rows, 1), _ROWS_AT_ONCE):
            rows = self._order[at : at + _ROWS_AT_ONCE]
            which = np.searchsorted(self._starts, rows, side="right") - 1
            pieces, places = [_table([])], [np.empty(0, np.int64)]
            for segment in np.unique(which):
                mine = np.flatnonzero(which == segment)
                whole = self._read(self._segments[segment], _COLUMNS)
                pieces.append(whole.take(rows[mine] - self._starts[segment]))
                places.append(mine)
            back = np.argsort(np.concatenate(places))
            yield pa.concat_tables(pieces).combine_chunks().take(back)


def read_manifest(store: Store, columns: list[str] | None = None) -> Any:
    """The table of all files: item, path, size, sha256, or some of these."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = store.get(MANIFEST)
    if data is None:
        raise InputError(f"{store.root}: holds no finished data set ({MANIFEST} is missing); run its plan to the end")
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        if file.schema_arrow.names != _COLUMNS:
            raise InputError(f"{store.root}/{MANIFEST}: is not the manifest of a data set")
        return file.read(columns)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{store.root}/{MANIFEST}: cannot be read ({cause(error)})") from None


def _digest(known: bytes, store: Store) -> str:
    try:
        about = json.loads(known)
        if about["format"] != FORMAT:
            raise ValueError("another format")
        return str(about["digest"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{store.root}/{PLAN}: cannot be read ({error}); choose another place") from None


def _table(rows: list[tuple[int, Stored]]) -> Any:
    import pyarrow as pa

    return pa.table(
        {
            "item": pa.array([index for index, _ in rows], pa.int64()),
            "path": pa.array([file.path for _, file in rows], pa.string()),
            "size": pa.array([file.size for _, file in rows], pa.int64()),
            "sha256": pa.array([bytes.fromhex(file.sha256) for _, file in rows], pa.binary(32)),
        }
    )


def _parquet(tables: Iterable[Any]) -> memoryview:
    """One file of one row group a table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer, writer = pa.BufferOutputStream(), None
    for table in tables:
        writer = writer or pq.ParquetWriter(buffer, table.schema, compression="zstd", use_dictionary=False)
        writer.write_table(table)
    assert writer is not None
    writer.close()
    return memoryview(buffer.getvalue())
