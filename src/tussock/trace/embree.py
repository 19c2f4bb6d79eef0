"""The C API of Embree 4: the part that Tussock uses, declared once.

The library inside the ``embreex`` wheel is loaded; the environment variable ``TUSSOCK_EMBREE`` names another
one, and a system library is the last resort. Devices, scenes and geometries are Python objects that release
what they hold; every Embree error becomes a `TraceError` with Embree's own text.

Which of two triangles a ray meets that passes within a rounding error of both depends on the instructions that Embree
uses: the best that the processor has (``native``), unless the environment variable ``TUSSOCK_ISA`` pins others, such as
``avx2``, which every x86 processor since 2015 has.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from enum import IntEnum, IntFlag
from functools import cached_property, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from tussock.errors import InputError, TraceError

__all__ = [
    "INVALID",
    "MAX_TIME_STEPS",
    "BufferType",
    "Device",
    "Geometry",
    "GeometryType",
    "RawScene",
    "chosen_edges",
    "chosen_isa",
    "host_isas",
    "library",
    "library_path",
]

INVALID = 0xFFFFFFFF
MAX_TIME_STEPS = 129

_pointer, _uint, _size, _int = ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_int

# What each function returns and takes.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "rtcNewDevice": (_pointer, [ctypes.c_char_p]),
    "rtcReleaseDevice": (None, [_pointer]),
    "rtcGetDeviceError": (_int, [_pointer]),
    "rtcGetDeviceLastErrorMessage": (ctypes.c_char_p, [_pointer]),
    "rtcGetDeviceProperty": (ctypes.c_ssize_t, [_pointer, _int]),
    "rtcNewScene": (_pointer, [_pointer]),
    "rtcReleaseScene": (None, [_pointer]),
    "rtcSetSceneFlags": (None, [_pointer, _int]),
    "rtcSetSceneBuildQuality": (None, [_pointer, _int]),
    "rtcCommitScene": (None, [_pointer]),
    "rtcAttachGeometryByID": (None, [_pointer, _pointer, _uint]),
    "rtcNewGeometry": (_pointer, [_pointer, _int]),
    "rtcReleaseGeometry": (None, [_pointer]),
    "rtcCommitGeometry": (None, [_pointer]),
    "rtcSetGeometryMask": (None, [_pointer, _uint]),
    "rtcSetGeometryEnableFilterFunctionFromArguments": (None, [_pointer, ctypes.c_bool]),
    "rtcSetGeometryTimeStepCount": (None, [_pointer, _uint]),
    "rtcSetGeometryInstancedScene": (None, [_pointer, _pointer]),
    "rtcSetGeometryUserPrimitiveCount": (None, [_pointer, _uint]),
    "rtcSetGeometryUserData": (None, [_pointer, _pointer]),
    "rtcSetGeometryBoundsFunction": (None, [_pointer, _pointer, _pointer]),
    "rtcSetGeometryIntersectFunction": (None, [_pointer, _pointer]),
    "rtcSetGeometryOccludedFunction": (None, [_pointer, _pointer]),
    "rtcSetNewGeometryBuffer": (_pointer, [_pointer, _int, _uint, _int, _size, _size]),
    "rtcSetSharedGeometryBuffer": (None, [_pointer, _int, _uint, _int, _pointer, _size, _size, _size]),
}


_FEATURES = {
    "sse4.2": ("sse4.2",),
    "avx": ("avx",),
    "avx2": ("avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt"),
    "avx512": ("avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl"),
}
"""sets of instructions that Embree has code for, and what a processor must have for each"""


def host_isas() -> list[str]:
    """The sets of instructions that this processor has, the best last; none where it is no x86."""
    has = binding.get_host_cpu_features()
    return [name for name, needed in _FEATURES.items() if all(has.get(feature, False) for feature in needed)]


def chosen_isa(asked: str | None = None) -> str:
    """The instructions to use: as ``asked``, as TUSSOCK_ISA says, or the best; "" where the processor is no x86.

    A processor that lacks what was asked for is an error: other instructions might give other bits.
    """
    here = host_isas()
    field, name = ("isa", asked) if asked is not None else ("TUSSOCK_ISA", os.environ.get("TUSSOCK_ISA") or "native")
    if name == "native":
        return here[-1] if here else ""
    if name not in here:
        known = ", ".join(["native", *here])
        raise InputError.of(field, f"must be one of those that this processor has ({known})", name)
    return name


def chosen_edges(asked: str | None = None) -> str:
    """Whose word holds within rounding of an edge: as ``asked``, as TUSSOCK_EDGES says, or ``embree``'s (`tussock.trace.rounding.edges`)."""
    field, name = (
        ("edges", asked) if asked is not None else ("TUSSOCK_EDGES", os.environ.get("TUSSOCK_EDGES") or "embree")
    )
    if name not in ("embree", "own"):
        raise InputError.of(field, "must be embree or own", name)
    return name


class GeometryType(IntEnum):
    TRIANGLE = 0
    CONE_LINEAR_CURVE = 15
    ROUND_LINEAR_CURVE = 16
    SPHERE_POINT = 50
    USER = 120
    INSTANCE = 121
    INSTANCE_ARRAY = 122


class BufferType(IntEnum):
    INDEX = 0
    VERTEX = 1
    TRANSFORM = 23
    FLAGS = 32


class Format(IntEnum):
    UCHAR = 0x1001
    UINT = 0x5001
    UINT3 = 0x5003
    FLOAT3 = 0x9003
    FLOAT4 = 0x9004
    FLOAT3X4_COLUMN_MAJOR = 0x9234


class SceneFlag(IntFlag):
    NONE = 0
    COMPACT = 2
    ROBUST = 4


_ERRORS = {
    1: "unknown error",
    2: "invalid argument",
    3: "invalid operation",
    4: "out of memory",
    5: "this processor is not supported",
    6: "cancelled",
}


def library_path() -> str:
    """Where the Embree library is: TUSSOCK_EMBREE, else the embreex wheel, else the system's."""
    named = os.environ.get("TUSSOCK_EMBREE")
    if named:
        return named
    try:
        for file in metadata.files("embreex") or ():
            if file.name.startswith(("libembree4", "embree4")) and "lib" in file.parts[0] + file.name:
                return str(Path(str(file.locate())).resolve())
    except metadata.PackageNotFoundError:
        pass
    found = ctypes.util.find_library("embree4")
    if found:
        return found
    raise TraceError(
        "Embree 4 was not found; install it with `pip install embreex` or name the library in TUSSOCK_EMBREE"
    )


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The loaded library; Numba kernels find its functions by name from then on."""
    path = library_path()
    try:
        loaded = ctypes.CDLL(path)
        binding.load_library_permanently(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, RuntimeError, AttributeError) as error:
        raise TraceError(f"{path}: cannot be used as the Embree 4 library ({error})") from None
    return loaded


class Device:
    """What traces rays: Embree, with the instructions ``isa`` ("avx2", …), and whose word holds right at ``edges`` ("own").

    What is not given is as TUSSOCK_ISA and TUSSOCK_EDGES say, else the processor's best and "embree".

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall")
    >>> world = tussock.World(scene, device=tussock.Device(edges="own"))
    >>> tussock.scan(world, tussock.load_sensor("vlp-16"), tussock.Pose.at(5, 0, 0)).meta["tracer"]["edges"]
    'own'
    """

    def __init__(self, isa: str | None = None, edges: str | None = None) -> None:
        self._lib = library()
        self._asked = (isa or os.environ.get("TUSSOCK_ISA") or None, edges or os.environ.get("TUSSOCK_EDGES") or None)
        self.isa = chosen_isa(isa)
        """the instructions that it uses, "" for those that Embree finds by itself"""
        self.edges = chosen_edges(edges)
        """whose word holds within rounding of an edge: embree or own"""
        config = f"isa={self.isa}" if self.isa else ""
        self._handle: int | None = self._lib.rtcNewDevice(config.encode())
        if not self._handle:
            raise TraceError(f"Embree device: {_ERRORS.get(self._lib.rtcGetDeviceError(None), 'refused')}")

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process, and on another host, it is again what was asked for."""
        return type(self), self._asked

    @cached_property
    def version(self) -> str:
        number = self._lib.rtcGetDeviceProperty(self._handle, 0)
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    def check(self, doing: str) -> None:
        """Raise what the last calls of this thread reported, if anything."""
        text = self._lib.rtcGetDeviceLastErrorMessage(self._handle)
        code = self._lib.rtcGetDeviceError(self._handle)
        if code:
            reason, detail = str(_ERRORS.get(code, code)), text.decode(errors="replace") if text else ""
            raise TraceError(
                f"{doing}: Embree reports {reason}" + (f": {detail}" if detail not in ("", reason) else "")
            )

    def geometry(self, kind: GeometryType) -> Geometry:
        return Geometry(self, kind)

    def scene(self, *, compact: bool = False, robust: bool = False) -> RawScene:
        """An empty scene: ``compact`` in less memory, ``robust`` without gaps between triangles."""
        flags = SceneFlag.COMPACT if compact else SceneFlag.NONE
        return RawScene(self, flags | (SceneFlag.ROBUST if robust else SceneFlag.NONE))

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            self._lib.rtcReleaseDevice(handle)


class Geometry:
    """A triangle mesh, a set of curves, or an array of instances of a scene."""

    def __init__(self, device: Device, kind: GeometryType) -> None:
        self._device, self._lib = device, library()
        self._kept: list[Any] = []  # buffers and scenes that Embree reads for as long as it lives
        self.handle: int | None = self._lib.rtcNewGeometry(device._handle, int(kind))
        device.check("creating a geometry")

    def copy_in(self, kind: BufferType, data: NDArray[Any], form: Format) -> None:
        """Copy an array (n, …) into a buffer of Embree's own, which it pads as it needs."""
        data = np.ascontiguousarray(data)
        stride = data.nbytes // len(data)
        target = self._lib.rtcSetNewGeometryBuffer(self.handle, int(kind), 0, int(form), stride, len(data))
        self._device.check("reserving a geometry buffer")
        ctypes.memmove(target, data.ctypes.data, data.nbytes)

    def share(self, kind: BufferType, data: NDArray[Any], form: Format, *, slot: int = 0) -> None:
        """Let Embree read an array (n, …) in place; it is kept alive with the geometry."""
        if not data.flags.c_contiguous:
            raise TraceError("a shared geometry buffer must be contiguous")
        stride = data.nbytes // len(data)
        self._kept.append(data)
        self._lib.rtcSetSharedGeometryBuffer(
            self.handle, int(kind), slot, int(form), data.ctypes.data, 0, stride, len(data)
        )
        self._device.check("sharing a geometry buffer")

    def triangles(self, vertices: NDArray[np.float32], triangles: NDArray[np.uint32]) -> Geometry:
        self.copy_in(BufferType.VERTEX, vertices, Format.FLOAT3)
        self.copy_in(BufferType.INDEX, triangles, Format.UINT3)
        return self

    def instances(self, scene: RawScene, transforms: NDArray[np.float32]) -> Geometry:
        """Copies of ``scene``; ``transforms`` are column-major 3×4, shape (time steps, n, 12)."""
        self._kept.append(scene)
        self._lib.rtcSetGeometryInstancedScene(self.handle, scene.handle)
        self._lib.rtcSetGeometryTimeStepCount(self.handle, len(transforms))
        for step, matrices in enumerate(transforms):
            self.share(BufferType.TRANSFORM, matrices, Format.FLOAT3X4_COLUMN_MAJOR, slot=step)
        return self

    def primitives(self, count: int, numbers: NDArray[np.uint64], functions: list[int], kept: Any) -> Geometry:
        """Primitives of our own: ``functions`` that say their bounds, intersect and occlude get ``numbers``.

        ``kept`` is what they read, and lives as long as the geometry.
        """
        self._kept += [numbers, kept]
        self._lib.rtcSetGeometryUserPrimitiveCount(self.handle, count)
        self._lib.rtcSetGeometryUserData(self.handle, numbers.ctypes.data)
        bounds, intersect, occlude = functions
        self._lib.rtcSetGeometryBoundsFunction(self.handle, bounds, None)
        self._lib.rtcSetGeometryIntersectFunction(self.handle, intersect)
        self._lib.rtcSetGeometryOccludedFunction(self.handle, occlude)
        self._device.check("setting up primitives")
        return self

    def mask(self, bits: int) -> Geometry:
        """A ray sees this geometry if it shares a bit with it."""
        self._lib.rtcSetGeometryMask(self.handle, bits)
        return self

    def asking(self, wanted: bool = True) -> Geometry:
        """Let Embree ask the filter of a query at every hit on this geometry."""
        self._lib.rtcSetGeometryEnableFilterFunctionFromArguments(self.handle, wanted)
        return self

    def commit(self) -> Geometry:
        self._lib.rtcCommitGeometry(self.handle)
        self._device.check("committing a geometry")
        return self

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            self._lib.rtcReleaseGeometry(handle)


class RawScene:
    """Geometries under numbers of our choice, and the hierarchy that Embree builds over them."""

    def __init__(self, device: Device, flags: SceneFlag = SceneFlag.NONE) -> None:
        self._device, self._lib = device, library()
        self._kept: list[Geometry] = []
        self.handle: int | None = self._lib.rtcNewScene(device._handle)
        device.check("creating a scene")
        self._lib.rtcSetSceneFlags(self.handle, int(flags))

    def attach(self, geometry: Geometry, number: int) -> None:
        self._kept.append(geometry)
        self._lib.rtcAttachGeometryByID(self.handle, geometry.handle, number)
        self._device.check("attaching a geometry")

    def commit(self) -> RawScene:
        self._lib.rtcCommitScene(self.handle)
        self._device.check("building the scene")
        return self

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            self._lib.rtcReleaseScene(handle)
