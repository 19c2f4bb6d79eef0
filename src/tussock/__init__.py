"""Tussock: range sensors where the ground grows.

What people use is here: ``import tussock`` gives every public name, and each is imported when it is first asked for, so
that the import itself is quick. The names and their homes stand in ``__init__.pyi``, once, for people, for type
checkers and for this module. All other modules are inner: they may change from one version to the next without notice.

>>> import tussock
>>> scene = tussock.Scene("a wall")
>>> wall = scene.add(tussock.box((0.2, 10, 3)), name="wall", position=(5, 0, 1.5))
>>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1))
>>> float(frame.range.min().round(1))
4.9
"""

from importlib import import_module
from pathlib import Path


def _listed() -> dict[str, str]:
    """Every public name and its home, from the lines ``from tussock.home import name as name`` of the stub."""
    words = (line.split() for line in Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines())
    return {line[3]: line[1] for line in words if line[:1] == ["from"]}


_HOMES = _listed()

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("tussock.version").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'tussock' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
