"""Ready scenes, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from tussock.errors import InputError, nearest
from tussock.scene.courtyard import courtyard
from tussock.scene.meadow import meadow
from tussock.scene.scene import Scene

__all__ = ["ready_scene", "ready_scene_names"]


class _Ready(NamedTuple):
    build: Callable[..., Scene]
    meaning: str


_READY: dict[str, _Ready] = {
    "courtyard": _Ready(partial(courtyard, full=True), "300 m × 300 m, walled, 1.98 M blades, 50 trees"),
    "meadow": _Ready(meadow, "100 m × 100 m of grass on uneven ground, the benchmark"),
    "yard": _Ready(partial(courtyard, full=False), "60 m × 60 m, walled, grass and 6 trees: a small courtyard"),
}


def ready_scene_names() -> dict[str, str]:
    """The names that `ready_scene` knows, each with a line on what it is."""
    return {name: ready.meaning for name, ready in _READY.items()}


def ready_scene(name: str, **options: Any) -> Scene:
    """Build the scene called ``name``; ``options`` (``seed``, …) go to its generator."""
    if name not in _READY:
        raise InputError(f"scene {name!r}: no ready scene of that name; {nearest(name, _READY)}")
    build = _READY[name].build
    known = [option for option in inspect.signature(build).parameters if option != "full"]
    for option in options:
        if option not in known:
            raise InputError(f"scene {name!r}: unknown option {option!r}; {nearest(option, known)}")
    return build(**options)
