"""Mutation run: small mistakes are put into the package, one at a time, and the related tests must notice.

    make mutants                       # 150 mutants, seed 0; goes on where a stopped run was
    python tools/mutants.py --count 20 --seed 3 --only wire

A seeded sample of changes to numbers, comparisons, signs, operators and conditions in signal, pulse, trace, wire and
learn. For each, a copy of the package is changed, and the tests of its room run on the copy, with a cache of compiled
kernels of its own. What was found is appended to ``mutants.jsonl``; a mutant that stands there is not run again. At the
end: how many were caught, and the survivors, with the line and what became of it.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = {
    "signal": ["tests/unit/signal", "tests/physics"],
    "pulse": ["tests/unit/test_simulate.py", "tests/physics"],
    "trace": ["tests/unit/trace", "tests/physics"],
    "wire": ["tests/unit/wire", "tests/clients"],
    "learn": ["tests/unit/learn", "tests/physics/test_volumes_in_the_way.py"],
}
"""folder of the package: the tests that must notice"""
NOT = ["tests/physics/test_validate.py"]
"""too slow to be asked about every mutant"""
SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: the n-th place in a file that can be changed."""

    file: str
    place: int
    line: int
    what: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.place}"


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
            name = file.relative_to(package).as_posix()
            found += [Mutant(name, place, line, what) for place, (line, what) in enumerate(counter.found)]
    return found


def sample(rooms: list[str], count: int, seed: int) -> list[Mutant]:
    """As many from each room, so that a large one does not crowd out a small one."""
    chance, chosen = random.Random(seed), []
    for at, room in enumerate(rooms):
        share = count // len(rooms) + (at < count % len(rooms))
        all_of_it = mutants_of(ROOT / "src" / "tussock", [room])
        chosen += chance.sample(all_of_it, min(share, len(all_of_it)))
    return chosen


def run(mutant: Mutant, timeout: float) -> str:
    """``caught``, ``survived``, or ``timeout`` (which is caught: the tests did not end)."""
    with tempfile.TemporaryDirectory(prefix="tussock-mutant-") as scratch:
        package = Path(scratch) / "src" / "tussock"
        shutil.copytree(ROOT / "src" / "tussock", package, ignore=shutil.ignore_patterns("__pycache__"))
        file = package / mutant.file
        tree = Mutator(mutant.place).visit(ast.parse(file.read_text(encoding="utf-8")))
        file.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        options = [f"--ignore={path}" for path in NOT]
        tests = ROOMS[mutant.file.partition("/")[0]]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *tests]
        environment = os.environ | {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": f"{scratch}/kernels"}
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=timeout, check=False)
        except subprocess.TimeoutExpired:
            return "timeout"
        return "survived" if done.returncode == 0 else "caught"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=ROOMS, action="append", help="only mutants of this room; may be repeated")
    parser.add_argument("--timeout", type=float, default=1800.0, help="[s] for the tests of one mutant")
    parser.add_argument("--notes", type=Path, default=ROOT / "mutants.jsonl")
    given = parser.parse_args()
    rooms = given.only or list(ROOMS)
    notes: dict[str, str] = {}
    if given.notes.exists():
        lines = given.notes.read_text(encoding="utf-8").splitlines()
        notes = {entry["name"]: entry["verdict"] for entry in map(json.loads, lines)}
    chosen = sample(rooms, given.count, given.seed)
    for number, mutant in enumerate(chosen, 1):
        if mutant.name not in notes:
            notes[mutant.name] = run(mutant, given.timeout)
            with given.notes.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"name": mutant.name, **mutant._asdict(), "verdict": notes[mutant.name]}) + "\n")
        print(f"{number}/{len(chosen)} {notes[mutant.name]:8} {mutant.file}:{mutant.line} {mutant.what}", flush=True)
    survivors = [mutant for mutant in chosen if notes[mutant.name] == "survived"]
    caught = len(chosen) - len(survivors)
    print(f"caught {caught} of {len(chosen)}: {100 * caught / max(len(chosen), 1):.1f} %")
    for mutant in survivors:
        print(f"survived: {mutant.file}:{mutant.line} {mutant.what}")


if __name__ == "__main__":
    main()
