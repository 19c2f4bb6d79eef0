"""How jobs hold: overhead of Dask, a million items, and kills at random moments.

python benchmarks/jobs.py               all of it
python benchmarks/jobs.py overhead      throughput of two Dask workers against two plain processes over the same items
python benchmarks/jobs.py items         processor time and bytes of a world and of a frame, for the scaling model
python benchmarks/jobs.py million       planning and taking up again of 10⁶ items
python benchmarks/jobs.py kills [WORLDS FRAMES WORKER_KILLS CLIENT_KILLS]
                                        kills at random moments, then one digest over the data set against an
                                        undisturbed run on one thread
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tussock.jobs.engines import dask_engine, here, make_and_store
from tussock.jobs.ledger import Ledger, _parquet
from tussock.jobs.plan import Plan, load_plan
from tussock.jobs.run import run_plan
from tussock.jobs.shelf import Shelf
from tussock.jobs.store import Store

PLAN = """
seed = 11
frames = {frames}
[worlds]
count = {worlds}
recipe = {{ {recipe} }}
[[sensors]]
sensor = "vlp-16"
[output]
layout = "webdataset"
"""


COUNTING = """
# Loaded by every worker: a line when an item is begun, and one when its receipt is written.
import os
import tussock.jobs.engines as engines

from tussock.jobs.ledger import write_receipt as end
from tussock.jobs.making import make_item as begin

def note(word, index):
    line = os.open(os.environ["TUSSOCK_COUNTED"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(line, f"{word} {index}\\n".encode())
    os.close(line)

def make_item(plan, index, shelf):
    note("begin", index)
    return begin(plan, index, shelf)

def write_receipt(store, index, files):
    end(store, index, files)
    note("end", index)

engines.make_item, engines.write_receipt = make_item, write_receipt
"""


CAMERA = '[sensors.camera]\nwidth = 640\nheight = 480\nlens = { kind = "pinhole", horizontal_fov_deg = 80 }'
# Small worlds, whose plants a new worker grows in no time: 40 restarts are what takes long.
SMALL = "side_m = [20, 22], biomes = { meadow = 1, heath = 1, scrub = 1 }, seasons = { summer = 1 }"


def plan_in(folder: Path, worlds: int, frames: int, recipe: str = "side_m = [30, 40]") -> tuple[Path, Plan]:
    path = folder / "plan.toml"
    path.write_text(PLAN.format(worlds=worlds, frames=frames, recipe=recipe))
    return path, load_plan(path)


def digest(folder: Path) -> str:
    total = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            total.update(str(file.relative_to(folder)).encode() + file.read_bytes())
    return total.hexdigest()


def _plain(path: str, out: str, which: int, of: int) -> None:
    plan, shelf = load_plan(path), Shelf()
    for index in range(which, len(plan), of):
        make_and_store(plan, Store(out), index, shelf, 1)


def overhead(folder: Path, worlds: int = 30, frames: int = 10) -> None:
    """Two workers each, the same items; both have compiled kernels and started processes before the clock runs."""
    path, plan = plan_in(folder, worlds, frames)
    run_plan(plan.changed(**{"worlds.count": 1}), folder / "warm", engine=here(1))
    ratios = []
    for round_ in range(3):
        begin = time.perf_counter()
        children = [
            multiprocessing.get_context("spawn").Process(
                target=_plain, args=(str(path), str(folder / f"p{round_}"), k, 2)
            )
            for k in range(2)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join()
        plain = time.perf_counter() - begin
        begin = time.perf_counter()
        run_plan(plan, folder / f"d{round_}", engine=dask_engine("local", workers=2))
        dask = time.perf_counter() - begin
        ratios.append(plain / dask)
        print(f"  round {round_}: plain {plain:.1f} s, Dask {dask:.1f} s, throughput {plain / dask:.3f} of plain")
        print(f"    {worlds * frames / plain:.1f} frames/s plain, {worlds * frames / dask:.1f} on Dask")
    print(f"overhead: Dask reaches {np.median(ratios):.3f} of the plain loop (median of 3), start and end included")


def items(folder: Path, worlds: int = 9, frames: int = 10) -> None:
    """Times of one core, plants grown and kernels compiled before; the model of docs/worlds.md is made of them."""
    for sensor, camera in (("vlp-16", ""), ("os1-64-rev7", ""), ("vlp-16", CAMERA)):
        text = PLAN.format(worlds=worlds, frames=frames, recipe="").replace("vlp-16", sensor)
        path = folder / "items.toml"
        path.write_text(text.replace('"webdataset"', '"parquet"').replace("[output]", f"{camera}\n[output]"))
        plan, store, shelf = load_plan(path), Store(folder / f"{sensor}{bool(camera)}"), Shelf()
        worlds_s, frames_s, size = [], [], 0
        for index in range(worlds):
            for number in (index, index):  # the first time grows its plants
                shelf = Shelf()
                begin = time.process_time()
                shelf.world(plan, plan.item(number).world)
                built = time.process_time() - begin
            begin = time.process_time()
            size += make_and_store(plan, store, index, shelf, 1).bytes
            worlds_s.append(built)
            frames_s.append((time.process_time() - begin) / frames)
        t_world, t_frame = float(np.mean(worlds_s)), float(np.mean(frames_s))
        print(
            f"items: {sensor}{' and a camera of 640 × 480' if camera else ''}: {t_world:.2f} s a world, {t_frame:.3f} s "
            f"a frame, {size / worlds / frames / 1e6:.2f} MB a frame, {3600 / (t_world / frames + t_frame):,.0f} frames "
            "a core-hour",
            flush=True,
        )


def million(folder: Path) -> None:
    import pyarrow as pa

    _, plan = plan_in(folder, 1_000_000, 1)
    begin = time.perf_counter()
    store = Store(folder / "million")
    ledger = Ledger(store, plan)
    length = sum(len(plan.item(index).name) for index in range(len(plan)))
    print(
        f"million: planned {len(ledger.todo()):,} items ({length / 1e6:.0f} MB of names) in {time.perf_counter() - begin:.1f} s"
    )
    chance = np.random.default_rng(0)  # checksums do not compress
    for segment in range(500):  # as a run writes them
        items = np.arange(segment * 2000, (segment + 1) * 2000)
        table = pa.table({
            "item": items, "path": [f"shards/{plan.item(i).name}.tar" for i in items.tolist()], "size": items,
            "sha256": pa.FixedSizeBinaryArray.from_buffers(
                pa.binary(32), len(items), [None, pa.py_buffer(chance.bytes(32 * len(items)))]
            ),
        })  # fmt: skip
        store.put(f".journal/{segment:06d}.parquet", _parquet([table]))
    del table, items
    begin = time.perf_counter()
    taken_up = Ledger(store, plan)
    print(f"million: taken up again in {time.perf_counter() - begin:.1f} s, {len(taken_up.todo())} left")
    begin = time.perf_counter()
    taken_up.close({})
    print(f"million: manifest in {time.perf_counter() - begin:.1f} s")
    print(
        f"million: peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB of the whole process"
    )


def twice(counted: Path) -> tuple[int, int, int]:
    """How often a finished item was begun again, how often any was begun, and how often one was finished."""
    finished: set[str] = set()
    again = begun = ended = 0
    for line in counted.read_text().splitlines():
        word, index = line.split()
        begun += word == "begin"
        ended += word == "end"
        again += word == "begin" and index in finished
        if word == "end":
            finished.add(index)
    return again, begun, ended


def kills(folder: Path, worlds: int, frames: int, worker_kills: int, client_kills: int) -> None:
    import psutil

    path, plan = plan_in(folder, worlds, frames, SMALL)
    begin = time.perf_counter()
    run_plan(plan, folder / "whole", engine=here(1))
    print(f"kills: undisturbed on one thread {time.perf_counter() - begin:.0f} s", flush=True)
    out = folder / "killed"
    chance = random.Random(5)
    code = (
        "import sys\nfrom tussock.jobs.plan import load_plan\nfrom tussock.jobs.run import run_plan\n"
        "from tussock.jobs.engines import dask_engine\n"
        f"if __name__ == '__main__':\n    run_plan(load_plan({str(path)!r}), {str(out)!r}, engine=dask_engine('local', workers=2))\n"
    )
    script, counting, counted = folder / "client.py", folder / "counting.py", folder / "counted.txt"
    script.write_text(code)
    counting.write_text(COUNTING)
    environment = os.environ | {
        "DASK_DISTRIBUTED__WORKER__PRELOAD": repr([str(counting)]), "TUSSOCK_COUNTED": str(counted),
    }  # fmt: skip
    begin = time.perf_counter()
    killed_workers = killed_clients = 0
    while True:
        lines = counted.stat().st_size if counted.exists() else 0
        client = subprocess.Popen([sys.executable, str(script)], env=environment)
        while client.poll() is None and (not counted.exists() or counted.stat().st_size == lines):
            time.sleep(0.1)  # until its workers are at work: a kill before that loses nothing
        done = False
        while not done:
            time.sleep(chance.uniform(0.2, 6.0))
            if client.poll() is not None:
                done = True
            elif killed_workers < worker_kills and chance.random() < 0.75:
                children = psutil.Process(client.pid).children(recursive=True)
                workers = [p for p in children if "spawn_main" in " ".join(p.cmdline())]
                if workers:
                    chance.choice(workers).send_signal(signal.SIGKILL)
                    killed_workers += 1
            elif killed_clients < client_kills:
                left = psutil.Process(client.pid).children(recursive=True)
                client.kill()
                client.wait()
                killed_clients += 1
                psutil.wait_procs(left, timeout=60)  # Dask's workers end when their scheduler is gone
                for process in left:
                    if process.is_running():
                        process.kill()
                break
        if done and client.returncode == 0:
            break
    same = digest(out) == digest(folder / "whole")
    left = [str(p) for p in out.rglob("*") if p.name.endswith(".part") or p.name.startswith(".")]
    again, begun, ended = twice(counted)
    print(
        f"kills: {killed_workers} workers and {killed_clients} clients killed in {time.perf_counter() - begin:.0f} s; "
        f"the same bytes: {same}; left over: {left}; {begun} items begun, {ended} finished for {len(plan)}, "
        f"{again} begun again after they were finished"
    )
    assert same and not left and not again and killed_workers >= worker_kills and killed_clients >= client_kills


def main() -> None:
    which = sys.argv[1] if len(sys.argv) > 1 else "all"
    numbers = [int(word) for word in sys.argv[2:]] or [200, 10, 30, 10]
    folder = Path(tempfile.mkdtemp(prefix="tussock-jobs-"))
    try:
        if which in ("all", "million"):
            million(folder)
        if which in ("all", "items"):
            items(folder)
        if which in ("all", "overhead"):
            overhead(folder)
        if which in ("all", "kills"):
            kills(folder, *numbers)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
