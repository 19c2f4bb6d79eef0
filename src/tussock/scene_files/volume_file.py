"""Volumes as one compact file (``.volumes``): a zip of NumPy arrays and one JSON text, readable with ``numpy.load`` too.

Every array carries the checksum of the zip, so damage is found when the file is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError, OutputError
from tussock.scene.material import Material
from tussock.scene.volumes import Volumes
from tussock.whole_files import check_writable, whole_file

__all__ = ["VOLUME_SUFFIX", "check_volume_path", "load_volumes", "save_volumes"]

VOLUME_SUFFIX = ".volumes"

_FORMAT = "tussock volumes"
_VERSION = 2
"""1 had `pulses` under the name ``beams``"""
_ARRAYS = ("means", "precisions", "permeability", "shells", "closure", "pulses", "intensity", "edges")


def check_volume_path(path: Path, *, force: bool = False) -> None:
    """Refuse early what `save_volumes` would refuse late."""
    if path.suffix.lower() != VOLUME_SUFFIX:
        better = path.with_suffix(VOLUME_SUFFIX).name
        raise OutputError(f"{path}: a file of volumes ends in {VOLUME_SUFFIX}; name it {better}")
    check_writable(path, force=force)


def save_volumes(volumes: Volumes, path: Path | str, *, force: bool = False) -> None:
    """Write volumes to ``path`` (``.volumes``), whole or not at all."""
    path = Path(path)
    check_volume_path(path, force=force)
    about = {
        "format": _FORMAT,
        "version": _VERSION,
        "volumes": len(volumes),
        "cell": volumes.cell,
        "partition": volumes.partition,
        "tau": volumes.tau,
        "material": volumes.material.model_dump(mode="json", exclude_unset=True),
        "meta": volumes.meta,
    }
    arrays: dict[str, Any] = {name: getattr(volumes, name) for name in _ARRAYS}
    with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, about=np.frombuffer(json.dumps(about).encode(), np.uint8), **arrays)


def load_volumes(path: Path | str) -> Volumes:
    """Read volumes; a file that is damaged or something else is an `InputError`."""
    path = Path(path)
    if path.is_dir():
        raise InputError("is a folder, not a file of volumes", source=path)
    if not path.exists():
        raise InputError("no such file of volumes", source=path)
    if path.suffix.lower() != VOLUME_SUFFIX:
        raise InputError.of(
            "suffix", f"must be {VOLUME_SUFFIX}, as `tussock learn` writes it", path.suffix, source=path
        )
    if path.stat().st_size == 0:
        raise InputError("is empty", source=path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            about = json.loads(archive["about"].tobytes())
            if about["format"] != _FORMAT:
                raise ValueError(f"format is {about['format']!r}")
            if about["version"] > _VERSION:
                raise InputError("was written by a newer version of Tussock; update to read it", source=path)
            old = {"pulses": "beams"} if about["version"] < 2 else {}
            arrays = {name: archive[old.get(name, name)] for name in _ARRAYS}
        if any(len(arrays[name]) != about["volumes"] for name in _ARRAYS if name != "edges"):
            raise ValueError(f"does not hold the {about['volumes']} volumes that it says")
        return Volumes(
            **arrays,
            cell=float(about["cell"]),
            partition=about["partition"],
            tau=float(about["tau"]),
            material=Material.parse(about["material"], "material"),
            meta=about["meta"],
        )
    except InputError as error:
        raise error.within(path) from None
    except Exception as error:  # a damaged file can make the reader of zips stumble in any way
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise InputError(f"is damaged or not a file of volumes ({why})", source=path) from None
