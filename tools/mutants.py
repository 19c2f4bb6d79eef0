"""Mutation run: small mistakes are put into the package, one at a time, and the related tests must notice.

    make mutants                                        # 150 mutants, seed 0; goes on where a stopped run was
    python tools/mutants.py --count 20 --seed 3 --only wire
    python tools/mutants.py --compiled --only learn      # what is not in kernels, asked of tests too slow uncompiled
    python tools/mutants.py --again --only learn         # and then what is left of them, uncompiled

A seeded sample of changes to numbers, comparisons, signs, operators and conditions in signal, pulse, trace, wire and
learn. It costs little, because

- nothing is compiled: kernels run as the Python they are (NUMBA_DISABLE_JIT=1), and the tests asked are those that pass
  so when nothing is changed and take no longer than a second;
- test files are asked in the order of how much they have to do with the changed module, eight at most, until one notices; of
  a file only the tests that call the changed function are, the quickest first (each test is run once to see what it calls);
- tests are collected once; for every mutant the process forks, and the child changes the loaded module in place.

A test that fails is run again with nothing changed: only if it passes then was it the mutant that it noticed. Time is
that of the processor, so a busy machine makes no test fail. What was found stands in ``notes.jsonl`` of ``--scratch`` and
is not asked again. At the end: how many were caught, and the survivors, with the line. A survivor may still be caught by
tests that need compiled kernels.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import math
import os
import random
import re
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {
    "signal": ["tests/unit/signal", "tests/unit/pulse"],
    "pulse": ["tests/unit/pulse"],
    "trace": ["tests/unit/trace", "tests/unit/pulse"],
    "wire": ["tests/unit/wire"],
    "learn": ["tests/unit/learn"],
}
"""folder of the package: the tests that must notice"""
TOO_LONG = 1.5
"""[s of the processor] a test that takes longer, uncompiled, when nothing is changed, is not asked"""
TOGETHER = 6.0
"""[s of the processor] that the tests of a file asked about a mutant may take together when nothing is changed"""
FILES_ASKED = 8
ALWAYS = ("tests/unit/pulse", "tests/unit/learn/test_kept")
"""a few dozen pulses through everything: asked before most others, where they are a room's"""
TIMEOUT = 300.0
"""[s] by the clock, for a child: a mutant that waits for ever"""
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
    inside: str
    """the function, or method with its class, that holds it; nothing if none does"""

    @property
    def name(self) -> str:
        return f"{self.file}@{self.digest}:{self.place}"


class Mutator(ast.NodeTransformer):
    """Changes the place of one number, counts and describes all of them."""

    def __init__(self, chosen: int | None = None) -> None:
        self.chosen, self.found = chosen, []
        self.names: list[str] = []

    def _here(self, node: ast.AST, what: str) -> bool:
        self.found.append((getattr(node, "lineno", 0), what, ".".join(self.names)))
        return len(self.found) - 1 == self.chosen

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.names.append(node.name)
        node.body = [self.visit(part) for part in node.body]  # not its annotations, decorators and defaults
        self.names.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.names.append(node.name)
        node.body = [self.visit(part) for part in node.body]
        self.names.pop()
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
            found += [Mutant(name, digest, place, *rest) for place, rest in enumerate(counter.found)]
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


class Test(NamedTuple):
    """What is known of a test that passes when nothing is changed."""

    seconds: float
    """of the processor"""
    calls: list[str]
    """functions of the package, as ``file::name``"""


class Told(NamedTuple):
    """What a run of tests told: what passed, and the first that did not."""

    passed: dict[str, Test]
    failed: list[str]


EXAMPLES = 20
"""of a property, which a test may look at; more, and most would be too slow to be asked"""


def _ask_less(test: Any) -> None:
    """Let a property look at fewer examples, where its test says itself how many."""
    from hypothesis import settings

    own = getattr(test, "_hypothesis_internal_use_settings", None)
    if isinstance(own, settings) and own.max_examples > EXAMPLES:
        getattr(test, "__func__", test)._hypothesis_internal_use_settings = settings(own, max_examples=EXAMPLES)


class Asking:
    """A plugin of pytest: collects once, then asks about one mutant after the other, each in a fork of the process."""

    def __init__(self, laboratory: Laboratory) -> None:
        self.laboratory = laboratory

    def pytest_configure(self) -> None:
        from hypothesis import settings  # once pytest has begun: it wants to rewrite its plugin

        settings.register_profile("mutants", deadline=None, derandomize=True, database=None, max_examples=EXAMPLES)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            _ask_less(getattr(item, "obj", None))
            self.laboratory.items.setdefault(item.nodeid.partition("::")[0], []).append(item)
        self.laboratory.work()
        return True


class _Listening:
    def __init__(self) -> None:
        self.passed, self.failed = False, False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed |= report.when == "call" and report.passed
        self.failed |= report.failed


def run_item(item: pytest.Item, limit: float) -> tuple[bool, bool]:
    """Run a test here, whether it passed and whether it failed; one that takes longer than ``limit`` [s] has failed."""

    def late(*_: object) -> None:
        raise TimeoutError("too long")

    listening = _Listening()
    item.config.pluginmanager.register(listening)
    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, limit, 2.0)  # again, in case somebody swallows the first
    try:
        # Nothing is kept for the next one: fixtures of a module are made anew.
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
    except TimeoutError:
        listening.failed = True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        item.config.pluginmanager.unregister(listening)
    return listening.passed, listening.failed


def look_at(items: list[pytest.Item], package: str) -> dict[str, Test]:
    """Run tests unchanged: those that pass, with what they call."""
    calls: set[Any] = set()
    add = calls.add

    def called(frame: Any, event: str, arg: object) -> None:
        add(frame.f_code)

    found = {}
    for item in items:
        for room in ROOMS:
            forget(room)  # what stands in a cache is not called
        calls.clear()
        begin = time.process_time()
        threading.settrace(called)
        sys.settrace(called)
        try:
            passed, failed = run_item(item, TOO_LONG)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        if passed and not failed:
            seconds = time.process_time() - begin
            mine = [code for code in list(calls) if code.co_filename.startswith(package)]
            names = {
                f"{code.co_filename.removeprefix(package)}::{code.co_qualname.replace('.<locals>', '')}"
                for code in mine
            }
            found[item.nodeid] = Test(round(seconds, 3), sorted(names))
    return found


def in_a_child(work: Callable[[], object], most: float) -> Any:
    """What ``work`` gives in a fork of this process; None if it broke, or took ``most`` [s of the processor] or `TIMEOUT`.

    All threads count: those that a test has started go on when it is told that it takes too long.
    """
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if not child:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(most), math.ceil(most) + 1))
            try:
                with Path(os.devnull).open("wb") as nowhere:
                    os.dup2(nowhere.fileno(), 1)
                    os.dup2(nowhere.fileno(), 2)
                answer.write(json.dumps(work()).encode())
                answer.flush()
            finally:
                os._exit(0)
        end = time.monotonic() + TIMEOUT
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
    forget(mutant.file.partition("/")[0])


def forget(room: str) -> None:
    """Empty the caches of a room: what was made before the change, when tests were collected, say, would hide it."""
    for name, module in list(sys.modules.items()):
        if name.startswith(f"tussock.{room}"):
            for thing in list(vars(module).values()):
                if hasattr(thing, "cache_clear"):
                    thing.cache_clear()


def is_compiled(mutant: Mutant) -> bool:
    """Whether a mutant is in a kernel, and kernels are compiled."""
    module = sys.modules.get("tussock." + mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    return hasattr(getattr(module, mutant.inside.partition(".")[0], None), "nopython_signatures")


class Laboratory:
    """The tests, loaded once and uncompiled, and what is known of them and of mutants."""

    def __init__(self, scratch: Path, chosen: list[Mutant], again: bool) -> None:
        self.scratch, self.chosen, self.again = scratch, chosen, again
        self.items: dict[str, list[pytest.Item]] = {}
        self.tests: dict[str, Test] = {}
        notes = scratch / "notes.jsonl"
        lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
        self.notes = {entry["name"]: entry["verdict"] for entry in map(json.loads, lines)}

    def work(self) -> None:
        """Ask about every mutant that nothing is known of."""
        for number, mutant in enumerate(self.chosen, 1):
            known = self.notes.get(mutant.name)
            if known is None or (self.again and known in OPEN):
                verdict, why = self.verdict(mutant)
                self.notes[mutant.name] = verdict
                entry = {"name": mutant.name, **mutant._asdict(), "verdict": verdict, "why": why}
                with (self.scratch / "notes.jsonl").open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
            said = f"{number}/{len(self.chosen)} {self.notes[mutant.name]:9} {mutant.file}:{mutant.line} {mutant.what}"
            print(said, file=sys.__stderr__, flush=True)

    def verdict(self, mutant: Mutant) -> tuple[str, str]:
        """``caught`` and by what, ``timeout`` (caught, too: it ran for ever), ``survived``, or ``not asked``."""
        if is_compiled(mutant):  # what is put into the Python of a compiled kernel changes nothing
            return "not asked", "kernel"
        files = 0
        for name in self.related(mutant):
            asked = self.asked(mutant, name)
            files += bool(asked)  # a file that does not call what was changed takes nobody's place
            if files > FILES_ASKED:
                break
            while asked:
                most = sum(map(self.limit, asked))
                told = in_a_child(lambda asked=asked: self.ask(mutant, asked), most)
                if told is None:
                    return "timeout", name
                if told == "all passed":
                    break
                if told == "not loaded":
                    return "caught", told
                blamed, asked = asked[told], asked[told + 1 :]
                limit = self.limit(blamed)
                if in_a_child(lambda one=blamed, limit=limit: run_item(one, limit), limit + 2.0) == [True, False]:
                    return "caught", blamed.nodeid
                print(f"fails unchanged: {blamed.nodeid}", file=sys.__stderr__, flush=True)
        return "survived" if files else "not asked", ""

    def ask(self, mutant: Mutant, items: list[pytest.Item]) -> str | int:
        """Put the mutant in and run tests: which is the first to fail."""
        try:
            put_in(mutant, ROOT / "src" / "tussock")
        except Exception:
            return "not loaded"
        return next((n for n, item in enumerate(items) if run_item(item, self.limit(item))[1]), "all passed")

    def limit(self, item: pytest.Item) -> float:
        """[s of the processor] that a test may take with a mistake in it."""
        return 2.0 + 5.0 * self.tests[item.nodeid].seconds

    def look(self, name: str) -> None:
        """Run the tests of a file unchanged, once, to know those that can be asked, and what they call."""
        store = self.scratch / "tests.json"
        known = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
        compiled = os.environ["NUMBA_DISABLE_JIT"] == "0"
        key = f"{name}@{digest_of(ROOT / name)}" + " compiled" * compiled
        if key not in known:
            found: dict[str, Any] = {}
            for item in self.items[name]:  # each by itself: one that does not end takes no other with it
                found |= in_a_child(lambda item=item: look_at([item], f"{ROOT}/src/tussock/"), TOO_LONG + 2.0) or {}
            known[key] = found
            store.write_text(json.dumps(known), encoding="utf-8")
            print(f"looked at {name}: {len(known[key])} of {len(self.items[name])}", file=sys.__stderr__, flush=True)
        self.tests |= {test: Test(*of) for test, of in known[key].items()}

    def related(self, mutant: Mutant) -> list[str]:
        """Test files, first those that have the most to do with a module: named after it, or naming what it offers."""
        module = "tussock." + mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        room = mutant.file.partition("/")[0]
        offers = set(getattr(sys.modules.get(module), "__all__", ()))
        ranked = []
        for name in self.items:
            if not name.startswith(tuple(ROOMS[room])):
                continue
            text = (ROOT / name).read_text(encoding="utf-8")
            score = 4 * len(re.findall(rf"\b{re.escape(module)}\b", text)) + 9 * name.startswith(ALWAYS)
            score += sum(bool(re.search(rf"\b{public}\b", text)) for public in offers)
            score += 9 * (Path(name).stem == f"test_{Path(mutant.file).stem}")
            # Then those of the same place: what is inner is reached through its neighbours.
            score += len(os.path.commonpath([mutant.file, name.removeprefix("tests/unit/")]).split("/")) - 1
            ranked.append((-score, name))
        return [name for _, name in sorted(ranked)]

    def asked(self, mutant: Mutant, name: str) -> list[pytest.Item]:
        """The tests of a file that call a mutant's function, quickest first."""
        self.look(name)
        place = f"{mutant.file}::{mutant.inside}"
        within = f"{place}."
        found = []
        for item in self.items[name]:
            test = self.tests.get(item.nodeid)
            # A constant of a module is used by others, too: all tests of the file are asked.
            if test and (not mutant.inside or any(one == place or one.startswith(within) for one in test.calls)):
                found.append((test.seconds, item.nodeid, item))
        chosen, together = [], 0.0
        for seconds, _, item in sorted(found, key=lambda one: one[:2]):
            together += seconds
            if chosen and together > TOGETHER:
                break
            chosen.append(item)
        return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ROOMS, action="append", help="only mutants of this room; may be repeated")
    parser.add_argument("--again", action="store_true", help="ask about survivors again: tests may have been added")
    parser.add_argument("--compiled", action="store_true", help="kernels stay compiled; only what is outside of them")
    parser.add_argument("--scratch", type=Path, default=ROOT / ".mutants", help="folder of the notes")
    given = parser.parse_args()
    given.scratch.mkdir(parents=True, exist_ok=True)
    chosen = sample(ROOT / "src" / "tussock", given.only or list(ROOMS), given.count, given.seed)
    laboratory = Laboratory(given.scratch.resolve(), chosen, given.again)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    os.environ |= {"PYTHONPATH": str(ROOT / "src"), "NUMBA_DISABLE_JIT": "0" if given.compiled else "1"}
    folders = sorted({folder for room in given.only or ROOMS for folder in ROOMS[room]})
    words = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]
    pytest.main([*words, *folders], plugins=[Asking(laboratory)])
    survivors = [mutant for mutant in chosen if laboratory.notes.get(mutant.name, "not asked") in OPEN]
    caught = len(chosen) - len(survivors)
    print(f"caught {caught} of {len(chosen)}: {100 * caught / max(len(chosen), 1):.1f} %")
    for mutant in survivors:
        print(f"{laboratory.notes.get(mutant.name, 'not asked')}: {mutant.file}:{mutant.line} {mutant.what}")


if __name__ == "__main__":
    main()
