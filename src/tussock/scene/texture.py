"""A picture on a surface.

Pixels are sRGB with an opacity; row 0 is the top. A texture coordinate (s, t) has s = 0 at the left edge and
t = 0 at the bottom edge, and the picture repeats outside 0 to 1. In a scene file a texture is the path of a picture
(PNG, JPEG and whatever else Pillow reads); inside other files it travels as a ``data:image/png;base64,…`` text.
"""

from __future__ import annotations

import base64
import hashlib
import io
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer

from tussock.arrays import read_only
from tussock.errors import InputError
from tussock.scene.pictures import open_picture

__all__ = ["Texture", "TextureField", "refuse_outside_texture"]

_DATA = "data:image/"
_LARGEST = 16384


class Texture:
    """Two textures are equal if all their pixels are.

    >>> checks = tussock.Texture(np.zeros((2, 2, 4), np.uint8))
    """

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        array = np.asarray(pixels)
        if array.ndim != 3 or array.shape[2] not in (3, 4) or array.dtype != np.uint8 or 0 in array.shape:
            raise InputError.of(
                "texture",
                "must be an array of bytes of the shape (height, width, 3 or 4)",
                (array.shape, array.dtype),
            )
        if max(array.shape[:2]) > _LARGEST:
            raise InputError.of("texture", f"must have at most {_LARGEST} pixels a side", array.shape[:2])
        if array.shape[2] == 3:
            array = np.concatenate([array, np.full((*array.shape[:2], 1), 255, np.uint8)], 2)
        self.pixels: NDArray[np.uint8] = read_only(array)
        """sRGB and opacity, shape (height, width, 4), read-only"""
        self._digest = hashlib.blake2b(self.pixels.tobytes() + repr(array.shape).encode(), digest_size=16).hexdigest()

    @classmethod
    def load(cls, path: Path | str) -> Texture:
        """Read a picture file."""
        path = Path(path)
        if not path.is_file():
            raise InputError("no such texture file", source=path)
        try:
            return cls.of_image(open_picture(path))
        except InputError as error:
            raise error.within(path) from None

    @classmethod
    def parse(cls, text: str) -> Texture:
        """From the path of a picture or a ``data:`` text."""
        if not text.startswith(_DATA):
            return cls.load(text)
        try:
            data = base64.b64decode(text.partition("base64,")[2], validate=True)
        except ValueError:
            raise InputError("texture: is no readable data:image text") from None
        try:
            return cls.of_image(open_picture(data))
        except InputError as error:
            raise error.within("texture") from None

    @classmethod
    def of_image(cls, image: Any) -> Texture:
        """From a picture of Pillow."""
        return cls(np.asarray(image.convert("RGBA")))

    def data(self) -> str:
        """The texture as a ``data:image/png;base64,…`` text; `parse` gives the same pixels back."""
        from PIL import Image

        file = io.BytesIO()
        Image.fromarray(self.pixels).save(file, "PNG")
        return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")

    @cached_property
    def least_opacity(self) -> int:
        """opacity of its most see-through pixel, 0 to 255"""
        return int(self.pixels[..., 3].min())

    @property
    def cut_out(self) -> bool:
        """Whether parts of it are more see-through than not."""
        return self.least_opacity < 128

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Texture) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    def __repr__(self) -> str:
        return f"Texture({self.pixels.shape[1]} × {self.pixels.shape[0]} pixels)"


def refuse_outside_texture(material: Any) -> None:
    """Refuse a material (plain data from somebody's file) whose texture is not in the file itself."""
    texture = material.get("texture") if isinstance(material, dict) else None
    if texture is not None and not str(texture).startswith(_DATA):
        raise InputError.of("material texture", "must be inside the file, as a data: text", str(texture))


def _texture_of(value: Any) -> Any:
    try:
        return Texture.parse(str(value)) if isinstance(value, str | Path) else value
    except InputError as error:
        raise ValueError(str(error)) from None


TextureField = Annotated[
    Texture, BeforeValidator(_texture_of), PlainSerializer(Texture.data, return_type=str, when_used="json")
]
"""a texture as a field of settings: given as a `Texture`, a path or a ``data:`` text"""
