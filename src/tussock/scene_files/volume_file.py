"""Volumes as one compact file (``.volumes``): a zip of NumPy arrays and one JSON text, readable with ``numpy.load`` too.

Every array carries the checksum of the zip, so damage is found when the file is read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError, OutputError, cause
from tussock.numpy_files import load_npz
from tussock.scene.material import Material
from tussock.scene.parts import part_names, plain_parts
from tussock.scene.texture import refuse_outside_texture
from tussock.scene.volumes import Volumes
from tussock.whole_files import check_writable, whole_file

__all__ = ["VOLUME_SUFFIX", "check_volume_path", "load_volumes", "save_volumes"]

VOLUME_SUFFIX = ".volumes"

_DAMAGED = "is damaged or not a file of volumes"
_FORMAT = "tussock volumes"
_VERSION = 5  # 3: with an origin; 4: with held noise, second returns and levels; 5: with labels and colours
_NAMES_OF_1 = {"pulses": "beams"}


def check_volume_path(path: Path, *, force: bool = False) -> None:
    """Refuse early what `save_volumes` would refuse late."""
    if path.suffix.lower() != VOLUME_SUFFIX:
        better = path.with_suffix(VOLUME_SUFFIX).name
        raise OutputError(f"{path}: a file of volumes ends in {VOLUME_SUFFIX}; name it {better}")
    check_writable(path, force=force)


def save_volumes(volumes: Volumes, path: Path | str, *, force: bool = False) -> None:
    """Write volumes to ``path`` (``.volumes``), whole or not at all.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> tussock.save_volumes(tussock.learn_volumes(pulses, voxel=0.5), "bush.volumes")
    """
    path = Path(path)
    check_volume_path(path, force=force)
    arrays, plain = plain_parts(volumes)
    about = {"format": _FORMAT, "version": _VERSION, "volumes": len(volumes), **plain}
    with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file,
            about=np.frombuffer(json.dumps(about).encode(), np.uint8),
            **{name: array for name, array in arrays.items() if array.size},
        )


def load_volumes(path: Path | str) -> Volumes:
    """Read volumes; a file that is damaged or something else is an `InputError`.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> tussock.save_volumes(tussock.learn_volumes(pulses, voxel=0.5), "bush.volumes")
    >>> tussock.load_volumes("bush.volumes").cell
    0.5
    """
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
        archive = load_npz(path, damaged=_DAMAGED)
        about = json.loads(archive["about"].tobytes())
        if about["format"] != _FORMAT:
            raise ValueError(f"format is {about['format']!r}")
        if about["version"] > _VERSION:
            raise InputError("was written by a newer version of Tussock; update to read it", source=path)
        old = _NAMES_OF_1 if about["version"] == 1 else {}
        strange = set(archive) - {old.get(n, n) for n in part_names(Volumes)} - {"about"}
        if strange:
            raise ValueError(f"holds {min(strange)!r}, which is no part of volumes")
        arrays: dict[str, Any] = {n: archive[old.get(n, n)] for n in part_names(Volumes) if old.get(n, n) in archive}
        refuse_outside_texture(about["material"])
        plain = {name: about[name] for name in part_names(Volumes) if name in about}
        volumes = Volumes(**arrays, **plain | {"material": Material.parse(about["material"], "material")})
        if len(volumes) != about["volumes"]:
            raise ValueError(f"does not hold the {about['volumes']} volumes that it says")
        return volumes
    except InputError as error:
        raise error.within(path) from None
    except Exception as error:  # a damaged file can make the reader of zips stumble in any way
        raise InputError(f"{_DAMAGED} ({cause(error, 120)})", source=path) from None
