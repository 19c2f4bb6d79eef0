"""Picture files from anybody, through Pillow: the usual formats only, and their size is checked before it is taken."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from tussock.errors import InputError, cause
from tussock.limits import check_memory, read_bytes

__all__ = ["check_picture", "open_picture"]

_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "TGA", "WEBP", "PPM")
"""what is read: some others start programs (EPS) or are seldom tried"""
_CHANNELS = 4
_LONGEST = 65535


def open_picture(source: Path | bytes) -> Any:
    """A picture of Pillow, loaded; anything else is an `InputError`."""
    from PIL import Image, UnidentifiedImageError

    data = read_bytes(source) if isinstance(source, Path) else source
    before, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None  # the check is ours
    try:
        picture = Image.open(io.BytesIO(data), formats=_FORMATS)
        check_picture(picture.size, len(data))
        picture.load()
        return picture
    except InputError:
        raise
    except UnidentifiedImageError:
        raise InputError(f"not a readable picture; known: {', '.join(_FORMATS)}") from None
    except MemoryError:
        raise InputError("out of memory while reading this picture; use a smaller one") from None
    except Exception as error:  # a damaged file can make a decoder stumble in any way
        raise InputError(f"not a readable picture ({cause(error, 120)})") from None
    finally:
        Image.MAX_IMAGE_PIXELS = before


def check_picture(size: tuple[int, int], data: int) -> None:
    """Refuse a picture of some width and height [pixels] that takes too much for a file of ``data`` bytes."""
    if max(size) > _LONGEST:
        raise InputError.of("picture", f"must have at most {_LONGEST:,} pixels a side", size)
    check_memory(size[0] * size[1] * _CHANNELS, data)
