"""Frames of a data set for PyTorch: a `Dataset` over what `tussock run` made, in Parquet or WebDataset shards.

    from tussock.jobs.reading import Frames
    loader = torch.utils.data.DataLoader(Frames("dataset"), batch_size=None, shuffle=True, num_workers=2)

An entry is a dict of ``points`` (n, 4) float32 (x, y, z, intensity), ``label`` (n,) int64, ``instance`` (n,) int64,
``pictures`` (by the camera's name, (height, width, 3) uint8) and ``about`` (plain data: pose, boxes, calibration). Labels
are those that the plan asked for.
"""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.jobs.ledger import PLAN, read_manifest
from tussock.jobs.store import Store

__all__ = ["Frames"]

Entry = tuple[Any, Any, dict[str, bytes], dict[str, Any]]
"""points, labels, pictures as PNG, plain data"""


class Frames:
    """A map-style data set (``len`` and ``[]``), as `torch.utils.data.DataLoader` takes it; it may be pickled."""

    def __init__(self, root: str) -> None:
        load_extra("torch", extra="torch", purpose="reading frames as tensors")
        self._store = Store(root)
        try:
            about = json.loads(self._store.get(PLAN) or b"{}")
            self._layout = about.get("plan", {}).get("output", {}).get("layout")
            self._each = int(about["plan"]["frames"]) if "plan" in about else 0
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise InputError(f"{root}/{PLAN}: cannot be read ({_short(error)})") from None
        if self._layout not in ("parquet", "webdataset"):
            raise InputError.of(f"{root}: layout", "must be parquet or webdataset", self._layout)
        ending = ".parquet" if self._layout == "parquet" else ".tar"
        self._files = [path for path in read_manifest(self._store)["path"].to_pylist() if path.endswith(ending)]

    def __len__(self) -> int:
        return len(self._files) * self._each

    def __getitem__(self, index: int) -> dict[str, Any]:
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        file, frame = divmod(index % len(self), self._each)
        path = self._files[file]
        data = self._store.get(path)
        if data is None:
            raise InputError(f"{path}: is missing from the data set")
        read = self._from_parquet if self._layout == "parquet" else self._from_tar
        try:
            points, labels, pictures, about = read(path, data, frame)
            shown = {name: _picture(png) for name, png in pictures.items()}
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, tarfile.TarError) as error:
            raise InputError(f"{self._store.root}/{path}: cannot be read ({_short(error)})") from None
        torch = load_extra("torch", extra="torch", purpose="reading frames as tensors")
        return {
            "points": torch.from_numpy(points),
            "label": torch.from_numpy((labels & 0xFFFF).astype(np.int64)),
            "instance": torch.from_numpy((labels >> 16).astype(np.int64)),
            "pictures": {name: torch.from_numpy(picture) for name, picture in shown.items()},
            "about": about,
        }

    def _from_parquet(self, path: str, data: bytes, frame: int) -> Entry:
        import pyarrow.parquet as pq

        names = ["x", "y", "z", "intensity", "label", "instance"]
        table = pq.ParquetFile(io.BytesIO(data)).read_row_group(frame, columns=names)
        points = np.stack([table[name].to_numpy() for name in names[:4]], 1).astype(np.float32)
        labels = table["instance"].to_numpy().astype(np.uint32) << 16 | table["label"].to_numpy()
        whole = json.loads(self._store.get(path.removesuffix(".parquet") + ".json") or b"{}")
        about = whole.pop("frames")[frame]
        stem = f"{path.removesuffix('.parquet')}/{about['frame']:06d}"
        pictures = {name: self._store.get(f"{stem}_{name}.png") or b"" for name in about["pictures"]}
        return points, labels, pictures, {**whole, **about}

    def _from_tar(self, path: str, data: bytes, frame: int) -> Entry:
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            keys = sorted({member.name.split(".", 1)[0] for member in tar})
            names = [name for name in tar.getnames() if name.split(".", 1)[0] == keys[frame]]
            bodies = {name.split(".", 1)[1]: tar.extractfile(name) for name in names}
            parts = {ending: body.read() for ending, body in bodies.items() if body is not None}
        points = np.frombuffer(parts["points.bin"], "<f4").reshape(-1, 4).copy()
        pictures = {ending.removesuffix(".png"): png for ending, png in parts.items() if ending.endswith(".png")}
        return points, np.frombuffer(parts["label.bin"], "<u4"), pictures, json.loads(parts["about.json"])


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__


def _picture(png: bytes) -> Any:
    from PIL import Image

    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))
