"""Images in files, read back by other programs."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from tussock.errors import InputError, OutputError
from tussock.files.images import save_image

DEPTH = np.array([[1.5, np.inf, 3.25], [1e-3, 80.0, 1234.5678]], np.float32)
LABELS = np.array([[0, 70, 300], [65535, 1, 2]], np.uint16)
COLOR = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)


def test_npy(tmp_path):
    save_image(DEPTH, tmp_path / "d.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), DEPTH)


def test_exr(tmp_path):
    openexr = pytest.importorskip("OpenEXR", reason="OpenEXR is not installed: pip install 'tussock[images]'")
    save_image(DEPTH, tmp_path / "d.exr")
    with openexr.File(str(tmp_path / "d.exr")) as file:
        np.testing.assert_array_equal(file.channels()["Z"].pixels, DEPTH)
    normals = np.random.default_rng(1).normal(size=(4, 5, 3)).astype(np.float32)
    save_image(normals, tmp_path / "n.exr")
    with openexr.File(str(tmp_path / "n.exr")) as file:
        np.testing.assert_array_equal(file.channels()["RGB"].pixels, normals)


def test_tiff_in_32_bits(tmp_path):
    save_image(DEPTH, tmp_path / "d.tif")
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "d.tif"), cv2.IMREAD_UNCHANGED), DEPTH)
    numbers = np.array([[0, 90_000], [1, 2]], np.uint32)
    save_image(numbers, tmp_path / "i.tiff")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "i.tiff")), numbers)


def test_png_of_16_bits_and_of_colours(tmp_path):
    save_image(LABELS, tmp_path / "l.png")
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "l.png"), cv2.IMREAD_UNCHANGED), LABELS)
    save_image(COLOR, tmp_path / "c.png")
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "c.png"))[..., ::-1], COLOR)
    save_image(COLOR, tmp_path / "c.jpg")
    assert cv2.imread(str(tmp_path / "c.jpg")).shape == (4, 5, 3)


@pytest.mark.parametrize(
    ("image", "name", "word"),
    [
        (DEPTH, "d.png", "float32"),
        (DEPTH, "d.gif", "unknown kind of image"),
        (LABELS, "l.jpg", "uint16"),
        (COLOR, "c.exr", "float32"),
        (np.array([[70_000]], np.uint32), "i.png", "65535"),
        (np.zeros((0, 0), np.float32), "e.npy", "shape"),
    ],
)
def test_what_a_format_cannot_hold(tmp_path, image, name, word):
    with pytest.raises(InputError, match=word):
        save_image(image, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten_unasked(tmp_path):
    save_image(DEPTH, tmp_path / "d.npy")
    with pytest.raises(OutputError, match="exists already"):
        save_image(DEPTH, tmp_path / "d.npy")
    save_image(DEPTH * 2, tmp_path / "d.npy", force=True)
