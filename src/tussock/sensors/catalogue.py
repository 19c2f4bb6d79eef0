"""The catalogue of sensors: one TOML file each in `datasheets/`, and the user's own files beside it.

The metadata of an Ouster unit (.json) is a sensor too (`tussock.sensors.ouster_unit`).

A user's file holds a whole sensor, or starts from another one: ``base = "hdl-32e"`` (or the path of a file)
and then only the keys that differ. Tables are merged key by key; a pattern of another kind replaces the
base's.

Each file's ``[sources]`` says where every group of its numbers comes from. "(unverified)" marks figures that are
commonly quoted for the sensor but were not checked in the named document.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from tussock.errors import InputError, nearest
from tussock.reach import refuse_special
from tussock.sensors.ouster_unit import read_unit, unit_table
from tussock.sensors.sensor import Sensor
from tussock.settings import read_toml

__all__ = ["load_sensor", "sensor_names"]

Table = dict[str, Any]


@cache
def sensor_names() -> tuple[str, ...]:
    """The names in the catalogue, in alphabetical order.

    >>> "vlp-16" in tussock.sensor_names()
    True
    """
    folder = files("tussock.sensors") / "datasheets"
    return tuple(sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml")))


def load_sensor(name_or_path: str | Path) -> Sensor:
    """A sensor by its name in the catalogue (in any case), from a TOML file, or from an Ouster's metadata (.json).

    >>> tussock.load_sensor("vlp-16").lasers
    16
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not _is_path(name_or_path):
        name = _known_name(name_or_path)
        return _from_catalogue(name)
    table = _resolved(path, ())
    table.setdefault("name", path.stem)
    return Sensor.parse(table, str(path))


def _is_path(text: str) -> bool:
    return text.lower().endswith((".toml", ".json")) or "/" in text or "\\" in text


def _known_name(text: str) -> str:
    name = text.strip().lower().replace("_", "-").replace(" ", "-")
    if name not in sensor_names():
        remedy = nearest(name, sensor_names())
        raise InputError(
            f"sensor: {text!r} is not in the catalogue; {remedy} (or give a file: .toml, or an Ouster's .json)"
        )
    return name


@cache
def _from_catalogue(name: str) -> Sensor:
    with as_file(files("tussock.sensors") / "datasheets") as folder:
        path = folder / f"{name}.toml"
        return Sensor.parse(_resolved(path, ()) | {"name": name}, name)


def _resolved(path: Path, above: tuple[Path, ...]) -> Table:
    """The file's table laid over that of its base, and so on down."""
    here = path.resolve()
    if here in above:
        raise InputError(
            "the file is its own base, through " + " -> ".join(p.name for p in above), field="base", source=path
        )
    table = unit_table(read_unit(path)) if path.suffix.lower() == ".json" else _with_whole_paths(read_toml(path), path)
    base = table.pop("base", None)
    if base is None:
        return table
    if not isinstance(base, str):
        raise InputError.of("base", "must be the name or the file of a sensor", base, source=path)
    if _is_path(base):
        refuse_special(path.parent / base)
        below = _resolved(path.parent / base, (*above, here))
    else:
        with as_file(files("tussock.sensors") / "datasheets") as folder:
            below = _resolved(folder / f"{_known_name(base)}.toml", (*above, here))
    below.pop("name", None)
    return _laid_over(below, table)


def _with_whole_paths(table: Table, path: Path) -> Table:
    """The file of a pattern is named relative to the sensor's own file."""
    pattern = table.get("pattern")
    if isinstance(pattern, dict) and isinstance(pattern.get("file"), str):
        refuse_special(path.parent / pattern["file"])
        pattern["file"] = str(path.parent / pattern["file"])
    return table


def _laid_over(below: Table, above: Table) -> Table:
    merged = dict(below)
    for key, value in above.items():
        old = below.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and value.get("kind") in (None, old.get("kind")):
            merged[key] = _laid_over(old, value)
        else:
            merged[key] = value
    return merged
