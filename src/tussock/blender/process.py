"""Runs `tussock.blender.inside` where Blender is: the bpy package, or a Blender program.

``TUSSOCK_BLENDER`` names a Blender program or a Python that has bpy. Otherwise this Python's own bpy is used, and
last a ``blender`` on the path.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tussock.errors import InputError

__all__ = ["blender_command", "run_inside"]

_INSIDE = Path(__file__).with_name("inside.py")


def blender_command() -> list[str]:
    """The start of a command line that runs the script inside Blender."""
    named = os.environ.get("TUSSOCK_BLENDER")
    if named:
        if shutil.which(named) is None:
            raise InputError.of("TUSSOCK_BLENDER", "must name a Blender program or a Python with bpy", named)
        return _command(named)
    if importlib.util.find_spec("bpy") is not None:
        return _command(sys.executable)
    found = shutil.which("blender")
    if found:
        return _command(found)
    raise InputError(
        ".blend files need Blender; install it with `pip install 'tussock[blender]'` (Python 3.11) or name a Blender "
        "program in TUSSOCK_BLENDER"
    )


def _command(program: str) -> list[str]:
    if "python" in Path(program).name.lower():
        return [program, str(_INSIDE), "--"]
    return [program, "--background", "--factory-startup", "--python", str(_INSIDE), "--"]


def run_inside(folder: Path, doing: str, *words: str) -> dict[str, Any]:
    """What the script says; ``folder`` holds the arrays that go in or come out."""
    command = [*blender_command(), doing, str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    answer = folder / "blend.json"
    if not answer.exists():
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise InputError(f"{words[0]}: Blender stopped without an answer ({lines[-1] if lines else done.returncode})")
    said: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
    if "refused" in said:
        raise InputError(f"{words[0]}: {said['refused']}")
    return said
