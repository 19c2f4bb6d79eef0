"""NumPy's files (``.npy``, ``.npz``) from anybody: sizes are checked before memory is taken, nothing is unpickled."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.limits import MIB, check_memory, read_bytes

__all__ = ["load_npy", "load_npz"]


def load_npy(path: Path) -> NDArray[Any]:
    """The array in a file; anything else is an `InputError` that names it."""
    data = read_bytes(path)
    try:
        return _array(io.BytesIO(data), len(data))
    except InputError as error:
        raise error.within(path) from None
    except Exception as error:  # a header is a piece of Python, and its reader fails in any way
        raise InputError(f"not a readable .npy file ({_short(error)})", source=path) from None


def load_npz(
    path: Path, names: Iterable[str] | None = None, *, damaged: str = "not a readable NPZ file"
) -> dict[str, NDArray[Any]]:
    """The arrays of a file by name: those of ``names`` that are there, or all; ``damaged`` is said of any other file."""
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            size = path.stat().st_size
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            chosen = {name: entry for name, entry in entries.items() if names is None or name in set(names)}
            check_memory(sum(entry.file_size for entry in chosen.values()), size)
            arrays = {}
            for name, entry in chosen.items():
                with archive.open(entry) as member:
                    arrays[name] = _array(member, entry.file_size)
            return arrays
    except FileNotFoundError:
        raise InputError("no such file", source=path) from None
    except InputError as error:
        raise error.within(path) from None
    except Exception as error:  # a damaged file can make the reader of zips stumble in any way
        raise InputError(f"{damaged} ({_short(error)})", source=path) from None


def _array(file: IO[bytes], size: int) -> NDArray[Any]:
    """An array from a stream of ``size`` bytes; its header must ask for what is there."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in read:
        raise InputError.of("NumPy format", "must be 1.0 or 2.0", version)
    shape, fortran, dtype = read[version](file)
    if dtype.hasobject:
        raise InputError("holds Python objects, which are not read from files")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize > size:
        raise InputError.of("array", "must be as large as its file", f"{shape} of {dtype} in {size} bytes")
    array = np.empty(count, dtype)
    if array.nbytes:
        raw, got = array.view(np.uint8), 0
        while got < array.nbytes and (piece := file.read(min(array.nbytes - got, MIB))):
            raw[got : got + len(piece)] = np.frombuffer(piece, np.uint8)
            got += len(piece)
        if got < array.nbytes:
            raise InputError("is cut short")
    return array.reshape(shape, order="F" if fortran else "C")


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
