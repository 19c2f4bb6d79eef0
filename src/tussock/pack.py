"""One file for a whole experiment: scene, meshes, sensor, path, seed and versions.

A pack (``.tussock``) is a ZIP archive. ``manifest.json`` names every other entry with its size and SHA-256; the
archive's comment holds the SHA-256 of the manifest itself. ``scene.toml`` and the folder ``scene/`` are those of
`tussock.scene_files.scene_save`, which keep every bit; ``sensor.json`` is the resolved sensor and ``path.tum`` its
pose or trajectory. Packing the same things twice gives the same bytes.

A pack may come from anywhere, so nothing in it is trusted: names that lead out of the folder, links, entries that the
manifest does not name, sizes and checksums that differ, and archives that would swell beyond reason are refused
before or while they are read, with the name of the entry. Checksums find damage and careless changes; they are no
signature.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import numpy as np

from tussock.errors import InputError, OutputError, cause, reason
from tussock.leftovers import note_finished
from tussock.limits import check_memory
from tussock.poses import Pose, Trajectory
from tussock.reach import Reach
from tussock.scene.fingerprint import fingerprint
from tussock.scene.scene import Scene
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.sensors.sensor import Sensor
from tussock.shown import Shown
from tussock.version import VERSION
from tussock.whole_files import TemporaryFolder, clear_left, scratch_folder, whole_file

__all__ = ["Packed", "load_pack", "save_pack", "unpack"]

_FORMAT, _VERSION = "tussock pack", 1
_MANIFEST = "manifest.json"
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\- ]*(/[A-Za-z0-9_][A-Za-z0-9_.\- ]*)*")
_MOST_MANIFEST = 64 * 2**20
_PIECE = 2**20


@dataclass(frozen=True, eq=False, repr=False)
class Packed(Shown):
    """What a pack holds.

    >>> from pathlib import Path
    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall")
    >>> tussock.save_pack(scene, Path("wall.tussock"), seed=7)
    >>> tussock.load_pack(Path("wall.tussock")).scene.name
    'wall'
    """

    scene: Scene
    sensor: Sensor | None
    path: Pose | Trajectory | None
    seed: int
    versions: dict[str, str]


def save_pack(
    scene: Scene,
    path: Path | str,
    *,
    sensor: Sensor | None = None,
    place: Pose | Trajectory | None = None,
    seed: int = 0,
    force: bool = False,
) -> None:
    """Write ``scene``, and where given the sensor, its pose or trajectory and the seed, to one file.

    >>> from pathlib import Path
    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall")
    >>> tussock.save_pack(scene, Path("wall.tussock"), sensor=tussock.load_sensor("vlp-16"))
    """
    path = Path(path)
    if path.suffix.lower() != ".tussock":
        raise OutputError(f"{path}: a pack ends in .tussock; name it {path.with_suffix('.tussock').name}")
    with (
        whole_file(path, force=force) as temporary,
        scratch_folder(path) as folder,
    ):  # which goes before the pack has its name
        save_scene(scene, folder / "scene.toml")
        if sensor is not None:
            _save_sensor(sensor, folder)
        if place is not None:
            route = place if isinstance(place, Trajectory) else Trajectory.standing(place)
            route.save_tum(folder / "path.tum")
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        names = {file.relative_to(folder).as_posix(): file for file in files}
        manifest = {
            "format": _FORMAT,
            "version": _VERSION,
            "versions": {"tussock": VERSION, "numpy": np.__version__},
            "scene": {"name": scene.name, "fingerprint": fingerprint(scene), "triangles": scene.triangles},
            "seed": seed,
            "entries": {name: {"bytes": file.stat().st_size, "sha256": _digest(file)} for name, file in names.items()},
        }
        text = (json.dumps(manifest, indent=1, sort_keys=True) + "\n").encode()
        with zipfile.ZipFile(temporary, "w") as archive:
            archive.comment = hashlib.sha256(text).hexdigest().encode()
            with archive.open(_entry(_MANIFEST), "w") as target:
                target.write(text)
            for name, file in names.items():
                with file.open("rb") as source, archive.open(_entry(name), "w", force_zip64=True) as target:
                    _copy(source, target)


def unpack(path: Path | str, folder: Path | str, *, force: bool = False) -> list[Path]:
    """Write the contents of a pack into ``folder`` (new, or empty, unless ``force``); returns the files.

    >>> from pathlib import Path
    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall")
    >>> tussock.save_pack(scene, Path("wall.tussock"))
    >>> _ = tussock.unpack(Path("wall.tussock"), Path("wall"))
    >>> Path("wall").is_dir()
    True
    """
    path, folder = Path(path), Path(folder)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder}: is a file; name a folder")
    if folder.exists() and any(folder.iterdir()) and not force:
        clear_left(folder)
        raise OutputError(f"{folder}: is not empty; choose another folder or pass force=True")
    with _opened(path) as archive, scratch_folder(folder) as scratch:
        manifest = _checked(archive, path)
        whole = scratch / "whole"
        whole.mkdir()
        _extract(archive, manifest, whole, path)
        (whole / _MANIFEST).write_bytes(_manifest_text(archive, path))
        names = [file.relative_to(whole) for file in sorted(whole.rglob("*")) if file.is_file()]
        if folder.exists() and any(folder.iterdir()):
            for name in names:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (whole / name).replace(folder / name)
        else:
            if folder.exists():
                folder.rmdir()
            whole.rename(folder)
    note_finished(folder)
    return [folder / name for name in names]


def load_pack(path: Path | str) -> Packed:
    """Read a pack without leaving files behind.

    >>> from pathlib import Path
    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall")
    >>> tussock.save_pack(scene, Path("wall.tussock"), seed=7)
    >>> tussock.load_pack(Path("wall.tussock")).seed
    7
    """
    path = Path(path)
    with _opened(path) as archive:
        manifest = _checked(archive, path)
        try:
            folder = TemporaryFolder()
        except OSError as error:
            raise OutputError(
                f"no temporary folder can be made ({reason(error)}); set TMPDIR to one with room"
            ) from None
        try:
            _extract(archive, manifest, folder.path, path)
            found = _read(folder.path, manifest, path)
        except OSError as error:
            folder.close()
            raise OutputError(
                f"{folder.path}: cannot be written ({reason(error)}); set TMPDIR to a folder with room"
            ) from None
        except BaseException:
            folder.close()
            raise
    if (folder.path / "pattern.csv").exists():
        atexit.register(folder.close)  # the sensor, and whatever is made of it, reads its table from there
    else:
        folder.close()
    return found


def _read(folder: Path, manifest: dict[str, Any], path: Path) -> Packed:
    entries = manifest["entries"]
    try:
        scene = load_scene(folder / "scene.toml", reach=Reach(folder))
        sensor = _load_sensor(folder) if "sensor.json" in entries else None
        place = Trajectory.load(folder / "path.tum") if "path.tum" in entries else None
    except InputError as error:
        raise InputError(str(error).replace(f"{folder}/", ""), source=path) from None
    if fingerprint(scene) != manifest["scene"].get("fingerprint"):
        raise InputError(
            "does not give the scene that was packed",
            field="scene.toml",
            remedy=f"use tussock {manifest['versions'].get('tussock')}, which packed it",
            source=path,
        )
    return Packed(scene, sensor, place, int(manifest["seed"]), dict(manifest["versions"]))


def _entry(name: str) -> zipfile.ZipInfo:
    """Always the same date and rights, so that the same contents give the same bytes."""
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    return entry


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError:
        raise InputError("no such file", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({reason(error)})", source=path) from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise InputError(f"is cut short, damaged or no pack ({error})", source=path) from None


def _manifest_text(archive: zipfile.ZipFile, path: Path) -> bytes:
    try:
        entry = archive.getinfo(_MANIFEST)
        if entry.file_size > _MOST_MANIFEST:
            raise InputError(f"{_MANIFEST}: is larger than a manifest can be", source=path)
        with archive.open(entry) as file:
            return file.read(_MOST_MANIFEST)
    except KeyError:
        raise InputError(f"has no {_MANIFEST}, so it is no pack", source=path) from None
    except (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        RuntimeError,
        NotImplementedError,
        ValueError,
        zlib.error,
    ) as error:
        raise InputError(f"{_MANIFEST}: is damaged ({cause(error)})", source=path) from None


def _checked(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """The manifest, after everything that can be checked without unpacking."""
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    for entry in entries:
        _refuse_unsafe(entry, path)
    times = Counter(map(str.lower, names))
    if len(times) != len(names):
        twice = next(name for name in names if times[name.lower()] > 1)
        raise InputError(f"{twice}: is there twice", source=path)
    swollen = sum(entry.file_size for entry in entries)
    packed = max(1, sum(entry.compress_size for entry in entries))
    try:
        check_memory(swollen, packed)
    except InputError as error:
        raise error.within(path) from None
    if packed > path.stat().st_size:
        raise InputError("its entries overlap; no honest pack's do", source=path)
    text = _manifest_text(archive, path)
    if hashlib.sha256(text).hexdigest().encode() != archive.comment:
        raise InputError(f"{_MANIFEST}: differs from what was packed", source=path)
    try:
        manifest = json.loads(text)
        known = {str(name): (int(e["bytes"]), str(e["sha256"])) for name, e in manifest["entries"].items()}
        if manifest["format"] != _FORMAT or not isinstance(manifest["versions"], dict):
            raise ValueError("not a manifest")
        int(manifest["seed"])
        manifest["scene"].get("fingerprint")
        version = manifest["version"]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise InputError(f"{_MANIFEST}: cannot be understood ({error})", source=path) from None
    if version != _VERSION:
        raise InputError.of("version", f"must be {_VERSION}", version, "use a newer tussock", source=path)
    for name in sorted(set(names) - {_MANIFEST} - set(known)):
        raise InputError(f"{name}: is not in the manifest", source=path)
    for name in sorted(set(known) - set(names)):
        raise InputError(f"{name}: is missing", source=path)
    for entry in entries:
        if entry.filename != _MANIFEST and entry.file_size != known[entry.filename][0]:
            raise InputError.of(
                entry.filename, f"must have {known[entry.filename][0]} bytes", entry.file_size, source=path
            )
    if "scene.toml" not in known:
        raise InputError("scene.toml: is missing", source=path)
    return dict(manifest)


def _refuse_unsafe(entry: zipfile.ZipInfo, path: Path) -> None:
    name = entry.filename
    parts = PurePosixPath(name).parts
    if not _SAFE_NAME.fullmatch(name) or ".." in parts or PurePosixPath(name).is_absolute():
        raise InputError.of("entry", "must be a plain name inside the pack's folder", name, source=path)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise InputError(f"{name}: is a link or a special file; a pack has plain files only", source=path)
    if entry.flag_bits & 1:
        raise InputError(f"{name}: is encrypted; a pack is not", source=path)


def _extract(archive: zipfile.ZipFile, manifest: dict[str, Any], folder: Path, path: Path) -> None:
    for name, expected in sorted(manifest["entries"].items()):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        left = int(expected["bytes"])
        try:
            with archive.open(name) as source, target.open("wb") as file:
                while piece := source.read(_PIECE):
                    left -= len(piece)
                    if left < 0:
                        break
                    digest.update(piece)
                    file.write(piece)
        except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError, ValueError, zlib.error) as error:
            raise InputError(f"{name}: differs from what was packed ({error})", source=path) from None
        if left or digest.hexdigest() != expected["sha256"]:
            raise InputError(f"{name}: differs from what was packed", source=path)


def _save_sensor(sensor: Sensor, folder: Path) -> None:
    table = sensor.model_dump(mode="json")
    file = table["pattern"].get("file")
    if file is not None:
        (folder / "pattern.csv").write_bytes(Path(file).read_bytes())
        table["pattern"]["file"] = "pattern.csv"
    (folder / "sensor.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def _load_sensor(folder: Path) -> Sensor:
    try:
        table = json.loads((folder / "sensor.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"sensor.json: is not JSON ({error})") from None
    if isinstance(table, dict) and isinstance(table.get("pattern"), dict) and table["pattern"].get("file"):
        table["pattern"]["file"] = str(folder / "pattern.csv")
    return Sensor.parse(table, "sensor.json")


def _digest(file: Path) -> str:
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def _copy(source: IO[bytes], target: IO[bytes]) -> None:
    while piece := source.read(_PIECE):
        target.write(piece)


def _parent(folder: Path) -> Path:
    if not folder.parent.is_dir():
        raise OutputError(f"{folder.parent}: no such folder; create it first")
    return folder.parent
