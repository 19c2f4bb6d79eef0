"""Mutation run: small mistakes are put into the package, one at a time, and the related tests must notice.

    make mutants                                        # 150 mutants, seed 0; goes on where a stopped run was
    python tools/mutants.py --count 20 --seed 3 --only wire

A seeded sample of changes to numbers, comparisons, signs, operators and conditions in signal, pulse, trace, wire and
learn. It costs little, because

- the tests asked are those that import the changed module, file by file until one notices;
- nothing is compiled: kernels run as the Python they are (NUMBA_DISABLE_JIT=1), and the tests asked are those that pass
  so when nothing is changed and take no longer than a second;
- tests are collected once; for every mutant the process forks, and the child changes the loaded module in place.

What was found stands in ``notes.jsonl`` of ``--scratch`` and is not asked again. At the end: how many were caught, and the
survivors, with the line and what became of it. A survivor may still be caught by tests that need compiled kernels.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {
    "signal": ["tests/unit/signal", "tests/physics"],
    "pulse": ["tests/unit/pulse", "tests/unit/test_simulate.py", "tests/physics"],
    "trace": ["tests/unit/trace", "tests/physics"],
    "wire": ["tests/unit/wire", "tests/clients"],
    "learn": ["tests/unit/learn", "tests/physics/test_volumes_in_the_way.py"],
}
"""folder of the package: the tests that must notice"""
NOT = ["tests/physics/test_validate.py"]
"""too slow to be asked about every mutant"""
TOO_LONG = 1
"""[s] a test that takes longer, uncompiled, when nothing is changed, is not asked"""
TOGETHER = 6.0
"""[s] that the tests of one file asked about a mutant may take together when nothing is changed"""
FILES_ASKED = 3
TIMEOUT = 900.0
"""[s] by the clock, for the tests of one file"""
OPEN = {"survived", "not asked"}
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: the n-th place in a file that can be changed."""

    file: str
    digest: str
    """of the file as it is unchanged"""
    place: int
    line: int
    what: str

    @property
    def name(self) -> str:
        return f"{self.file}@{self.digest}:{self.place}"


class Mutator(ast.NodeTransformer):
    """Changes the place of one number, counts and describes all of them."""

    def __init__(self, chosen: int | None = None) -> None:
        self.chosen, self.found = chosen, []

    def _here(self, node: ast.AST, what: str) -> bool:
        self.found.append((getattr(node, "lineno", 0), what))
        return len(self.found) - 1 == self.chosen

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(part) for part in node.body]  # not its annotations, decorators and defaults
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        other = SWAPS.get(type(node.ops[0]))
        if other and self._here(node, f"{type(node.ops[0]).__name__} → {other.__name__}"):
            node.ops[0] = other()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        text = isinstance(node.left, ast.Constant | ast.JoinedStr) and not isinstance(
            getattr(node.left, "value", 0), int | float
        )
        other = None if text else SWAPS.get(type(node.op))
        if other and self._here(node, f"{type(node.op).__name__} → {other.__name__}"):
            node.op = other()
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        other = SWAPS[type(node.op)]
        if self._here(node, f"{type(node.op).__name__} → {other.__name__}"):
            node.op = other()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.USub | ast.Not) and self._here(node, f"without {type(node.op).__name__}"):
            return node.operand
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) in (int, float) and self._here(node, f"{node.value} → {node.value + 1}"):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self._here(node, "if … → if not …"):
            node.test = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        return node


def mutants_of(package: Path, rooms: list[str]) -> list[Mutant]:
    """Every change that could be made."""
    found = []
    for room in rooms:
        for file in sorted((package / room).rglob("*.py")):
            counter = Mutator()
            counter.visit(ast.parse(file.read_text(encoding="utf-8")))
            name, digest = file.relative_to(package).as_posix(), digest_of(file)
            found += [Mutant(name, digest, place, line, what) for place, (line, what) in enumerate(counter.found)]
    return found


def digest_of(file: Path) -> str:
    return hashlib.blake2b(file.read_bytes(), digest_size=4).hexdigest()


def sample(package: Path, rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """As many from each room, so that a large one does not crowd out a small one."""
    chosen = []
    for at, room in enumerate(rooms):
        share = count // len(rooms) + (at < count % len(rooms))
        all_of_it = mutants_of(package, [room])
        chosen += random.Random(f"{seed} {room}").sample(all_of_it, min(share, len(all_of_it)))
    return chosen


class Told(NamedTuple):
    """What a run of tests told: what passed, with its seconds of the processor, and what did not."""

    passed: dict[str, float]
    failed: list[str]


class Asking:
    """A plugin of pytest: collects once, then asks about one mutant after the other, each in a fork of the process."""

    def __init__(self, laboratory: Laboratory) -> None:
        self.laboratory = laboratory

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            self.laboratory.items.setdefault(item.nodeid.partition("::")[0], []).append(item)
        self.laboratory.work()
        return True


class _Listening:
    def __init__(self) -> None:
        self.told = Told({}, [])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.told.passed[report.nodeid] = 0.0
        elif not report.passed:
            self.told.failed.append(report.nodeid)


def run_items(items: list[pytest.Item], limit: float, stop_at_failure: bool) -> Told:
    """Run tests here; one that takes longer than ``limit`` [s] of the processor has failed."""

    def late(*_: object) -> None:
        raise TimeoutError("too long")

    listening = _Listening()
    items[0].config.pluginmanager.register(listening)
    signal.signal(signal.SIGPROF, late)
    for item in items:
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, limit)
        try:
            # Nothing is kept for the next one: fixtures of a module are made anew.
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except TimeoutError:
            listening.told.failed.append(item.nodeid)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
        if item.nodeid in listening.told.passed:
            listening.told.passed[item.nodeid] = time.process_time() - begin
        if stop_at_failure and listening.told.failed:
            break
    return listening.told


def in_a_child(work: Callable[[], object], timeout: float) -> Any:
    """What ``work`` gives in a fork of this process, or None if it did not end in time or broke."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if not child:
            os.setsid()
            try:
                with Path(os.devnull).open("wb") as nowhere:
                    os.dup2(nowhere.fileno(), 1)
                    os.dup2(nowhere.fileno(), 2)
                answer.write(json.dumps(work()).encode())
                answer.flush()
            finally:
                os._exit(0)
        end = time.monotonic() + timeout
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
            time.sleep(0.01)
        answer.seek(0)
        return json.loads(answer.read() or b"null")


def plain_functions(thing: object) -> Iterator[Any]:
    """The functions behind a name: a kernel's, a cached one's, a property's, a class's own."""
    if isinstance(thing, type):
        for part in vars(thing).values():
            yield from plain_functions(part)
        return
    for part in (thing, getattr(thing, "fget", None), getattr(thing, "__func__", None), getattr(thing, "func", None)):
        while hasattr(part, "__wrapped__"):
            part = part.__wrapped__
        if hasattr(part, "__code__"):
            yield part


def put_in(mutant: Mutant, package: Path) -> None:
    """Change a loaded module in place: the code of its functions, and the values of its constants wherever they are used.

    Raises what the changed module raises when it is loaded.
    """
    name = "tussock." + mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    module = sys.modules[name]
    tree = Mutator(mutant.place).visit(ast.parse((package / mutant.file).read_text(encoding="utf-8")))
    fresh: dict[str, Any] = {"__name__": name, "__file__": module.__file__}
    exec(compile(ast.fix_missing_locations(tree), str(module.__file__), "exec"), fresh)
    for key, changed in fresh.items():
        known = vars(module).get(key)
        if key.startswith("__") or known is changed:
            continue
        if getattr(changed, "__module__", None) == name:  # a function or a class
            new = {function.__qualname__: function for function in plain_functions(changed)}
            for function in plain_functions(known):
                other = new.get(function.__qualname__)
                if other is not None and len(other.__code__.co_freevars) == len(function.__code__.co_freevars):
                    function.__code__ = other.__code__
        elif repr(known) != repr(changed):
            for user in [user for at, user in sys.modules.items() if at.startswith("tussock")]:
                if vars(user).get(key) is known:
                    setattr(user, key, changed)


class Laboratory:
    """The tests, loaded once and uncompiled, and what is known of mutants."""

    def __init__(self, scratch: Path, chosen: list[Mutant], again: bool) -> None:
        self.scratch, self.chosen, self.again = scratch, chosen, again
        self.items: dict[str, list[pytest.Item]] = {}
        self.quick = _loaded(scratch / "quick.json")
        """a test file: the tests that pass in it when nothing is changed, with their seconds"""
        notes = scratch / "notes.jsonl"
        lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
        self.notes = {entry["name"]: entry["verdict"] for entry in map(json.loads, lines)}

    def work(self) -> None:
        """Ask about every mutant that nothing is known of."""
        for number, mutant in enumerate(self.chosen, 1):
            known = self.notes.get(mutant.name)
            if known is None or (self.again and known in OPEN):
                self.notes[mutant.name] = self.verdict(mutant)
                entry = {"name": mutant.name, **mutant._asdict(), "verdict": self.notes[mutant.name]}
                with (self.scratch / "notes.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
            said = f"{number}/{len(self.chosen)} {self.notes[mutant.name]:9} {mutant.file}:{mutant.line} {mutant.what}"
            print(said, file=sys.__stderr__, flush=True)

    def verdict(self, mutant: Mutant) -> str:
        """``caught`` (by a failure), ``timeout`` (which is caught, too), ``survived``, or ``not asked``."""
        asked = False
        for name in tests_of(mutant.file):
            items = self.quick_tests(name)
            if not items:
                continue
            asked = True

            def ask(items: list[pytest.Item] = items) -> Told | str:
                try:
                    put_in(mutant, ROOT / "src" / "tussock")
                except Exception:
                    return "caught"
                return run_items(items, 10 * TOO_LONG, True)

            told = in_a_child(ask, TIMEOUT)
            if told is None:
                return "timeout"
            if told == "caught" or told[1]:
                return "caught"
        return "survived" if asked else "not asked"

    def quick_tests(self, test_file: str) -> list[pytest.Item]:
        """The tests of a file that can be asked uncompiled, quickest first, as many as may be asked together."""
        key = f"{test_file}@{digest_of(ROOT / test_file)}"
        items = self.items.get(test_file, [])
        if key not in self.quick and items:
            told = in_a_child(lambda: run_items(items, TOO_LONG, False), TIMEOUT)
            self.quick[key] = told[0] if told else {}
            (self.scratch / "quick.json").write_text(json.dumps(self.quick), encoding="utf-8")
        seconds = self.quick.get(key, {})
        chosen, together = [], 0.0
        for item in sorted((item for item in items if item.nodeid in seconds), key=lambda one: seconds[one.nodeid]):
            together += seconds[item.nodeid]
            if together > TOGETHER:
                break
            chosen.append(item)
        return chosen


def _loaded(file: Path) -> dict[str, dict[str, float]]:
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def tests_of(file: str) -> list[str]:
    """The test files that name a module or what it offers most, those of its own room first."""
    room, text = file.partition("/")[0], (ROOT / "src" / "tussock" / file).read_text(encoding="utf-8")
    module = "tussock." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    listed = re.search(r"__all__ = \[(.*?)\]", text, re.DOTALL)
    names = set(re.findall(r'"(\w+)"', listed[1])) if listed else set()
    ranked = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        score = 4 * len(re.findall(rf"\b{re.escape(module)}\b", text))
        score += sum(bool(re.search(rf"\b{public}\b", text)) for public in names)
        score += 2 * (path.stem == f"test_{Path(file).stem}")
        if score and name not in NOT:
            ranked.append((not name.startswith(tuple(ROOMS[room])), -score, name))
    return [name for *_, name in sorted(ranked)][:FILES_ASKED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ROOMS, action="append", help="only mutants of this room; may be repeated")
    parser.add_argument("--again", action="store_true", help="ask about survivors again: tests may have been added")
    parser.add_argument("--scratch", type=Path, default=ROOT / ".mutants", help="folder of the notes")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    chosen = sample(ROOT / "src" / "tussock", given.only or list(ROOMS), given.count, given.seed)
    laboratory = Laboratory(given.scratch.resolve(), chosen, given.again)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    os.environ |= {"PYTHONPATH": str(ROOT / "src"), "NUMBA_DISABLE_JIT": "1"}
    files = sorted({name for mutant in chosen for name in tests_of(mutant.file)})
    words = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]
    pytest.main([*words, *files], plugins=[Asking(laboratory)])
    survivors = [mutant for mutant in chosen if laboratory.notes.get(mutant.name, "not asked") in OPEN]
    caught = len(chosen) - len(survivors)
    print(f"caught {caught} of {len(chosen)}: {100 * caught / max(len(chosen), 1):.1f} %")
    for mutant in survivors:
        print(f"{laboratory.notes.get(mutant.name, 'not asked')}: {mutant.file}:{mutant.line} {mutant.what}")


if __name__ == "__main__":
    os.environ["NUMBA_DISABLE_JIT"] = "1"  # before Numba is loaded
    main()
