"""Terrain: hills from noise, from an image of heights, or from a GeoTIFF.

Noise is a sum of octaves of gradient noise (Perlin 1985, with the smoother fade of 2002): each octave has half the
wavelength of the one before and ``roughness`` times its height, so that 0.5 gives rolling hills and 0.7 a rugged
slope. It is scaled to the root mean square height asked for.

A height image has 16 bits a pixel (PNG or TIFF), black the lowest and white the highest height; 8 bits would make
terraces of it, and is refused. Its top row is the far edge (highest y), its left column the lowest x: north up. A
GeoTIFF (extra ``geo``) brings its own size, and keeps its map coordinates on request.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.errors import InputError
from tussock.ground.height_field import HeightField
from tussock.limits import check_memory
from tussock.sampler import Sampler
from tussock.scene.pictures import open_picture
from tussock.scene.sizes import between, chance, positive, whole

__all__ = ["brightness_image", "geotiff_terrain", "image_terrain", "mask_image", "noise_terrain"]


_MOST_HILLS = 5_000_000  # some 350 MB while they are sampled


def noise_terrain(
    size: tuple[float, float],
    *,
    cells: tuple[int, int] | None = None,
    height: float = 1.0,
    wavelength: float = 50.0,
    octaves: int = 6,
    roughness: float = 0.5,
    seed: int = 0,
) -> HeightField:
    """Hills of ``height`` (root mean square) [m] whose largest are ``wavelength`` [m] from crest to crest.

    >>> hills = tussock.noise_terrain((40.0, 40.0), height=1.5, seed=3)
    """
    width, depth = positive("terrain size x", size[0]), positive("terrain size y", size[1])
    between("terrain height", height, 0.0, np.inf)
    positive("terrain wavelength", wavelength)
    between("terrain octaves", whole("terrain octaves", octaves, 1), 1, 16)
    between("terrain roughness", roughness, 0.0, 1.0)
    nx, ny = cells or (max(1, round(width)), max(1, round(depth)))
    x = np.linspace(-width / 2, width / 2, whole("terrain cells x", nx, 1) + 1)
    y = np.linspace(-depth / 2, depth / 2, whole("terrain cells y", ny, 1) + 1)
    finest = wavelength / 2 ** (octaves - 1)
    if (width / finest + 2) * (depth / finest + 2) > _MOST_HILLS:
        raise InputError.of(
            "terrain size", f"must hold at most {_MOST_HILLS:,} of the smallest hills, {finest:g} m long", list(size),
            "use a longer wavelength, or fewer octaves",
        )  # fmt: skip
    rng = chance("terrain", seed)
    total = np.zeros((nx + 1, ny + 1))
    for octave in range(octaves):
        step = wavelength / 2**octave
        total += roughness**octave * _gradient_noise(x / step, y / step, rng)
    spread = float(np.sqrt((total**2).mean()))
    return HeightField((width, depth), total * (height / spread if spread > 0 else 0.0))


def _gradient_noise(x: FloatArray, y: FloatArray, rng: Sampler) -> FloatArray:
    """Perlin's noise on the grid of ``x`` (n,) and ``y`` (m,), measured in cells of the noise; shape (n, m)."""
    offset = rng.uniform(0, 1, 2)
    x, y = x - x[0] + offset[0], y - y[0] + offset[1]
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    angle = rng.uniform(0, 2 * np.pi, (i.max() + 2, j.max() + 2))
    u, v = (x - i)[:, None], (y - j)[None, :]

    def corner(a: int, b: int) -> FloatArray:
        way = angle[np.ix_(i + a, j + b)]
        return np.cos(way) * (u - a) + np.sin(way) * (v - b)

    def fade(t: FloatArray) -> FloatArray:
        return t * t * t * (t * (t * 6 - 15) + 10)

    near = corner(0, 0) + fade(u) * (corner(1, 0) - corner(0, 0))
    far = corner(0, 1) + fade(u) * (corner(1, 1) - corner(0, 1))
    return near + fade(v) * (far - near)


def image_terrain(path: Path | str, size: tuple[float, float], height_range: tuple[float, float]) -> HeightField:
    """Heights from a 16-bit image: its darkest value 0 is the first of ``height_range`` [m], 65535 the second.

    >>> from PIL import Image
    >>> Image.fromarray(np.full((5, 5), 65535, np.uint16)).save("heights.png")
    >>> hill = tussock.image_terrain("heights.png", (20.0, 20.0), (0.0, 3.0))
    >>> float(hill.heights.max())
    3.0
    """
    path = Path(path)
    pixels = _pixels(path)
    if pixels.dtype != np.uint16 and not (pixels.dtype == np.int32 and pixels.max() > 255):
        raise InputError.of("height image", "must have 16 bits a pixel", str(pixels.dtype), "export it so", source=path)
    if min(pixels.shape) < 2:
        raise InputError.of("height image", "must have 2 × 2 pixels or more", pixels.shape, source=path)
    low, high = height_range
    if not np.isfinite([low, high]).all() or high <= low:
        raise InputError.of("terrain height_range", "must be two heights [m], the lower first", list(height_range))
    return HeightField(size, low + (high - low) * _north_up(pixels.astype(float)) / 65535)


def mask_image(path: Path) -> NDArray[np.bool_]:
    """True where an image is at least half bright; first index along x, second along y."""
    pixels = _pixels(path)
    top = 65535 if pixels.dtype != np.uint8 else 255
    return _north_up(pixels.astype(float)) * 2 >= top


def brightness_image(path: Path) -> FloatArray:
    """Brightness of an image, 0 to 1; first index along x, second along y."""
    pixels = _pixels(path)
    return _north_up(pixels.astype(float)) / (65535 if pixels.dtype != np.uint8 else 255)


def geotiff_terrain(path: Path | str, *, keep_place: bool = False) -> HeightField:
    """Heights of a GeoTIFF's first band. Its middle comes to (0, 0) unless ``keep_place``, as on the map.

    >>> hill = tussock.geotiff_terrain("dem.tif")  # doctest: +SKIP
    """
    path = Path(path)
    try:
        import rasterio
        import rasterio.errors
    except ImportError:
        raise InputError("GeoTIFF needs rasterio; install it with `pip install 'tussock[geo]'`", source=path) from None
    if not path.is_file():
        raise InputError("no such GeoTIFF", source=path)
    try:
        # Named, because by itself GDAL opens whatever a file says it is: lists of other files, web addresses.
        with rasterio.open(path, driver="GTiff") as file:
            check_memory(file.width * file.height * 16, path.stat().st_size)
            band = file.read(1, masked=True)
            place, crs = file.transform, file.crs
    except InputError as error:
        raise error.within(path) from None
    except (rasterio.errors.RasterioError, ValueError) as error:
        raise InputError(f"not a readable GeoTIFF ({' '.join(str(error).split())[:120]})", source=path) from None
    if crs is not None and crs.is_geographic:
        raise InputError("its coordinates are degrees; reproject it to metres first (for example UTM)", source=path)
    if place.b or place.d:
        raise InputError("is turned against its axes; warp it to north up first", source=path)
    holes = int((~np.isfinite(np.ma.filled(band.astype(float), np.nan))).sum())
    if holes:
        raise InputError.of(
            "terrain", "must have no holes", f"{holes} pixels without a height", "fill them first", source=path
        )
    if min(band.shape) < 2:
        raise InputError.of("terrain", "must have 2 × 2 pixels or more", band.shape, source=path)
    heights = _north_up(np.asarray(band, float))
    if place.a < 0:
        heights = heights[::-1]
    if place.e > 0:
        heights = heights[:, ::-1]
    # A pixel's height is that of its middle: the grid of middles is one pixel smaller than the image.
    rows, columns = band.shape
    size = (abs(place.a) * (columns - 1), abs(place.e) * (rows - 1))
    middle = (place.c + place.a * columns / 2, place.f + place.e * rows / 2)
    return HeightField(size, heights, (float(middle[0]), float(middle[1])) if keep_place else (0.0, 0.0))


def _pixels(path: Path) -> NDArray[np.generic]:
    """The grey values of an image (rows, columns): uint8, uint16 or int32 as the file has them."""
    if not path.is_file():
        raise InputError("no such image", source=path)
    try:
        image = open_picture(path)
    except InputError as error:
        raise error.within(path) from None
    pixels = np.asarray(image if image.mode in ("I;16", "I;16B", "I", "L") else image.convert("L"))
    return pixels.astype(np.uint16) if pixels.dtype.kind == "u" and pixels.dtype.itemsize == 2 else pixels


def _north_up(rows: FloatArray) -> FloatArray:
    """An image (top row first) as a grid with the first index along x and the second along y."""
    return np.ascontiguousarray(rows[::-1].T)
