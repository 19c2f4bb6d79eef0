"""Plans become data sets: the same bytes whoever makes them and however often they are stopped."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tussock.errors import InputError, OutputError
from tussock.jobs.check import check_dataset
from tussock.jobs.engines import Outcome, dask_engine, here, make_and_store
from tussock.jobs.ledger import Ledger, _Sorted, read_manifest, write_receipt
from tussock.jobs.making import make_item
from tussock.jobs.plan import Plan, load_plan
from tussock.jobs.run import run_plan
from tussock.jobs.shelf import Shelf
from tussock.jobs.store import Store, Stored
from tussock.scene.labels import LABELS

SMALL = """
seed = 4
frames = 2
[worlds]
count = 3
recipe = "small.toml"
[[sensors]]
sensor = "vlp-16"
[output]
layout = "LAYOUT"
"""


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text("side_m = [22, 24]\nbiomes = { meadow = 1, scrub = 1 }\n")
    file = tmp_path / "plan.toml"
    file.write_text(SMALL.replace("LAYOUT", "parquet"))
    return file


def digest(folder: Path) -> str:
    """One digest over names and contents of everything in a folder."""
    total = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            total.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return total.hexdigest()


def test_items_are_numbered_without_one_another(plan_file: Path) -> None:
    plan = load_plan(plan_file).changed(
        weather=[{"name": "clear"}, {"name": "fog", "fog_visibility_m": 60.0}],
        paths=[{"kind": "drive"}, {"kind": "stand"}],
    )
    assert len(plan) == 12
    names = [plan.item(index).name for index in range(12)]
    assert len(set(names)) == 12
    assert names[7] == plan.item(7).name == "w000001-vlp-16-stand-fog"
    assert plan.digest != load_plan(plan_file).digest
    with pytest.raises(InputError, match="item"):
        plan.item(12)


def test_items_are_in_the_weather_of_their_plan(plan_file: Path) -> None:
    plan = load_plan(plan_file).changed(weather=[{"name": "dry"}, {"name": "wet", "rain_mm_h": 80.0}])
    shelf = Shelf()
    dry, wet = (make_item(plan, index, shelf) for index in (0, 1))
    assert dry.about["weather"] is None
    assert wet.about["weather"]["rain_mm_h"] == 80.0
    of_dry, of_wet = (next(made.moments(1)).frames["lidar"] for made in (dry, wet))
    assert not (of_dry.label == LABELS["rain"]).any()
    assert (of_wet.label == LABELS["rain"]).any()


def test_a_run_a_check_and_a_second_run(plan_file: Path, tmp_path: Path) -> None:
    plan, out = load_plan(plan_file), tmp_path / "ds"
    result = run_plan(plan, out)
    assert (result.items, result.made, result.failed) == (3, 3, {})
    found = check_dataset(str(out))
    assert found.wrong == []
    assert found.frames == 6
    assert found.returns == sum(found.classes.values()) > 1000
    assert set(json.loads((out / "labels.json").read_text())["classes"]) >= set(found.classes)
    before = digest(out)
    again = run_plan(plan, out)
    assert again.made == 0
    assert digest(out) == before
    victim = next((out / "items").rglob("*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-1] + b"x")
    next(out.rglob("w000001*.json")).unlink()
    wrong = check_dataset(str(out)).wrong
    assert sorted(line.split(": ")[1].split()[0] for line in wrong) == ["differs", "is"]


def test_stopped_anywhere_it_goes_on_to_the_same_bytes(plan_file: Path, tmp_path: Path) -> None:
    plan = load_plan(plan_file)
    whole = tmp_path / "whole"
    run_plan(plan, whole, engine=here(threads=1))
    shelf = Shelf()
    for stop_after in range(3):
        out = tmp_path / f"cut{stop_after}"
        store = Store(out)
        ledger = Ledger(store, plan)
        for index in [2, 0, 1][:stop_after]:
            make_and_store(plan, store, index, shelf, 1)
        if stop_after == 2:
            ledger.gather()
        # An item whose files were written and whose receipt was not, and what a killed writer leaves.
        (out / ".parts").mkdir(exist_ok=True)
        (out / ".parts" / ".0123abcd.tussock.part").write_bytes(b"half")
        result = run_plan(plan, out)
        assert result.made == 3 - stop_after
        assert digest(out) == digest(whole)


def test_a_segment_and_its_receipts_may_both_be_there(plan_file: Path, tmp_path: Path) -> None:
    plan, store = load_plan(plan_file), Store(tmp_path / "ds")
    ledger = Ledger(store, plan)
    files = [Stored("a.bin", 1, "00" * 32), Stored("b.bin", 2, "11" * 32)]
    write_receipt(store, 1, files)
    ledger.gather()
    write_receipt(store, 1, files)  # killed before it was removed
    taken_up = Ledger(store, plan)
    assert taken_up.todo().tolist() == [0, 2]
    rows = _Sorted(store.names(".journal"), taken_up._segment)
    assert (rows.rows, rows.bytes) == (2, 3)
    assert [batch["path"].to_pylist() for batch in rows.batches()] == [["a.bin", "b.bin"]]


@given(st.lists(st.lists(st.integers(0, 40), unique=True, max_size=12), max_size=6), st.integers(1, 7))
def test_a_manifest_is_sorted_and_has_each_item_once(segments: list[list[int]], at_once: int) -> None:
    import pyarrow as pa

    from tussock.jobs import ledger as module

    tables = {
        f"{number:06d}": pa.concat_tables(
            [module._table([])]
            + [
                module._table([(item, Stored(f"{item}-{k}", item, "ab" * 32)) for k in range(item % 3)])
                for item in items
            ]
        )
        for number, items in enumerate(segments)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS_AT_ONCE", at_once)
        rows = _Sorted(list(tables), lambda name, columns: tables[name].select(columns))
        batches = list(rows.batches())
    want = [(item, f"{item}-{k}") for item in sorted({i for one in segments for i in one}) for k in range(item % 3)]
    assert [pair for b in batches for pair in zip(b["item"].to_pylist(), b["path"].to_pylist(), strict=True)] == want
    assert rows.rows == len(want)
    assert all(len(batch) == at_once for batch in batches[:-1])


def test_an_item_with_a_receipt_is_not_made_again(plan_file: Path, tmp_path: Path) -> None:
    plan, store = load_plan(plan_file), Store(tmp_path / "ds")
    write_receipt(store, 1, [Stored("a.bin", 7, "00" * 32)])
    assert make_and_store(plan, store, 1, None, 1) == Outcome(1, 7)  # type: ignore[arg-type]
    ledger = Ledger(store, plan)
    write_receipt(store, 0, [Stored("b.bin", 7, "00" * 32)])
    write_receipt(store, 2, [Stored("c.bin", 7, "00" * 32)])
    # Item 2 has not been heard of: its receipt stays, so that a second worker would see it.
    assert ledger.gather([0]) == 1
    assert store.names(".receipts") == ["000000002.json"]


def test_a_full_disk_costs_only_what_is_in_flight(
    plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, out = load_plan(plan_file), tmp_path / "ds"
    put, room = Store.put, [8]

    def full(self: Store, path: str, data: bytes) -> Stored:
        room[0] -= 1
        if room[0] < 0:
            raise OutputError(f"{path}: cannot be written (No space left on device)")
        return put(self, path, data)

    monkeypatch.setattr(Store, "put", full)
    with pytest.raises(OutputError, match="No space left"):
        run_plan(plan, out)
    monkeypatch.undo()
    left = len(Ledger(Store(out), plan).todo())
    assert 0 < left < 3
    assert run_plan(plan, out).made == left
    assert check_dataset(str(out)).wrong == []
    assert sorted(p.name for p in out.iterdir() if p.name.startswith(".")) == []


def test_poisoned_items_do_not_stop_the_rest(plan_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tussock.jobs.shelf as shelf

    build = shelf.build_site

    def poisoned(recipe: object, number: int, seed: int) -> object:
        if number == 1:
            raise InputError("world 1: poisoned")
        return build(recipe, number, seed)  # type: ignore[arg-type]

    monkeypatch.setattr(shelf, "build_site", poisoned)
    plan, out = load_plan(plan_file), tmp_path / "ds"
    result = run_plan(plan, out)
    assert result.made == 2
    assert result.failed == {1: "world 1: poisoned"}
    assert json.loads((out / "manifest.json").read_text())["failed"] == {"w000001-vlp-16-drive": "world 1: poisoned"}
    monkeypatch.undo()
    assert run_plan(plan, out).made == 1
    whole = tmp_path / "whole"
    run_plan(plan, whole)
    assert digest(out) == digest(whole)


def test_dask_workers_make_the_same_bytes_also_when_one_is_killed(plan_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="wants Dask: pip install 'tussock[jobs]'")
    plan = load_plan(plan_file)
    whole, out = tmp_path / "whole", tmp_path / "dask"
    run_plan(plan, whole)
    killed = []

    def kill_one(done: int, total: int, size: int) -> None:
        if not killed:
            import psutil

            workers = [p for p in psutil.Process().children(recursive=True) if "spawn_main" in " ".join(p.cmdline())]
            killed.append(len(workers))
            for worker in workers[-1:]:
                worker.send_signal(signal.SIGKILL)

    result = run_plan(plan, out, engine=dask_engine("local", workers=1), on_item=kill_one)
    assert result.failed == {}
    assert killed and killed[0] >= 1
    assert digest(out) == digest(whole)


def test_a_killed_client_loses_only_what_was_in_flight(plan_file: Path, tmp_path: Path) -> None:
    plan, out, whole = load_plan(plan_file), tmp_path / "ds", tmp_path / "whole"
    code = f"from tussock.jobs.plan import load_plan; from tussock.jobs.run import run_plan; run_plan(load_plan({str(plan_file)!r}), {str(out)!r})"
    child = subprocess.Popen([sys.executable, "-c", code], env=os.environ)
    deadline = time.monotonic() + 240
    while child.poll() is None and time.monotonic() < deadline and not list(out.glob(".receipts/*.json")):
        time.sleep(0.01)
    child.kill()
    child.wait()
    left = len(Ledger(Store(out), plan).todo())
    assert left < 3, "nothing was finished before the kill"
    assert run_plan(plan, out).made == left
    run_plan(plan, whole)
    assert digest(out) == digest(whole)


def test_a_million_items_are_planned_and_taken_up_again_in_little_memory(plan_file: Path, tmp_path: Path) -> None:
    import pyarrow as pa

    from tussock.jobs import ledger as module

    plan = load_plan(plan_file).changed(**{"worlds.count": 200_000})
    store = Store(tmp_path / "ds")
    ledger = Ledger(store, plan)
    items = np.arange(150_000)
    table = pa.table({
        "item": items, "path": pa.array([f"items/{i:06d}.parquet" for i in items]), "size": items,
        "sha256": pa.array([bytes(32)] * len(items), pa.binary(32)),
    })  # fmt: skip
    store.put(".journal/000000.parquet", module._parquet([table]))
    taken_up = Ledger(store, plan)
    assert len(ledger.todo()) == 200_000
    assert taken_up.todo()[0] == 150_000


def test_urls_in_memory(plan_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="wants fsspec: pip install 'tussock[jobs]'")
    plan = load_plan(plan_file)
    run_plan(plan, "memory://made/ds")
    assert check_dataset("memory://made/ds").wrong == []
    run_plan(plan, tmp_path / "ds")
    ours, theirs = read_manifest(Store(tmp_path / "ds")), read_manifest(Store("memory://made/ds"))
    assert ours.equals(theirs)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("vlp-16", "vlp-17"), "vlp-17"),
        (("small.toml", "none.toml"), "no such file"),
        (("frames = 2", "frames = 0"), "frames"),
        (('"parquet"', '"arrow"'), "layout"),
        (("count = 3", 'count = 3\nscenes = ["yard"]'), "not both"),
        (("count = 3", "count = -1"), "count"),
        (("seed = 4", "sead = 4"), "did you mean 'seed'"),
        (("[output]", '[[sensors]]\nsensor = "vlp-16"\n[output]'), "two of the name"),
        (("[output]", '[[weather]]\nname = "f"\nfog_visibility_m = 0\n[output]'), "fog_visibility_m"),
    ],
)
def test_wrong_plans_are_refused_in_one_line(plan_file: Path, change: tuple[str, str], says: str) -> None:
    plan_file.write_text(plan_file.read_text().replace(*change))
    with pytest.raises(InputError) as caught:
        load_plan(plan_file)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_plans_and_other_files_are_left_alone(plan_file: Path, tmp_path: Path) -> None:
    plan = load_plan(plan_file)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious.txt").write_text("mine")
    with pytest.raises(OutputError, match="is not empty"):
        Ledger(Store(tmp_path / "full"), plan)
    Ledger(Store(tmp_path / "ds"), plan)
    with pytest.raises(OutputError, match="another plan"):
        Ledger(Store(tmp_path / "ds"), plan.changed(seed=5))
    (tmp_path / "ds" / "plan.json").write_text("{")
    with pytest.raises(InputError, match=r"plan\.json"):
        Ledger(Store(tmp_path / "ds"), plan)


def test_places_that_cannot_be_reached_are_one_line(plan_file: Path) -> None:
    pytest.importorskip("distributed", reason="wants Dask: pip install 'tussock[jobs]'")
    with pytest.raises(InputError, match="must be local"), dask_engine("sluurm"):
        pass
    with pytest.raises(InputError, match="cannot be reached"), dask_engine("tcp://127.0.0.1:9"):
        pass
    with pytest.raises((InputError, OutputError)) as caught:
        Ledger(Store("nowhere://bucket/ds"), load_plan(plan_file))
    assert "\n" not in str(caught.value)


def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="wants Dask: pip install 'tussock[jobs]'")
    import tussock.jobs.engines as engines

    monkeypatch.setattr(engines, "VERSION", "99.0.0")  # here alone: the workers are processes of their own
    with (
        pytest.raises(InputError, match=r"must have Tussock 99\.0\.0, got .*; install it there"),
        dask_engine("local", workers=1),
    ):
        pass


def test_a_scheduler_that_goes_is_one_line(plan_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="wants Dask: pip install 'tussock[jobs]'")

    class Future:
        key, status = "k", "cancelled"

    class Client:
        loop = None

        def scheduler_info(self, n_workers: int) -> dict[str, dict[str, int]]:
            return {"workers": {"one": 1}}

        def submit(self, *_: object, **__: object) -> Future:
            return Future()

    import tussock.jobs.engines as engines

    class Waiting(list):  # type: ignore[type-arg]
        add = list.append

    class Distributed:
        @staticmethod
        def as_completed(loop: object) -> Waiting:
            return Waiting()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "load_extra", lambda *_, **__: Distributed)
        with pytest.raises(OutputError, match="the scheduler is gone"):
            list(engines._submitted(Client(), load_plan(plan_file), Store(tmp_path), iter([0]), 1))


def test_an_outcome_says_what_failed() -> None:
    assert Outcome(3, 0, "why").failed == "why"
    assert isinstance(Plan.parse({"sensors": [{"sensor": "vlp-16"}]}, "plan"), Plan)
