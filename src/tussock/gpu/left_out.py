"""What is left out of kernels: the steps that no ray and no pulse of a scan takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tussock.gpu.tuples import written_out
from tussock.trace.cuda.bending import bent_corners, has_bent
from tussock.trace.cuda.walk import Trees, is_met

__all__ = ["idle", "names_of", "unmet"]


def unmet(trees: Trees) -> dict[Any, str]:
    """Of the steps of a walk those that a world has no use for, and what stands for the answer of each."""
    left: dict[Any, str] = {}
    if len(trees.pictures.textures) == 0:
        left[is_met] = "True"
    if len(trees.plants) == 0:
        left |= {has_bent: "False", bent_corners: "at"}
    return left


def names_of(steps: Mapping[Any, str]) -> str:
    """What kernels without these steps are kept under."""
    return " ".join(step.__name__ for step in steps)


def idle(wrap: Callable[..., Any], steps: Mapping[Any, str]) -> dict[Any, Any]:
    """For each of the steps what does nothing but give its answer; ``wrap`` makes what kernels call."""
    made = {}
    for step, answer in steps.items():
        names = ", ".join(inspect.signature(getattr(step, "py_func", step)).parameters)
        made[step] = wrap(written_out("idle", f"def idle({names}):\n    return {answer}\n", {}), step)
    return made
