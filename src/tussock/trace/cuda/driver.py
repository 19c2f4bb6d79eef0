"""NVIDIA's driver, called directly: memory, code and launches on one graphics processor.

The driver's library comes with every installation of a graphics card, so nothing else is needed to run what was
compiled. The primary context is used, which PyTorch, CuPy and JAX use as well: their arrays and ours are neighbours.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, TraceError

__all__ = ["Code", "DeviceArray", "GpuDevice", "Launch", "gpu"]

_LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
_NO_DEVICE, _OUT_OF_MEMORY, _NOT_LOADED = 100, 2, {200, 209, 218, 222, 300}
_ATTRIBUTES = {"processors": 16, "major": 75, "minor": 76}
_REGISTERS, _LOG, _LOG_BYTES = 0, 5, 6  # CU_JIT_MAX_REGISTERS, CU_JIT_ERROR_LOG_BUFFER and its size
_CPU_WORKS = "on='cpu' works without"


@cache
def _library() -> Any:
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise InputError(f"on='gpu' needs an NVIDIA driver, and none was found ({_LIBRARIES[0]}); install it; {_CPU_WORKS}")


def _call(name: str, *args: Any, doing: str = "") -> None:
    """Call the driver; what it refuses becomes one clear line."""
    code = getattr(_library(), name)(*args)
    if code == 0:
        return
    text = ctypes.c_char_p()
    _library().cuGetErrorString(code, ctypes.byref(text))
    said = (text.value or b"unknown error").decode()
    if code == _OUT_OF_MEMORY:
        raise InputError(f"on='gpu': too little memory on the graphics processor{doing}; {_CPU_WORKS}")
    if code == _NO_DEVICE:
        raise InputError(f"on='gpu': the NVIDIA driver finds no graphics processor; {_CPU_WORKS}")
    raise TraceError(f"on='gpu': {name} says {code}, {said}{doing}")


class GpuDevice:
    """The first graphics processor that the driver shows (CUDA_VISIBLE_DEVICES chooses)."""

    def __init__(self) -> None:
        _call("cuInit", 0)
        version = ctypes.c_int()
        _call("cuDriverGetVersion", ctypes.byref(version))
        self.driver = version.value
        self._device = ctypes.c_int()
        _call("cuDeviceGet", ctypes.byref(self._device), 0)
        name = ctypes.create_string_buffer(128)
        _call("cuDeviceGetName", name, 128, self._device)
        self.name = name.value.decode()
        self.processors = self._attribute("processors")
        self.capability = (self._attribute("major"), self._attribute("minor"))
        if self.capability < (7, 5):
            raise InputError(
                f"on='gpu': {self.name} has compute capability {self.capability[0]}.{self.capability[1]}, "
                f"at least 7.5 is needed; {_CPU_WORKS}"
            )
        context = ctypes.c_void_p()
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._context = context
        self.enter()
        self._codes: dict[tuple[str, int], Code] = {}
        self._staging: tuple[int, NDArray[np.uint8]] | None = None

    def _attribute(self, which: str) -> int:
        value = ctypes.c_int()
        _call("cuDeviceGetAttribute", ctypes.byref(value), _ATTRIBUTES[which], self._device)
        return value.value

    def enter(self) -> None:
        """Make this thread speak to the device."""
        _call("cuCtxSetCurrent", self._context)

    def free_memory(self) -> int:
        """Bytes that are free."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        _call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    # Whoever takes an array of the device for a kernel's tuple of arrays may: kernels are checked by Numba.

    def empty(self, shape: Sequence[int] | int, dtype: Any) -> Any:
        """Memory on the device, with whatever is in it."""
        return DeviceArray(shape, dtype)

    def copied(self, array: NDArray[Any]) -> Any:
        """An array of the processor's on the device."""
        array = np.ascontiguousarray(array)
        there = DeviceArray(array.shape, array.dtype)
        there.fill(array)
        return there

    def wait(self) -> None:
        """Until all that was launched is done."""
        _call("cuCtxSynchronize", doing=" while it computed")

    def staging(self, size: int) -> NDArray[np.uint8]:
        """Memory of the processor that the device copies into quickly; the same piece every time."""
        if self._staging is None or self._staging[0] < size:
            where = ctypes.c_void_p()
            if self._staging is not None:
                _call("cuMemFreeHost", ctypes.c_void_p(self._staging[1].ctypes.data))
                self._staging = None
            _call("cuMemHostAlloc", ctypes.byref(where), ctypes.c_size_t(size), 0, doing=" for copies")
            piece = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(where.value or 0))
            self._staging = (size, piece)
        return self._staging[1][:size]

    def code(self, ptx: str, registers: int) -> Code:
        """Compiled code made ready for the device, once, with so many registers a thread at most."""
        if (ptx, registers) not in self._codes:
            self._codes[ptx, registers] = Code(ptx, registers)
        return self._codes[ptx, registers]

    def launch(self, code: Code, args: Sequence[Any], threads: int, block: int) -> Launch:
        """A kernel with its arguments, for so many threads, ``block`` of them together."""
        return Launch(code, args, threads, block)


@cache
def gpu() -> GpuDevice:
    """The graphics processor; an `InputError` says what is missing."""
    return GpuDevice()


class DeviceArray:
    """An array on the graphics processor, in C order.

    PyTorch (`torch.as_tensor`), CuPy (`cupy.asarray`), Numba and, through CuPy, JAX take it without a copy.
    """

    def __init__(
        self, shape: Sequence[int] | int, dtype: Any, *, within: DeviceArray | None = None, at: int = 0
    ) -> None:
        self.shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
        self.dtype = np.dtype(dtype)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.nbytes = self.size * self.dtype.itemsize
        self._owner = within
        self.pointer: int
        if within is not None:
            self.pointer = within.pointer + at
            return
        where = ctypes.c_uint64()
        _call(
            "cuMemAlloc_v2", ctypes.byref(where), ctypes.c_size_t(max(self.nbytes, 16)),
            doing=f" for {self.nbytes / 2**20:.0f} MiB",
        )  # fmt: skip
        self.pointer = where.value
        weakref.finalize(self, _free, where.value)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype})"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.pointer if self.size else 0, False),
            "strides": None, "version": 3,
        }  # fmt: skip

    def first(self, rows: int) -> DeviceArray:
        """The first rows, without a copy."""
        return self.rows(0, rows)

    def rows(self, first: int, last: int) -> DeviceArray:
        """Some rows, without a copy."""
        width = self.nbytes // max(len(self), 1)
        return DeviceArray((last - first, *self.shape[1:]), self.dtype, within=self, at=first * width)

    def last(self) -> DeviceArray:
        """The last element of an array with one axis."""
        return DeviceArray(1, self.dtype, within=self, at=self.nbytes - self.dtype.itemsize)

    def as_type(self, dtype: Any) -> Any:
        """The same memory as another type of the same size."""
        return DeviceArray(self.shape, dtype, within=self)

    def fill(self, array: NDArray[Any]) -> None:
        """Copy an array of the same shape into it."""
        array = np.ascontiguousarray(array, self.dtype)
        assert array.shape == self.shape
        if self.nbytes:
            _call("cuMemcpyHtoD_v2", ctypes.c_uint64(self.pointer), ctypes.c_void_p(array.ctypes.data),
                  ctypes.c_size_t(self.nbytes))  # fmt: skip

    def to_host(self) -> NDArray[Any]:
        """A copy in the processor's memory; waits for what was launched before."""
        array = np.empty(self.shape, self.dtype)
        if self.nbytes:
            _call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(self.pointer),
                  ctypes.c_size_t(self.nbytes), doing=" while it computed")  # fmt: skip
        return array

    def start_copy(self, where: NDArray[Any]) -> None:
        """Begin to copy as many of the first rows as fit into an array within `GpuDevice.staging`; `GpuDevice.wait` ends it."""
        if where.nbytes:
            _call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(where.ctypes.data), ctypes.c_uint64(self.pointer),
                  ctypes.c_size_t(where.nbytes), None)  # fmt: skip


def _free(pointer: int) -> None:
    # At the end of the process the driver may be gone before its memory is given back.
    _library().cuMemFree_v2(ctypes.c_uint64(pointer))


class Code:
    """A kernel on the device."""

    def __init__(self, ptx: str, registers: int) -> None:
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 3)(_REGISTERS, _LOG, _LOG_BYTES)
        values = (ctypes.c_void_p * 3)(registers, ctypes.addressof(log), 8192)
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        code = _library().cuModuleLoadDataEx(
            ctypes.byref(self._module), ctypes.c_char_p(ptx.encode()), 3, options, values
        )
        if code in _NOT_LOADED:
            said = log.value.decode(errors="replace").strip().splitlines()
            raise InputError(
                f"on='gpu': the NVIDIA driver does not take our code ({said[0] if said else code}); "
                f"a driver of 2023 or later (530) does; {_CPU_WORKS}"
            )
        if code:
            _call("cuModuleLoadDataEx", ctypes.byref(self._module), ctypes.c_char_p(ptx.encode()), 0, None, None)
        entry = ptx.split(".entry", 1)[1].split("(", 1)[0].strip()
        _call("cuModuleGetFunction", ctypes.byref(self._function), self._module, ctypes.c_char_p(entry.encode()))

    def attribute(self, number: int) -> int:
        """What the driver says of it: 3 bytes of local memory a thread, 4 registers."""
        value = ctypes.c_int()
        _call("cuFuncGetAttribute", ctypes.byref(value), number, self._function)
        return value.value


class Launch:
    """A kernel with its arguments, ready to be launched again and again."""

    def __init__(self, code: Code, args: Sequence[Any], threads: int, block: int) -> None:
        self._code, self._args = code, args  # keeps the arrays alive
        self._values = [value for arg in args for value in _flat(arg)]
        self._pointers = (ctypes.c_void_p * len(self._values))(*[ctypes.addressof(value) for value in self._values])
        self._blocks, self._block = max((threads + block - 1) // block, 1), block

    def start(self) -> None:
        """Launch it; `GpuDevice.wait` waits for its end."""
        _call(
            "cuLaunchKernel", self._code._function, self._blocks, 1, 1, self._block, 1, 1, 0, None, self._pointers, None
        )


def _flat(value: Any) -> list[Any]:
    """An argument as Numba's kernels take it: arrays as their parts, tuples one after the other."""
    if isinstance(value, DeviceArray):
        strides: list[int] = []
        step = value.dtype.itemsize
        for length in reversed(value.shape):
            strides.insert(0, step)
            step *= length
        parts = [0, 0, value.size, value.dtype.itemsize, value.pointer, *value.shape, *strides]
        return [ctypes.c_int64(part) for part in parts]
    if isinstance(value, tuple):
        return [part for item in value for part in _flat(item)]
    if isinstance(value, (bool, np.bool_)):
        return [ctypes.c_int8(bool(value))]
    if isinstance(value, int):
        return [ctypes.c_int64(value)]
    if isinstance(value, float):
        return [ctypes.c_double(value)]
    if isinstance(value, np.generic):
        kind: Any = np.ctypeslib.as_ctypes_type
        return [kind(value.dtype)(value.item())]
    raise TypeError(f"no kernel takes {type(value)}")
