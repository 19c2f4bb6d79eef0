"""Images to files, by the suffix of the file's name.

=========  ==========================================================================
``.npy``   any array, as it is
``.exr``   float32, one channel (Z) or three; needs the extra ``images``
``.tif``   float32 with one channel, or whole numbers up to 32 bits
``.png``   8-bit colour, or whole numbers up to 65535 in 16 bits
``.jpg``   8-bit colour
=========  ==========================================================================

A float image has no place in PNG or JPEG: `tussock.plots.viewable` turns it into colours first.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.extras import load_extra
from tussock.whole_files import check_writable, whole_file

__all__ = ["IMAGE_SUFFIXES", "png_bytes", "save_image"]

Array = NDArray[Any]


def save_image(image: Array, path: Path | str, *, force: bool = False) -> None:
    """Write an image of shape (height, width) or (height, width, 3), whole or not at all.

    >>> tussock.save_image(np.full((4, 6, 3), 200, np.uint8), "grey.png")
    """
    path = Path(path)
    save = _WRITERS.get(path.suffix.lower())
    if save is None:
        raise InputError(f"unknown kind of image file; {nearest(path.suffix, _WRITERS)}", source=path)
    if image.ndim not in (2, 3) or image.size == 0 or (image.ndim == 3 and image.shape[2] != 3):
        raise InputError.of(
            "image", "must have the shape (height, width) or (height, width, 3)", image.shape, source=path
        )
    check_writable(path, force=force)
    with whole_file(path, force=force) as part:
        save(image, part, path)


def png_bytes(image: Array) -> bytes:
    """An image as the bytes of a PNG file."""
    memory = io.BytesIO()
    _plain(image, Path("image.png"), deep=True).save(memory, "PNG", compress_level=4)
    return memory.getvalue()


def _npy(image: Array, part: Path, path: Path) -> None:
    with part.open("wb") as file:
        np.save(file, image, allow_pickle=False)


def _exr(image: Array, part: Path, path: Path) -> None:
    openexr = load_extra("OpenEXR", extra="images", purpose="writing EXR files")
    if image.dtype != np.float32:
        raise InputError.of("image", "must be float32 for EXR", str(image.dtype), "write .png or .npy", source=path)
    channels = {"Z": np.ascontiguousarray(image)} if image.ndim == 2 else {"RGB": np.ascontiguousarray(image)}
    header = {"compression": openexr.ZIP_COMPRESSION, "type": openexr.scanlineimage}
    try:
        with openexr.File(header, channels) as file:
            file.write(str(part))
    except RuntimeError as error:
        raise OSError(str(error)) from None


def _tif(image: Array, part: Path, path: Path) -> None:
    from PIL import Image

    if image.ndim == 3 and image.dtype != np.uint8:
        raise InputError.of("image", "must have one channel for TIFF", image.shape, "write .exr or .npy", source=path)
    if image.dtype == np.uint32:
        if image.max(initial=0) > np.iinfo(np.int32).max:
            raise InputError.of("image", "must hold numbers below 2^31 for TIFF", int(image.max()), source=path)
        image = image.astype(np.int32)
    with part.open("wb") as file:
        Image.fromarray(image).save(file, "TIFF", compression="tiff_adobe_deflate" if image.ndim == 3 else None)


def _png(image: Array, part: Path, path: Path) -> None:
    with part.open("wb") as file:
        _plain(image, path, deep=True).save(file, "PNG", compress_level=4)


def _jpg(image: Array, part: Path, path: Path) -> None:
    with part.open("wb") as file:
        _plain(image, path, deep=False).save(file, "JPEG", quality=92)


def _plain(image: Array, path: Path, *, deep: bool) -> Any:
    """A picture of Pillow: 8 bits, or 16 where the numbers need and the format has them."""
    from PIL import Image

    if image.dtype == np.uint8:
        return Image.fromarray(image)
    if image.dtype.kind != "u" or image.ndim != 2 or not deep:
        raise InputError.of(
            "image", f"cannot be written as {path.suffix}", f"{image.dtype} of {image.shape}",
            "use .npy, .exr or .tif", source=path,
        )  # fmt: skip
    if image.max(initial=0) > 65535:
        raise InputError.of(
            "image", "must hold numbers up to 65535 for PNG", int(image.max()), "use .npy or .tif", source=path
        )
    return Image.fromarray(image.astype(np.uint16))


_WRITERS: dict[str, Callable[[Array, Path, Path], None]] = {
    ".npy": _npy,
    ".exr": _exr,
    ".tif": _tif,
    ".tiff": _tif,
    ".png": _png,
    ".jpg": _jpg,
    ".jpeg": _jpg,
}
IMAGE_SUFFIXES = tuple(_WRITERS)
