"""Kernels compiled for graphics processors, without one in the machine: Numba makes PTX, the driver the rest.

PTX of compute capability 7.5 runs on every processor since then. Multiplications and additions are not joined into one
(`fma`): so a thread computes what the processor computes, to the last bit, but for the functions of a mathematics
library. What was compiled is kept beside Numba's own cache.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types as numba_types

from tussock.errors import OutputError
from tussock.extras import load_extra
from tussock.kernels import source_stamp
from tussock.trace.cuda.driver import DeviceArray
from tussock.whole_files import whole_file

__all__ = ["CAPABILITY", "compile_ptx", "device_function", "kernel_type", "numba_cuda"]

types: Any = numba_types
CAPABILITY = (7, 5)
_VERSION = "8.1"
"""of PTX: kernels may have more than 4 KB of arguments since, and drivers of 2023 know it"""
_TOO_NEW = '.pragma "used_bytes_mask'
"""a hint to newer drivers, which this version of PTX does not have"""
_CLEARED = re.compile(r"""^ *store \[[^\n]+\] zeroinitializer, [^\n]+%"_cudapy_lmem[^\n]*\n""", re.MULTILINE)
"""where Numba clears a thread's own array, which as NumPy's `empty` need not hold anything"""


@cache
def numba_cuda() -> Any:
    """Numba's compiler for CUDA, from the extra ``cuda``."""
    load_extra("numba_cuda", extra="cuda", purpose="on='gpu'")
    cuda = load_extra("numba.cuda", extra="cuda", purpose="on='gpu'")
    # It knows NumPy's functions of arrays, but not all of them for a single number.
    known = load_extra("numba.cuda.ufuncs", extra="cuda", purpose="on='gpu'").ufunc_db()
    for ufunc, name in ((np.floor, "floor"), (np.ceil, "ceil")):
        known.setdefault(ufunc, {"f->f": _of_library(f"__nv_{name}f"), "d->d": _of_library(f"__nv_{name}")})
    return cuda


def _of_library(name: str) -> Callable[..., Any]:
    """How Numba calls a function of NVIDIA's mathematics library that takes and returns one number."""

    def lowered(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(args[0].type, [args[0].type])
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(function, args)

    return lowered


def device_function(function: Callable[..., Any], original: Any) -> Any:
    """A function that kernels call."""
    woven = bool(original.targetoptions.get("forceinline")) if hasattr(original, "targetoptions") else False
    return numba_cuda().jit(device=True, forceinline=woven)(function)


def kernel_type(value: Any) -> Any:
    """Numba's type of an argument of a kernel."""
    if isinstance(value, DeviceArray | np.ndarray):
        return types.Array(numba.from_dtype(value.dtype), value.ndim, "C")
    if isinstance(value, tuple):
        return types.NamedTuple([kernel_type(item) for item in value], type(value))
    if isinstance(value, (bool, np.bool_)):
        return types.boolean
    if isinstance(value, int):
        return types.int64
    typed: Any = numba.typeof
    return typed(value)


def compile_ptx(
    name: str, args: tuple[Any, ...], function: Callable[[], Callable[..., None]], *, without: str = ""
) -> str:
    """The PTX of the kernel called ``name`` for arguments of these kinds; ``function()`` is asked where none is kept.

    ``without`` says what was left out of it.
    """
    signature = tuple(kernel_type(arg) for arg in args)
    key = f"{name} without {without} {signature} {source_stamp()} {_own_stamp()} {numba.__version__} {_VERSION} {CAPABILITY}"
    kept = _cache_folder() / f"{name}-{hashlib.blake2b(key.encode(), digest_size=12).hexdigest()}.ptx"
    if kept.is_file():
        return kept.read_text("ascii")
    cuda = numba_cuda()
    with _without_a_device():
        made, _ = cuda.compile(function(), signature, device=False, abi="numba", cc=CAPABILITY, output="ptx")
    # Numba's name of the kernel has the names of all types in it, and every argument has that name in its own.
    entry = made.split(".entry", 1)[1].split("(", 1)[0].strip()
    lines = [line for line in made.replace(entry, name).rstrip("\0").splitlines() if _TOO_NEW not in line]
    ptx = "\n".join(f".version {_VERSION}" if line.startswith(".version") else line for line in lines) + "\n"
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(kept, force=True, counts=False) as part:
            part.write_text(ptx, "ascii")
    except (OSError, OutputError):
        pass  # a folder that cannot be written costs the time to compile again
    return ptx


@cache
def _own_stamp() -> str:
    """A name for the contents of what is compiled for graphics processors alone."""
    here = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted([*here.glob("*.py"), *(here.parents[1] / "gpu").glob("*.py")]):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def _cache_folder() -> Path:
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named) / "tussock-ptx"
    here = Path(__file__).parent / "__pycache__"
    if os.access(here if here.is_dir() else here.parent, os.W_OK):
        return here
    return Path(tempfile.gettempdir()) / f"tussock-ptx-{os.getuid() if hasattr(os, 'getuid') else 0}"


@contextmanager
def _without_a_device() -> Iterator[None]:
    """Numba asks the device for its capability, leaves it to the compiler to join operations, and clears arrays; not here."""
    dispatcher = load_extra("numba.cuda.dispatcher", extra="cuda", purpose="on='gpu'")
    nvvm = load_extra("numba.cuda.cudadrv.nvvm", extra="cuda", purpose="on='gpu'")

    class Assumed:
        compute_capability = CAPABILITY

    asked, compiled = dispatcher.get_current_device, nvvm.compile_ir

    def without_joining(code: Any, **options: Any) -> Any:
        return compiled([_CLEARED.sub("", part) for part in code], **{**options, "fma": False})

    dispatcher.get_current_device, nvvm.compile_ir = (lambda: Assumed), without_joining
    try:
        yield
    finally:
        dispatcher.get_current_device, nvvm.compile_ir = asked, compiled
