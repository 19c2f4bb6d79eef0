"""Where on its picture a surface of a glTF file is: which texture coordinates it takes, shifted, turned and scaled.

KHR_texture_transform, by which plants share one picture (an atlas): of coordinates (u, v), v down, a material shows
(u′, v′) = offset + R·(scale ∘ (u, v)), R turning by ``rotation`` counter-clockwise as one sees the picture, v down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError

__all__ = ["TexturePlace", "place_on_texture"]

_NAME = "KHR_texture_transform"


class TexturePlace(NamedTuple):
    """Which of the coordinates of vertices a texture takes, and where on it they are."""

    which: int = 0
    """TEXCOORD_0, TEXCOORD_1, …"""
    offset: tuple[float, float] = (0.0, 0.0)
    rotation: float = 0.0
    """[rad]"""
    scale: tuple[float, float] = (1.0, 1.0)

    def of(self, uv: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
        """Coordinates (n, 2) with t up, as meshes have them, for those of the file, t up too."""
        if (self.offset, self.rotation, self.scale) == ((0.0, 0.0), 0.0, (1.0, 1.0)):
            return np.asarray(uv, np.float32)
        u, v = (np.asarray(uv, np.float64) * (1, -1) + (0, 1)).T * np.array(self.scale)[:, None]
        c, s = np.cos(self.rotation), np.sin(self.rotation)
        moved = np.stack([self.offset[0] + c * u + s * v, self.offset[1] - s * u + c * v], 1)
        return (moved * (1, -1) + (0, 1)).astype(np.float32)


def place_on_texture(material: dict[str, Any]) -> TexturePlace:
    """Of the base colour of a material as it stands in a glTF file."""
    info = material.get("pbrMetallicRoughness", {}).get("baseColorTexture", {})
    given = info.get("extensions", {}).get(_NAME, {})
    which = given.get("texCoord", info.get("texCoord", 0))
    if isinstance(which, bool) or not isinstance(which, int) or which < 0:
        raise InputError.of("texCoord", "must be a whole number from 0", which)
    return TexturePlace(
        which, _pair(given, "offset", 0.0), _number(given.get("rotation", 0.0), "rotation"), _pair(given, "scale", 1.0)
    )


def _pair(given: dict[str, Any], name: str, usual: float) -> tuple[float, float]:
    pair = given.get(name, (usual, usual))
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise InputError.of(f"{_NAME} {name}", "must be two numbers", pair)
    return _number(pair[0], name), _number(pair[1], name)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= 1e6:
        raise InputError.of(f"{_NAME} {name}", "must be a number within 1e6 of 0", value)
    return float(value)
