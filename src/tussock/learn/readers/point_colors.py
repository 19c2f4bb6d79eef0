"""Colours of points in files from elsewhere.

``red, green, blue`` as bytes (PLY, CSV), as 16 bits (LAS; many writers leave bytes there, so the largest value of all tells),
or from 0 to 1; or one packed ``rgb`` or ``rgba`` (PCD): 0xRRGGBB in the bits of a number of 32 bits, float or whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["point_colors"]

_NAMES = (("red", "green", "blue"), ("r", "g", "b"))


def point_colors(fields: dict[str, NDArray[Any]]) -> NDArray[np.uint8] | None:
    """Red, green, blue (sRGB) and 255 where a point has them, shape (n, 4); None where the file has no colours."""
    lower = {name.lower(): array for name, array in fields.items()}
    for names in _NAMES:
        if all(name in lower and lower[name].dtype.kind in "iuf" for name in names):
            return _known(_bytes([lower[name] for name in names]))
    for name in ("rgb", "rgba"):
        if name in lower and lower[name].dtype.kind in "iuf":
            packed = _packed(lower[name])
            return _known(np.stack([(packed >> shift) & 255 for shift in (16, 8, 0)], 1).astype(np.float64))
    return None


def _packed(values: NDArray[Any]) -> NDArray[np.uint32]:
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, np.float32).view(np.uint32)
    return values.astype(np.int64).astype(np.uint32)


def _bytes(channels: list[NDArray[Any]]) -> NDArray[np.float64]:
    """0 to 255, from numbers of 8 bits, of 16, or from 0 to 1."""
    stacked = np.stack(channels, 1)
    values, shares = stacked.astype(np.float64), stacked.dtype.kind == "f"
    most = float(np.nanmax(np.where(np.isfinite(values), values, np.nan), initial=0.0))
    return values * (255.0 if shares and most <= 1 else 1.0 if most <= 255 else 255.0 / 65535.0)


def _known(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    finite = np.asarray(np.isfinite(values).all(1))
    shown = np.round(np.clip(np.where(finite[:, None], values, 0), 0, 255))
    return np.concatenate([shown, np.where(finite, 255, 0)[:, None]], 1).astype(np.uint8)
