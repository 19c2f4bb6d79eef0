"""How kernels are compiled: by Numba, without the interpreter's lock, cached for the next start.

Numba looks only at a kernel's own file to see whether its cached code is still right. Ours call each other
across files, so the cache is stamped with the contents of every file of the package that holds kernels or constants
of theirs: change one, and all compile again.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic
from numba.np import arrayobj
from numpy.typing import NDArray

from tussock.kernel_cache import keep_compiled
from tussock.kernel_parts import Kernel, WholeCompiler

__all__ = [
    "Array", "Real", "Whole", "apart_kernel", "borrowed", "callback_address", "fetch", "float32_at", "float32_rows", "float32_view",
    "float64_view", "from_library", "inline_kernel", "int32_at", "int32_view", "int64_view", "kernel", "kernel_like", "lanes_unlike",
    "loop_kernel", "lowest_bit", "source_stamp", "taken", "uint8_at", "uint16_view", "uint32_at", "uint32_view", "uint64_at", "uint64_view",
]  # fmt: skip

Real: TypeAlias = Any
"""a number in a kernel: float32 or float64; Numba tells them apart, and so must who calls it from Python"""
Whole: TypeAlias = Any
"""a whole number in a kernel, of any width, signed or not"""
Array: TypeAlias = "NDArray[Any]"
"""an array in a kernel, of the type and shape that its description says"""

INTERPRETED: bool = getattr(numba, "config").DISABLE_JIT  # noqa: B009 (it has no types)
"""whether kernels run as the Python they are (NUMBA_DISABLE_JIT=1), slowly, to be stepped through"""

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function to machine code at its first call, or take it from the cache."""
    return _compiled(function)


def inline_kernel(function: F) -> F:
    """A small kernel that is woven into the kernels that call it, so that a call costs nothing.

    LLVM does that, not Numba, whose own inlining copies the whole caller for every call. As a `loop_kernel` it makes
    no arrays and counts no references.
    """
    return _compiled(function, forceinline=True, _nrt=False)


def loop_kernel(function: F) -> F:
    """A kernel for inner loops: it makes no arrays and counts no references to those it is handed.

    Numba counts a reference wherever a kernel names an array, with an atomic instruction each time, which costs
    more than the work of a short loop. What a kernel was handed outlives the call, so it need not count.
    """
    return _compiled(function, _nrt=False)


def apart_kernel(function: F) -> F:
    """A `loop_kernel` that is never woven into the one that calls it; see `tussock.kernel_context`."""
    return _compiled(function, _nrt=False, apart=True)


def kernel_like(function: Callable[..., Any], other: Any, *, kept: bool) -> Any:
    """A kernel that is compiled as another one is; only what is ``kept`` is cached for the next start."""

    def make() -> Kernel:
        return Kernel(function, targetoptions=other.targetoptions, apart=other.apart)

    return _kept(make) if kept else make()


def _kept(make: Callable[[], Kernel]) -> Kernel:
    """A kernel whose code is cached, if Numba lets us say what it depends on."""
    made = make()
    return made if keep_compiled(made, source_stamp()) else make()


def _compiled(function: F, *, forceinline: bool = False, _nrt: bool = True, apart: bool = False) -> F:
    if INTERPRETED:
        function.py_func = function  # type: ignore[attr-defined]  # as a compiled one has it
        return function
    # Both are said every time: what is not said a kernel inherits from the one that is being compiled when it is.
    options = {"nogil": True, "error_model": "numpy", "forceinline": forceinline, "_nrt": _nrt, "nopython": True}
    return cast(F, _kept(lambda: Kernel(function, targetoptions=options, apart=apart)))


def from_library(library: Any, name: str, addresses: int) -> Any:
    """A C function that takes so many addresses and gives nothing, for kernels to call.

    Its library must be open before a kernel that calls it is compiled or taken from the cache.
    """
    if not INTERPRETED:
        return types.ExternalFunction(name, types.void(*[types.uintp] * addresses))

    def call(*given: Any) -> None:
        getattr(library, name)(*[ctypes.c_void_p(int(address)) for address in given])

    return call


@cache
def callback_address(function: Callable[[Any], None]) -> int:
    """Where the machine code of a function of one address is, for a library to call; compiled once, and cached."""
    if INTERPRETED:
        called = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(lambda address: function(np.uint64(address)))
        _called.append(called)
        return int(ctypes.cast(called, ctypes.c_void_p).value or 0)
    options = {"nopython": True, "error_model": "numpy", "_nrt": False}
    compiler: Any = WholeCompiler
    made: Any = CFunc(function, ((types.uint64,), types.void), {}, options, compiler)
    keep_compiled(made, source_stamp())
    made.compile()
    _called.append(made)
    return int(made.address)


_called: list[Any] = []
"""what libraries call must not be collected"""


@lru_cache(maxsize=1)
def source_stamp() -> str:
    """A name for the contents of all files that hold kernels or constants of theirs."""
    digest = hashlib.blake2b(digest_size=16)
    for file in _files_of_kernels(Path(__file__).parent):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def _files_of_kernels(package: Path) -> list[Path]:
    """The files that define kernels, what compiles them, and those that constants (NAMES IN CAPITALS) are imported from into them."""
    found = {package / "kernels.py", package / "kernel_parts.py"}
    for file in package.rglob("*.py"):
        imports = re.findall(
            r"^from tussock\.([\w.]+) import ([^\n(]+|\([^)]*\))", file.read_text("utf-8"), re.MULTILINE
        )
        if any(module == "kernels" for module, _ in imports):
            constants = [module for module, names in imports if re.search(r"\b[A-Z][A-Z\d_]+\b", names)]
            found |= {file, *(package / f"{module.replace('.', '/')}.py" for module in constants)}
    return sorted(found)


@intrinsic
def _borrow(typing_context: Any, value: Any) -> Any:
    """The same array, or tuple of arrays, without its reference count.

    Numba counts references to an array wherever a kernel names it, with an atomic instruction each time, which
    costs more than the work of a short inner loop. What a kernel was handed outlives the call, so the kernel may
    borrow it: ``tables = borrowed(tables)`` at its beginning. Never borrow an array that the kernel made itself.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _without_count(context, builder, signature.args[0], args[0])

    return value(value), generate


def _itself(value: Any) -> Any:
    return value


borrowed: Any = _itself if INTERPRETED else _borrow


@intrinsic
def _take(typing_context: Any, counter: Any) -> Any:
    """The first number of an array of int64, which is one more from then on; no two threads get the same one."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(counter), generate


_taking = threading.Lock()


def _take_interpreted(counter: Any) -> int:
    with _taking:
        counter[0] += 1
        return int(counter[0]) - 1


taken: Any = _take_interpreted if INTERPRETED else _take


def _loader(kind: Any, plain: Any) -> Any:
    """A function of kernels that reads one number of a type out of memory, ``index`` numbers after an address."""
    if INTERPRETED:
        return lambda address, index: np.dtype(plain).type(
            plain.from_address(int(address) + int(index) * ctypes.sizeof(plain)).value
        )

    @intrinsic
    def load(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], context.get_value_type(kind).as_pointer())
            return builder.load(builder.gep(pointer, [args[1]]))

        return kind(types.uint64, types.int64), generate

    return load


@intrinsic
def _fetch(typing_context: Any, address: Any) -> Any:
    """Have the processor bring what is at an address near, while it does other things."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], _PREFETCH)
        reading, stays, data = number(0), number(3), number(1)
        builder.call(prefetch, [builder.inttoptr(args[0], byte), reading, stays, data])
        return context.get_dummy_value()

    return types.none(types.uint64), generate


_PREFETCH = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), *[ir.IntType(32)] * 3])
fetch: Any = _itself if INTERPRETED else _fetch


_SIXTEEN = 16


@intrinsic
def _lanes_unlike(typing_context: Any, address: Any, word: Any) -> Any:
    """Which of the sixteen uint32 from an address on are not this one, a bit for each."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole: Any = ir.IntType(32)
        lanes: Any = ir.VectorType(whole, _SIXTEEN)
        numbers, one = builder.load(builder.inttoptr(args[0], lanes.as_pointer()), align=4), ir.Constant(lanes, None)
        for lane in range(_SIXTEEN):
            one = builder.insert_element(one, args[1], ir.Constant(whole, lane))
        bits = builder.icmp_unsigned("!=", numbers, one)
        return builder.zext(builder.bitcast(bits, ir.IntType(_SIXTEEN)), ir.IntType(64))

    return types.int64(types.uint64, types.uint32), generate


def _lanes_unlike_interpreted(address: Any, word: Any) -> int:
    numbers = (ctypes.c_uint32 * _SIXTEEN).from_address(int(address))
    return sum(1 << lane for lane, number in enumerate(numbers) if number != int(word))


lanes_unlike: Any = _lanes_unlike_interpreted if INTERPRETED else _lanes_unlike


@intrinsic
def _lowest_bit(typing_context: Any, bits: Any) -> Any:
    """The place of the lowest bit of an int64 that is set; 64 where none is."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


def _lowest_bit_interpreted(bits: int) -> int:
    return (int(bits) & -int(bits)).bit_length() - 1 if bits else 64


lowest_bit: Any = _lowest_bit_interpreted if INTERPRETED else _lowest_bit


def _viewer(kind: Any, plain: Any, width: int = 0) -> Any:
    """A function of kernels that gives the ``count`` numbers of a type from an address on as an array.

    With a ``width`` it gives ``count`` rows of so many.
    """
    if INTERPRETED:
        shape = (width,) if width else ()
        return lambda address, count: np.ctypeslib.as_array(
            (plain * (int(count) * max(width, 1))).from_address(int(address))
        ).reshape(int(count), *shape)  # fmt: skip

    whole: Any = types.Array(kind, 2 if width else 1, "C")

    @intrinsic
    def view(typing_context: Any, address: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(whole)(context, builder)
            size = context.get_constant(types.intp, kind.bitwidth // 8)
            data = builder.inttoptr(args[0], context.get_data_type(kind).as_pointer())
            shape, strides = [args[1]], [size]
            if width:
                shape += [context.get_constant(types.intp, width)]
                strides = [context.get_constant(types.intp, width * kind.bitwidth // 8), size]
            fill: Any = arrayobj.populate_array
            fill(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
            return array._getvalue()

        return whole(types.uint64, types.intp), generate

    return view


float32_at: Any = _loader(types.float32, ctypes.c_float)
uint8_at: Any = _loader(types.uint8, ctypes.c_uint8)
int32_at: Any = _loader(types.int32, ctypes.c_int32)
uint32_at: Any = _loader(types.uint32, ctypes.c_uint32)
uint64_at: Any = _loader(types.uint64, ctypes.c_uint64)
float32_view: Any = _viewer(types.float32, ctypes.c_float)
float64_view: Any = _viewer(types.float64, ctypes.c_double)
uint16_view: Any = _viewer(types.uint16, ctypes.c_uint16)
uint32_view: Any = _viewer(types.uint32, ctypes.c_uint32)
uint64_view: Any = _viewer(types.uint64, ctypes.c_uint64)
int32_view: Any = _viewer(types.int32, ctypes.c_int32)
int64_view: Any = _viewer(types.int64, ctypes.c_int64)
float32_rows: Any = _viewer(types.float32, ctypes.c_float, 12)
"""rows of twelve"""


def _without_count(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = array.meminfo.type(None)
        array.parent = array.parent.type(None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        parts = [
            _without_count(context, builder, part, builder.extract_value(value, index))
            for index, part in enumerate(cast(Any, kind))
        ]
        return context.make_tuple(builder, kind, parts)
    return value
