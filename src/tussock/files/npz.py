"""NPZ, NumPy's own: each column an array of its name, vectors of shape (n, 3), the document a string.

Waveforms are arrays too: ``waveform_pulse``, ``waveform_start`` [m] and ``waveform_samples`` (n, samples), with bin
and pulse in ``waveform_about``; their Gaussian components are ``component_pulse``, ``component_range``,
``component_amplitude`` and ``component_width`` [ns].

From Python: ``points = numpy.load("frame.npz")["xyz"]``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import Contents, field_names
from tussock.files.file_format import Format
from tussock.frames.columns import COLUMNS
from tussock.frames.waveforms import Components, Waveforms
from tussock.numpy_files import load_npz

__all__ = ["NPZ"]

DOCUMENT = "document"
_ARRAYS, _COMPONENTS = ("pulse", "start", "samples"), ("pulse", "range", "amplitude", "width")
_OF_WAVEFORMS = ("waveform_", "component_")


def save(contents: Contents, path: Path) -> None:
    arrays = {
        column.name: contents.fields[column.name]
        if column.width == 1
        else np.stack([contents.fields[name] for name in field_names(column)], axis=1)
        for column in COLUMNS
    }
    if contents.waveforms is not None:
        arrays |= _waveform_arrays(contents.waveforms)
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays, **{DOCUMENT: np.array(contents.document or "")})


def load(path: Path) -> Contents:
    arrays = load_npz(path)
    vectors = {column.name: field_names(column) for column in COLUMNS if column.width > 1}
    document = str(arrays.pop(DOCUMENT)) if DOCUMENT in arrays else None
    fields: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name in vectors:
            if array.ndim != 2 or array.shape[1] != len(vectors[name]):
                raise InputError.of(f"array {name!r}", f"must have the shape (n, {len(vectors[name])})", array.shape)
            fields |= dict(zip(vectors[name], array.T, strict=True))
        elif array.ndim == 1 and not name.startswith(_OF_WAVEFORMS):
            fields[name] = array
    waveforms = _waveforms(arrays) if "waveform_samples" in arrays else None
    if len({len(array) for array in fields.values()}) > 1:
        raise InputError("its columns have different lengths")
    return Contents(fields, document, waveforms)


def _waveform_arrays(waveforms: Waveforms) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {f"waveform_{name}": getattr(waveforms, name) for name in _ARRAYS}
    arrays["waveform_about"] = np.array([waveforms.bin_ns, waveforms.pulse_fwhm_ns, waveforms.noise])
    if waveforms.components is not None:
        arrays |= {f"component_{name}": getattr(waveforms.components, name) for name in _COMPONENTS}
    return arrays


def _waveforms(file: Any) -> Waveforms:
    bin_ns, fwhm_ns, noise = (float(number) for number in file["waveform_about"])
    components = None
    if "component_pulse" in file:
        components = Components(*(file[f"component_{name}"] for name in _COMPONENTS))
    pulse, start, samples = (file[f"waveform_{name}"] for name in _ARRAYS)
    return Waveforms(pulse, start, samples, bin_ns, fwhm_ns, noise, components)


NPZ = Format(".npz", "NPZ", save, load, waveforms=())
