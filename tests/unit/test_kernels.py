"""The cache of compiled code is stamped with what the code depends on, and with nothing else."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.cpu import CPUTargetOptions

import tussock
from tussock.kernels import _files_of_kernels, kernel, kernel_like, lanes_unlike, loop_kernel, lowest_bit

MOVED = "Numba moved a private part that src/tussock/kernels.py and kernel_parts.py lean on: look there, then at pyproject.toml"


def test_files_of_kernels_and_of_their_constants_are_found(tmp_path):
    (tmp_path / "deep").mkdir()
    files = {
        "kernels.py": "",
        "kernel_parts.py": "",
        "loop.py": "from tussock.kernels import kernel\nfrom tussock.deep.numbers import (\n    WHOLE,\n    make,\n)\n",
        "deep/numbers.py": "WHOLE = 3\n",
        "deep/words.py": "",
        "deep/inner.py": "from tussock.kernels import inline_kernel\nfrom tussock.deep.words import say\n",
        "talk.py": "# speaks of a kernel and defines none\nfrom tussock.deep.words import LOUD\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = {file.relative_to(tmp_path).as_posix() for file in _files_of_kernels(tmp_path)}
    assert found == {"kernels.py", "kernel_parts.py", "loop.py", "deep/numbers.py", "deep/inner.py"}


def test_the_loop_and_its_numbers_are_among_them():
    package = Path(tussock.__file__).parent
    found = {file.relative_to(package).as_posix() for file in _files_of_kernels(package)}
    assert {"pulse/loop.py", "signal/returns.py", "trace/packets.py", "scene/volumes.py", "elementary.py"} <= found
    assert not any(name.startswith(("cli/", "validate/")) for name in found)
    assert all((package / name).is_file() for name in found)


@kernel
def doubled(x):
    return x + x


@loop_kernel
def first_of(values):
    return values[0]


def test_the_private_parts_of_numba_are_where_they_were():
    assert doubled(2.0) == 4.0 and first_of(np.array([3.0, 1.0])) == 3.0
    for dispatcher in (doubled, first_of):
        cache = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        assert hasattr(cache, "_source_stamp"), MOVED
        # the stamp is looked at: that of the file, and ours behind it
        assert isinstance(cache._source_stamp, tuple) and len(cache._source_stamp) == 2, MOVED
    assert hasattr(CPUTargetOptions, "_nrt"), MOVED


def test_without_counting_references_a_kernel_has_none_to_count():
    """What `_nrt` is for: the code of a loop kernel does not call Numba's memory functions."""
    compiled_now = kernel_like(first_of.py_func, first_of, kept=False)  # what was kept by an earlier run shows no code
    assert compiled_now(np.array([3.0, 1.0])) == 3.0
    (code,) = compiled_now.inspect_llvm().values()
    calls = re.findall(r"call [^\n]*@NRT_(?:incref|decref)", code)
    assert not calls, MOVED


@pytest.mark.parametrize("package", ["numba", "pydantic"])
def test_what_has_private_parts_in_use_has_an_upper_bound(package):
    project = Path(__file__).parents[2] / "pyproject.toml"
    wanted = next(d for d in tomllib.loads(project.read_text())["project"]["dependencies"] if d.startswith(package))
    bound = tuple(int(part) for part in re.search(r"<([\d.]+)", wanted)[1].split("."))
    installed = tuple(int(part) for part in importlib.metadata.version(package).split(".")[: len(bound)])
    assert installed < bound, f"{package} {installed} is beyond {wanted}: try it, then raise the bound"


def test_the_version_of_numba_is_one_that_was_tried():
    assert tuple(map(int, numba.__version__.split(".")[:2])) >= (0, 61)


@kernel
def bits_of(words, word):
    bits = lanes_unlike(np.uint64(words.ctypes.data), word)
    return bits, lowest_bit(bits)


def test_lanes_that_are_not_some_word_are_bits():
    words = np.full(17, 7, np.uint32)[1:]  # not on a boundary of 64 bytes
    assert bits_of(words, np.uint32(7)) == (0, 64)
    words[[3, 4, 15]] = 0xFFFFFFFF
    assert bits_of(words, np.uint32(7)) == (0b1000_0000_0001_1000, 3)
    assert bits_of(words, np.uint32(0xFFFFFFFF)) == (0b0111_1111_1110_0111, 0)
