"""What is missing for a graphics processor is said in one line; a driver that is none stands in for the real one."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.trace.cuda import driver
from tussock.trace.cuda.compiled import compile_ptx, kernel_type
from tussock.trace.cuda.driver import Code, DeviceArray, GpuDevice, gpu


class FakeDriver:
    """The driver's functions; ``fails`` says which return what."""

    def __init__(self, fails: dict[str, int] | None = None, capability: tuple[int, int] = (9, 0)) -> None:
        self.fails, self.capability = fails or {}, capability
        self.called: list[str] = []
        self.memory: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> int:
            self.called.append(name)
            if name in self.fails:
                return self.fails[name]
            if name == "cuDeviceGetAttribute":
                args[0]._obj.value = {16: 4, 75: self.capability[0], 76: self.capability[1]}[args[1]]
            if name == "cuMemAlloc_v2":
                self.memory.append(ctypes.create_string_buffer(args[1].value))
                args[0]._obj.value = ctypes.addressof(self.memory[-1])
            if name in ("cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"):
                ctypes.memmove(args[0].value, args[1].value, args[2].value)
            if name == "cuGetErrorString":
                args[1]._obj.value = b"something"
            return 0

        return call


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def use(*args: Any, **kwargs: Any) -> FakeDriver:
        fake = FakeDriver(*args, **kwargs)
        monkeypatch.setattr(driver, "_library", lambda: fake)
        return fake

    gpu.cache_clear()
    yield use
    gpu.cache_clear()


def test_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    driver._library.cache_clear()
    gpu.cache_clear()
    monkeypatch.setattr(driver, "_LIBRARIES", ("libnothing-of-this-name.so",))
    with pytest.raises(InputError, match=r"^on='gpu' needs an NVIDIA driver, and none was found .*; on='cpu' works"):
        gpu()
    driver._library.cache_clear()


def test_without_a_graphics_processor(faked: Any) -> None:
    faked({"cuInit": 100})
    with pytest.raises(InputError, match=r"^on='gpu': the NVIDIA driver finds no graphics processor; on='cpu' works"):
        gpu()


def test_with_one_that_is_too_old(faked: Any) -> None:
    faked(capability=(6, 1))
    with pytest.raises(InputError, match=r"has compute capability 6\.1, at least 7\.5 is needed"):
        gpu()


def test_with_too_little_memory(faked: Any) -> None:
    faked()
    device = GpuDevice()
    faked({"cuMemAlloc_v2": 2})
    with pytest.raises(InputError, match=r"too little memory on the graphics processor for 8 MiB; on='cpu' works"):
        device.empty((1024, 1024), np.float64)


@pytest.mark.parametrize("code", [200, 209, 218, 222, 300])
def test_with_a_driver_that_is_too_old(faked: Any, code: int) -> None:
    """CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX, UNSUPPORTED_PTX_VERSION and INVALID_SOURCE."""
    faked({"cuModuleLoadDataEx": code})
    with pytest.raises(InputError, match=r"driver does not take our code .* a driver of 2023 or later \(530\) does"):
        Code(".version 8.1\n.entry one()", 64)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from tussock.trace.cuda.compiled import numba_cuda

    numba_cuda.cache_clear()
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    with pytest.raises(
        InputError, match=r"^on='gpu' needs numba_cuda; install it with: pip install 'tussock\[cuda\]'$"
    ):
        compile_ptx("a_kernel", (1,), lambda: lambda a: None)
    numba_cuda.cache_clear()


def test_arrays_go_there_and_back(faked: Any) -> None:
    faked()
    device = GpuDevice()
    numbers = np.arange(12.0).reshape(4, 3)
    there = device.copied(numbers)
    np.testing.assert_array_equal(there.to_host(), numbers)
    np.testing.assert_array_equal(there.rows(1, 3).to_host(), numbers[1:3])
    np.testing.assert_array_equal(there.first(2).to_host(), numbers[:2])
    face = there.__cuda_array_interface__
    assert face["shape"] == (4, 3)
    assert face["typestr"] == "<f8"
    assert face["data"] == (there.pointer, False)
    assert face["version"] == 3
    words = device.copied(np.array([1.0, -2.0], np.float32)).as_type(np.int32)
    np.testing.assert_array_equal(words.to_host(), np.array([1.0, -2.0], np.float32).view(np.int32))
    assert isinstance(there, DeviceArray)
    assert str(kernel_type(there)) == str(kernel_type(numbers)) == "array(float64, 2d, C)"
