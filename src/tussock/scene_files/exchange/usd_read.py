"""Scenes from USD files (.usd, .usda, .usdc, .usdz): meshes where they stand, instances as placements (extra ``usd``).

A Mesh becomes an object; the copies of a PointInstancer's prototype become the placements of one object, and so do the
copies of an instanceable prim: a shape is in memory once, however often it stands there. Cubes, spheres, cylinders and
planes are shapes too. The stage's units and its up axis are taken into account. What is invisible, or meant to guide or
to stand in for the real thing (``purpose``), is left out, cameras and lights with it; geometry of other kinds (curves,
points, …) is left out and said. Transforms that change over time are motions (`tussock.scene_files.exchange.usd_motion`);
shapes, sizes and the copies of an instancer are as at the start, which is said too where they change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.poses import Trajectory
from tussock.reach import Reach, refuse_special
from tussock.scene.labels import LABELS
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene
from tussock.scene_files.exchange.told import KEY, add_object, exact_places, warn
from tussock.scene_files.exchange.usd_crate import check_crate
from tussock.scene_files.exchange.usd_motion import Motions
from tussock.scene_files.exchange.usd_shapes import SHAPES, Shapes
from tussock.tried_apart import try_apart

__all__ = ["USD_SUFFIXES", "load_usd"]

USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
_MOST = 20_000_000
"""copies in all"""

Matrices = NDArray[np.float64]
"""transforms that act on rows, as USD's do, shape (n, 4, 4)"""


class _Found(NamedTuple):
    """A shape and where its copies stand."""

    mesh: Mesh
    name: str
    text: Any
    label: str | None
    places: list[Matrices]
    exact: Matrices | None
    motion: Trajectory | None


_TRIAL = """
import sys
from pxr import Usd
stage = Usd.Stage.Open(sys.argv[1])
first = Usd.TimeCode.EarliestTime()
for root in [stage.GetPseudoRoot(), *stage.GetPrototypes()]:
    for prim in Usd.PrimRange.AllPrims(root):
        for attribute in prim.GetAttributes():
            attribute.Get(first)
            for time in attribute.GetTimeSamples() if attribute.GetName().startswith("xformOp") else ():
                attribute.Get(time)
"""
"""opens a file and looks at all that will be read"""


def load_usd(path: Path | str, *, reach: Reach | None = None, say: Callable[[str], None] = warn) -> Scene:
    """Read a USD file and the layers and textures that it names, as far as they lie within its ``reach``."""
    path = Path(path)
    pxr = load_extra("pxr", extra="usd", purpose="reading USD")
    for part in ("Usd", "UsdGeom", "UsdShade", "UsdUtils"):
        load_extra(f"pxr.{part}", extra="usd", purpose="reading USD")
    if not path.is_file():
        refuse_special(path)
        raise InputError("no such scene file", source=path)
    check_crate(path)
    try:
        try_apart(_TRIAL, path, "OpenUSD")
    except InputError as error:
        raise error.within(path) from None
    quiet = pxr.UsdUtils.CoalescingDiagnosticDelegate()  # what goes wrong is said here, in one line
    try:
        scene = _Reader(pxr, path, reach or Reach.of(path)).scene(say)
    except InputError as error:
        raise error.within(path) from None
    except (pxr.Tf.ErrorException, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        # What is damaged has values of any kind in any place.
        raise InputError(f"is no USD file that can be read ({_why(error)})", source=path) from None
    finally:
        quiet.TakeUncoalescedDiagnostics()
        del quiet
    return scene


def _why(error: Exception) -> str:
    """The end of what the library says; it repeats bytes of the file, which need not be text."""
    try:
        return " ".join(str(error).split())[-120:]
    except UnicodeDecodeError:
        return "it holds what is no text in UTF-8"


class _Reader:
    def __init__(self, pxr: Any, path: Path, reach: Reach) -> None:
        self._pxr = pxr
        try:
            self._stage = pxr.Usd.Stage.Open(str(path))
        except Exception as error:  # the library has its own
            raise InputError(f"is no USD file that can be read ({_why(error)})") from None
        _check_reach(self._stage, reach)
        start = self._stage.GetStartTimeCode() if self._stage.HasAuthoredTimeCodeRange() else None
        self._time = pxr.Usd.TimeCode.EarliestTime() if start is None else pxr.Usd.TimeCode(start)
        self._shapes = Shapes(pxr, self._time, reach)
        self._found: dict[Any, _Found] = {}
        self._left_out: dict[str, int] = {}
        self._upright = _upright(pxr, self._stage)
        self._motions = Motions(pxr, self._stage, self._time, self._upright)
        self._moving: list[Any] = []  # transforms over time at and above what is being visited
        self._carrier: Any = None  # the outermost instancer above it
        self._still = 0  # what changes but stands as at the start
        self._copies = 0

    def scene(self, say: Callable[[str], None]) -> Scene:
        data = self._stage.GetRootLayer().customLayerData.get(KEY, {})
        default = self._stage.GetDefaultPrim()
        named = data.get("name") if isinstance(data, dict) else None
        scene = Scene(str(named or (default.GetName() if default else "") or "scene"))
        self._walk(self._stage.GetPseudoRoot(), np.eye(4), self._upright[None], (), None)
        if not self._found:
            raise InputError("holds no mesh that can be seen")
        for found in self._found.values():
            rows = np.concatenate(found.places)
            places = exact_places(np.swapaxes(rows, 1, 2)[:, :3], found.exact)
            add_object(scene, found.mesh, places, found.name, found.text, found.label, found.motion)
        for kind, count in self._left_out.items():
            say(f"{self._stage.GetRootLayer().identifier}: {count} prims of the kind {kind} cannot be read, left out")
        if still := self._still + self._motions.changing:
            say(f"{self._stage.GetRootLayer().identifier}: {still} prims change over time in ways that cannot be read; "
                "they stand as at the start")  # fmt: skip
        return scene

    def _walk(self, prim: Any, above: NDArray[np.float64], copies: Matrices, key: tuple[Any, ...], told: Any) -> None:
        """Everything below ``prim``; ``above`` leads from it to what is copied, ``copies`` (n, 4, 4) from there on."""
        predicate = self._pxr.Usd.TraverseInstanceProxies()
        for child in prim.GetFilteredChildren(predicate):
            self._visit(child, above, copies, key, told)

    def _visit(
        self, prim: Any, above: NDArray[np.float64], copies: Matrices, key: tuple[Any, ...], told: Any, *,
        prototype: bool = False,
    ) -> None:  # fmt: skip
        geometry = self._pxr.UsdGeom
        image = geometry.Imageable(prim)
        if image and not prototype and image.GetVisibilityAttr().Get(self._time) == geometry.Tokens.invisible:
            return
        if image and image.GetPurposeAttr().Get() in (geometry.Tokens.guide, geometry.Tokens.proxy):
            return
        here, moves = above, False
        if (placed := geometry.Xformable(prim)) and not prototype:
            local = np.array(placed.GetLocalTransformation(self._time))
            here = local if placed.GetResetXformStack() else local @ above
            moves = bool(placed.TransformMightBeTimeVarying())
            self._still += moves and bool(key)
            moves &= not key
        said = prim.GetCustomDataByKey(KEY)
        told = (prim, said) if said is not None or told is None or _label(prim) else told
        self._moving += [placed] * moves
        if prim.IsA(geometry.PointInstancer):
            self._instances(geometry.PointInstancer(prim), here, copies, key, told)
        else:
            if prim.GetTypeName() in SHAPES:
                self._add(prim, here, copies, key, told)
            elif prim.IsA(geometry.Gprim):
                kind = str(prim.GetTypeName())
                self._left_out[kind] = self._left_out.get(kind, 0) + 1
            self._walk(prim, here, copies, key, told)
        if moves:
            self._moving.pop()

    def _add(self, prim: Any, here: NDArray[np.float64], copies: Matrices, key: tuple[Any, ...], told: Any) -> None:
        mesh = self._shapes.of(prim)
        if mesh is None:
            return
        self._count(len(copies))
        of = prim.GetPrimInPrototype().GetPath() if prim.IsInstanceProxy() else prim.GetPath()
        carrier = self._carrier or prim
        # What moves by itself is an object by itself.
        known = (*key, str(of), id(mesh), told[1] and str(told[1]), str(carrier.GetPath()) if self._moving else None)
        if known not in self._found:
            where, said = told
            name = where.GetName() if where.GetPath() != self._stage.GetPseudoRoot().GetPath() else prim.GetName()
            name = prim.GetParent().GetName() if prim.IsInstanceProxy() and said is None else name
            own = said is not None or key
            self._found[known] = _Found(
                mesh, name if own else _object_name(prim), said, _label(prim) or _label(where), [], self._exact(where),
                self._motions.of(carrier, self._moving) if self._moving else None,
            )  # fmt: skip
        self._found[known].places.append(here @ copies)

    def _instances(
        self, made: Any, here: NDArray[np.float64], copies: Matrices, key: tuple[Any, ...], told: Any
    ) -> None:
        geometry, prim = self._pxr.UsdGeom, made.GetPrim()
        which = np.array(made.GetProtoIndicesAttr().Get(self._time) or (), np.int64)
        roots = [self._stage.GetPrimAtPath(target) for target in made.GetPrototypesRel().GetForwardedTargets()]
        attributes = (
            made.GetPositionsAttr(),
            made.GetOrientationsAttr(),
            made.GetScalesAttr(),
            made.GetProtoIndicesAttr(),
        )
        self._still += any(attribute.ValueMightBeTimeVarying() for attribute in attributes)
        if not len(which):
            return
        if which.min() < 0 or which.max() >= len(roots):
            raise InputError.of(f"{prim.GetPath()}", f"must index its {len(roots)} prototypes", int(which.max()))
        found = made.ComputeInstanceTransformsAtTime(self._time, self._time, doProtoXforms=geometry.PointInstancer.IncludeProtoXform,
            applyMask=geometry.PointInstancer.IgnoreMask)  # fmt: skip
        placed = np.array(found)
        if len(placed) != len(which):
            raise InputError.of(f"{prim.GetPath()}", f"must have {len(which)} positions", len(placed))
        mask = np.array(made.ComputeMaskAtTime(self._time) or [True] * len(which), bool)
        outer, self._carrier = self._carrier, self._carrier or prim
        for number, root in enumerate(roots):
            chosen = placed[mask & (which == number)]
            if not len(chosen):
                continue
            if not root:
                raise InputError(f"{prim.GetPath()}: its prototype {number} is not there")
            self._count(len(chosen) * len(copies))
            every = ((chosen @ here)[None] @ copies[:, None]).reshape(-1, 4, 4)
            self._visit(root, np.eye(4), every, (*key, str(prim.GetPath()), number), told, prototype=True)
        self._carrier = outer

    def _exact(self, prim: Any) -> Matrices | None:
        attribute = prim.GetAttribute(f"{KEY}:matrices")
        values = attribute.Get() if attribute else None
        if values is None or len(values) % 12:
            return None
        return np.array(values, np.float64).reshape(-1, 3, 4)

    def _count(self, more: int) -> None:
        self._copies += more
        if self._copies > _MOST:
            raise InputError.of("copies", f"must be at most {_MOST:,} in all", f"{self._copies:,}")


def _object_name(prim: Any) -> str:
    """A mesh is called as what holds it alone, as programs export it, else by its own name."""
    parent = prim.GetParent()
    alone = len(parent.GetAllChildren()) == 1 and parent.GetParent() and not parent.IsPseudoRoot()
    return str(parent.GetName() if alone else prim.GetName())


def _label(prim: Any) -> str | None:
    """The class by USD's semantics, where it is one of ours."""
    for attribute in prim.GetAttributes():
        if attribute.GetName().startswith("semantics:labels:"):
            for word in attribute.Get() or ():
                if str(word).lower() in LABELS:
                    return str(word).lower()
    return None


def _upright(pxr: Any, stage: Any) -> NDArray[np.float64]:
    """From the stage's axes and units to z up in metres, acting on rows, shape (4, 4)."""
    turn = np.eye(4)
    if pxr.UsdGeom.GetStageUpAxis(stage) == pxr.UsdGeom.Tokens.y:
        turn[1, 1], turn[1, 2], turn[2, 1], turn[2, 2] = 0.0, 1.0, -1.0, 0.0
    unit = float(pxr.UsdGeom.GetStageMetersPerUnit(stage))
    if not 0 < unit < 1e9:
        raise InputError.of("metersPerUnit", "must be above 0", unit)
    turn[:3, :3] *= unit
    return turn


def _check_reach(stage: Any, reach: Reach) -> None:
    """Refuse layers outside of what the file may reach, and those that are not there."""
    root = stage.GetRootLayer()
    for layer in stage.GetUsedLayers():
        if layer != root and not layer.anonymous and layer.realPath:
            reach.file(Path(layer.realPath.partition("[")[0]).absolute())
    for error in stage.GetCompositionErrors():
        raise InputError(f"names what is not there ({' '.join(str(error).split())[:160]})")
