"""What can be placed in the studio: plants that grow by sliders, and ready things."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from tussock.errors import InputError, nearest
from tussock.plants.conifer import conifer
from tussock.plants.grass import grass_tile
from tussock.plants.reeds import reeds
from tussock.plants.shrub import shrub
from tussock.plants.sward import sward_tile
from tussock.plants.tree import tree
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, cylinder, sphere
from tussock.scene.surfaces import SURFACES
from tussock.scenes.car import car
from tussock.worlds.things.boulder import boulder
from tussock.worlds.things.fallen_log import fallen_log
from tussock.worlds.things.figures import deer, person

__all__ = ["PLACEABLE", "Kind", "Knob", "kind_named", "shape_of"]


class Knob(NamedTuple):
    """A number that a shape is made by."""

    name: str
    usual: float
    low: float
    high: float
    step: float
    unit: str = "m"

    @property
    def whole(self) -> bool:
        """Whether it counts something."""
        return self.step == int(self.step) and self.unit == ""


class Kind(NamedTuple):
    """A kind of thing: how it is made, by which knobs, and what it is called."""

    make: Callable[..., Mesh]
    label: str
    knobs: tuple[Knob, ...] = ()
    tags: tuple[str, ...] = ()
    rests: bool = False
    """whether it lies on its lowest point; else its zero is on the ground"""


_SEED = Knob("seed", 0, 0, 50, 1, "")
_PLANT = ("vegetation",)

PLACEABLE: dict[str, Kind] = {
    "tree": Kind(
        partial(tree, triangles=30_000), "tree",
        (Knob("height", 9, 2, 30, 0.5), Knob("crown_radius", 3, 0.5, 9, 0.1), _SEED), _PLANT,
    ),
    "conifer": Kind(
        partial(conifer, triangles=30_000), "tree",
        (Knob("height", 12, 2, 35, 0.5), Knob("crown_radius", 2, 0.5, 6, 0.1), _SEED), _PLANT,
    ),
    "shrub": Kind(
        partial(shrub, triangles=12_000), "shrub",
        (Knob("height", 1.6, 0.4, 4, 0.1), Knob("radius", 0.9, 0.2, 3, 0.1), Knob("stems", 12, 1, 40, 1, ""), _SEED),
        _PLANT,
    ),
    "reeds": Kind(
        partial(reeds, size=(2.0, 2.0), variation=0.2, lean=0.08, sides=8), "stem",
        (Knob("height", 1.5, 0.3, 4, 0.1), Knob("density", 50, 5, 200, 5, "1/m²"), Knob("leaves", 5, 0, 12, 1, ""), _SEED),
        _PLANT,
    ),
    "grass": Kind(
        partial(grass_tile, size=1.0), "grass",
        (Knob("height", 0.25, 0.05, 1.2, 0.05), Knob("blades", 150, 10, 600, 10, ""), _SEED), _PLANT,
    ),
    "sward": Kind(
        sward_tile, "grass",
        (Knob("height", 0.28, 0.05, 0.8, 0.02), Knob("blades", 420, 20, 900, 20, ""), Knob("herbs", 14, 0, 60, 1, ""), _SEED),
        _PLANT,
    ),
    "car": Kind(partial(car, SURFACES["car-paint"]), "car"),
    "person": Kind(person, "person"),
    "deer": Kind(deer, "animal"),
    "boulder": Kind(boulder, "rock", (Knob("variant", 0, 0, 8, 1, ""),), rests=True),
    "fallen log": Kind(fallen_log, "deadwood", (Knob("variant", 0, 0, 8, 1, ""),)),
    "box": Kind(partial(box, material=SURFACES["concrete"]), "other-structure", rests=True),
    "ball": Kind(
        partial(sphere, material=SURFACES["concrete"]), "other-object", (Knob("radius", 0.5, 0.1, 3, 0.1),), rests=True,
    ),
    "post": Kind(
        partial(cylinder, material=SURFACES["concrete"]), "pole",
        (Knob("radius", 0.08, 0.01, 0.5, 0.01), Knob("height", 3, 0.5, 10, 0.5)), rests=True,
    ),
}  # fmt: skip


def kind_named(name: str) -> Kind:
    if name not in PLACEABLE:
        raise InputError(f"kind {name!r}: nothing of this name can be placed; {nearest(name, PLACEABLE)}")
    return PLACEABLE[name]


def shape_of(name: str, values: dict[str, float] | None = None) -> Mesh:
    """The mesh of a kind with its knobs at these values, the usual ones where they are not given.

    The same values give the same object, so that copies share their shape in memory and in files.
    """
    kind = kind_named(name)
    given = values or {}
    for key in given:
        if key not in [knob.name for knob in kind.knobs]:
            raise InputError(f"{name} {key!r}: no such knob; {nearest(key, [knob.name for knob in kind.knobs])}")
    return _made(name, tuple(float(given.get(knob.name, knob.usual)) for knob in kind.knobs))


@lru_cache(64)
def _made(name: str, values: tuple[float, ...]) -> Mesh:
    kind = PLACEABLE[name]
    options: dict[str, Any] = {
        knob.name: int(value) if knob.whole else value for knob, value in zip(kind.knobs, values, strict=True)
    }
    return kind.make(**options)
