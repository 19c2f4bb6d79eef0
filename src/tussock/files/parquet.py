"""Parquet: one scalar column per field (x, y, z, true_x, …), units and meanings in the fields' metadata, the
document in the schema's under ``tussock``.

Waveforms have a file beside, ``NAME.waveforms.parquet``: one row a pulse, its samples a list, and the range, amplitude
and width of its Gaussian components lists of their own; bin and pulse are in the schema's metadata.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.files.contents import Contents, field_names
from tussock.files.file_format import Beside, Format, has_waveforms
from tussock.frames.columns import COLUMNS
from tussock.frames.waveforms import Components, Waveforms
from tussock.limits import check_memory

__all__ = ["PARQUET"]

KEY = b"tussock"


def save(contents: Contents, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    about = {name: column for column in COLUMNS for name in field_names(column)}
    schema = pa.schema(
        [
            pa.field(
                name,
                pa.from_numpy_dtype(array.dtype),
                nullable=False,
                metadata={"unit": about[name].unit, "meaning": about[name].meaning},
            )
            for name, array in contents.fields.items()
        ],
        metadata={KEY: (contents.document or "").encode()},
    )
    table = pa.table(list(contents.fields.values()), schema=schema)
    # Dictionaries pay for the few values of a label, not for coordinates.
    repeated = [name for name, array in contents.fields.items() if array.dtype.kind == "u"]
    with path.open("wb") as file:
        pa.parquet.write_table(table, file, compression="zstd", use_dictionary=repeated)


def load(path: Path) -> Contents:
    import pyarrow as pa
    import pyarrow.parquet

    with path.open("rb") as file:
        source = pa.parquet.ParquetFile(file)
        about = source.metadata
        # A column of one value takes a few bytes, however many rows it has.
        check_memory(about.num_rows * about.num_columns * 8, path.stat().st_size)
        table = source.read()
    document = (table.schema.metadata or {}).get(KEY, b"").decode() or None
    numeric = [f.name for f in table.schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)]
    if len(set(numeric)) != len(numeric):
        raise InputError("has two columns of one name")
    # A file beside that another frame left there is not ours: the frame itself says whether it has waveforms.
    with_waveforms = document is not None and "waveforms" in json.loads(document).get("meta", {})
    waveforms = load_waveforms(path) if with_waveforms else None
    return Contents({name: table[name].to_numpy() for name in numeric}, document, waveforms)


def beside(path: Path) -> Path:
    """Where the waveforms of a frame are."""
    return path.with_name(f"{path.stem}.waveforms.parquet")


def save_waveforms(contents: Contents, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    waveforms = contents.waveforms
    assert waveforms is not None
    count = waveforms.samples.shape[1]
    columns: dict[str, Any] = {
        "pulse": waveforms.pulse,
        "start_m": waveforms.start,
        "samples": pa.FixedSizeListArray.from_arrays(pa.array(waveforms.samples.ravel()), count),
    }
    parts = waveforms.components
    if parts is not None:
        ends = np.searchsorted(parts.pulse, waveforms.pulse, side="right")
        offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        for name, array in (("range_m", parts.range), ("amplitude", parts.amplitude), ("width_ns", parts.width)):
            columns[f"component_{name}"] = pa.ListArray.from_arrays(offsets, pa.array(array))
    about = {"bin_ns": waveforms.bin_ns, "pulse_fwhm_ns": waveforms.pulse_fwhm_ns, "noise": waveforms.noise}
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about).encode()})
    with path.open("wb") as file:
        pa.parquet.write_table(table, file, compression="zstd")


def load_waveforms(path: Path) -> Waveforms | None:
    """The waveforms beside a file, None where there are none."""
    import pyarrow.parquet

    if not beside(path).exists():
        return None
    with beside(path).open("rb") as file:
        table = pyarrow.parquet.ParquetFile(file).read()
    about = json.loads((table.schema.metadata or {})[KEY])
    pulse, start = table["pulse"].to_numpy(), table["start_m"].to_numpy()
    samples = table["samples"].combine_chunks()
    width = samples.type.list_size
    components = None
    if "component_range_m" in table.column_names:
        lists = [table[f"component_{name}"].combine_chunks() for name in ("range_m", "amplitude", "width_ns")]
        counts = np.diff(lists[0].offsets.to_numpy())
        components = Components(np.repeat(pulse, counts), *(part.values.to_numpy() for part in lists))
    return Waveforms(
        pulse, start, samples.values.to_numpy().reshape(-1, width), about["bin_ns"], about["pulse_fwhm_ns"],
        about["noise"], components,
    )  # fmt: skip


PARQUET = Format(".parquet", "Parquet", save, load, waveforms=(Beside(beside, save_waveforms, has_waveforms),))
