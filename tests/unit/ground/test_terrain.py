"""Terrain from noise, images and GeoTIFF; materials by slope and mask; what stands on it stands exactly on it."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tussock.errors import InputError
from tussock.ground.height_field import HeightField, Mask, Steep
from tussock.ground.terrain import geotiff_terrain, image_terrain, mask_image, noise_terrain
from tussock.scene.surfaces import SURFACES

# rasterio multiplies its transforms in a way that its own library means to retire.
pytestmark = pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")


def height_on(mesh, x, y):
    """Height of the mesh above points, by brute force over its triangles."""
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(float) for i in range(3))
    out = np.full(len(x), np.nan)
    for i, (px, py) in enumerate(zip(x, y, strict=True)):
        d = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (b[:, 1] - a[:, 1])
        u = ((px - a[:, 0]) * (c[:, 1] - a[:, 1]) - (c[:, 0] - a[:, 0]) * (py - a[:, 1])) / d
        v = ((b[:, 0] - a[:, 0]) * (py - a[:, 1]) - (px - a[:, 0]) * (b[:, 1] - a[:, 1])) / d
        k = np.argmax((u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9))
        out[i] = a[k, 2] + u[k] * (b[k, 2] - a[k, 2]) + v[k] * (c[k, 2] - a[k, 2])
    return out


def test_the_field_is_its_mesh_between_the_corners():
    field = noise_terrain((20.0, 14.0), cells=(10, 7), height=2.0, wavelength=9.0, seed=3)
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-9.9, 9.9, 200), rng.uniform(-6.9, 6.9, 200)
    np.testing.assert_allclose(field(x, y), height_on(field.mesh(SURFACES["soil"]), x, y), atol=1e-5)
    along_x, along_y = field.slope(x, y)
    step = 1e-7
    np.testing.assert_allclose((field(x + step, y) - field(x, y)) / step, along_x, atol=1e-4)
    np.testing.assert_allclose((field(x, y + step) - field(x, y)) / step, along_y, atol=1e-4)


def test_noise_has_its_height_and_hangs_on_its_seed():
    first, again, other = (noise_terrain((80, 80), height=3.0, seed=s) for s in (1, 1, 2))
    assert np.sqrt((first.heights**2).mean()) == pytest.approx(3.0)
    np.testing.assert_array_equal(first.heights, again.heights)
    assert not np.allclose(first.heights, other.heights)
    rough = noise_terrain((80, 80), height=3.0, roughness=0.8, seed=1)
    assert np.abs(np.diff(rough.heights)).mean() > 1.5 * np.abs(np.diff(first.heights)).mean()


def test_a_16_bit_image_lies_north_up(tmp_path):
    pixels = np.zeros((3, 5), np.uint16)
    pixels[0, 0], pixels[2, 4] = 65535, 32768
    Image.fromarray(pixels).save(tmp_path / "h.png")
    field = image_terrain(tmp_path / "h.png", (8.0, 4.0), (10.0, 20.0))
    assert field.heights.shape == (5, 3)
    assert field(np.array([-4.0]), np.array([2.0]))[0] == pytest.approx(20.0)
    assert field(np.array([4.0]), np.array([-2.0]))[0] == pytest.approx(15.0, abs=1e-3)
    assert field(np.array([4.0]), np.array([2.0]))[0] == pytest.approx(10.0)


def test_materials_by_slope_and_by_mask(tmp_path):
    heights = np.zeros((5, 5))
    heights[2:] = 3.0
    field = HeightField((4.0, 4.0), heights)
    Image.fromarray(np.array([[0, 255], [0, 0]], np.uint8)).save(tmp_path / "m.png")
    mesh = field.mesh(
        SURFACES["soil"],
        steep=[Steep(np.deg2rad(45), SURFACES["rock"])],
        masks=[Mask(mask_image(tmp_path / "m.png"), SURFACES["gravel"])],
    )
    names = np.array([m.name for m in mesh.materials])[mesh.material_of_triangles].reshape(4, 4, 2)
    assert (names[1, :] == "rock").all()
    assert (names[2:, 2:] == "gravel").all()
    assert (names[0] == "soil").all() and (names[2:, :2] == "soil").all()


def write_geotiff(path, band, *, nodata=None, crs="EPSG:32632"):
    rasterio = pytest.importorskip("rasterio", reason="rasterio is not installed: pip install 'tussock[geo]'")
    from rasterio.transform import from_origin

    options = {"driver": "GTiff", "height": band.shape[0], "width": band.shape[1], "count": 1, "dtype": band.dtype}
    with rasterio.open(
        path, "w", crs=crs, transform=from_origin(500_000, 5_200_000, 2.0, 2.0), nodata=nodata, **options
    ) as f:
        f.write(band, 1)


def test_geotiff_brings_its_size_and_its_place(tmp_path):
    band = np.arange(12, dtype=np.float32).reshape(3, 4)
    write_geotiff(tmp_path / "d.tif", band)
    field = geotiff_terrain(tmp_path / "d.tif")
    assert field.size == (6.0, 4.0)
    assert field(np.array([-3.0]), np.array([2.0]))[0] == 0.0
    assert field(np.array([3.0]), np.array([-2.0]))[0] == 11.0
    placed = geotiff_terrain(tmp_path / "d.tif", keep_place=True)
    assert placed.centre == (500_004.0, 5_199_997.0)
    assert placed(np.array([500_001.0]), np.array([5_199_999.0]))[0] == 0.0


def test_terrain_that_cannot_be(tmp_path):
    Image.fromarray(np.zeros((1, 1), np.uint16)).save(tmp_path / "one.png")
    with pytest.raises(InputError, match=r"one\.png: height image: must have 2 × 2 pixels or more, got \(1, 1\)"):
        image_terrain(tmp_path / "one.png", (1, 1), (0, 1))
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(tmp_path / "eight.png")
    with pytest.raises(InputError, match="must have 16 bits a pixel"):
        image_terrain(tmp_path / "eight.png", (1, 1), (0, 1))
    (tmp_path / "bad.png").write_bytes(b"\x89PNG nothing")
    with pytest.raises(InputError, match="not a readable picture"):
        image_terrain(tmp_path / "bad.png", (1, 1), (0, 1))
    with pytest.raises(InputError, match="must have no holes, got '1 without a height'"):
        HeightField((1, 1), np.array([[0, 1], [np.nan, 2]]))
    with pytest.raises(InputError, match="terrain height: must be at least 0, got -1"):
        noise_terrain((10, 10), height=-1)
    band = np.ones((3, 3), np.float32)
    band[1, 1] = -9999
    write_geotiff(tmp_path / "hole.tif", band, nodata=-9999)
    with pytest.raises(InputError, match="terrain: must have no holes, got '1 pixels without a height'"):
        geotiff_terrain(tmp_path / "hole.tif")
    write_geotiff(tmp_path / "deg.tif", np.ones((3, 3), np.float32), crs="EPSG:4326")
    with pytest.raises(InputError, match="are degrees"):
        geotiff_terrain(tmp_path / "deg.tif")
    (tmp_path / "no.tif").write_bytes(b"II*\0nothing")
    with pytest.raises(InputError, match="not a readable GeoTIFF"):
        geotiff_terrain(tmp_path / "no.tif")
