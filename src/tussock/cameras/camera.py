"""A camera: its lens, its image, its shutter and how the picture is developed.

A camera looks along its own x axis, with y to the left of the image and z up, like every other body; its pose is
``T_world_camera``. Pixels are (u, v), see `tussock.cameras.lenses.lens`.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from tussock.cameras.development import Development
from tussock.cameras.lenses.equirectangular import Equirectangular
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.lenses.lens import OPTICAL, LensNumbers, Pixels, checked_points
from tussock.cameras.lenses.orthographic import Orthographic
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.lenses.projection import pixels_of, rays_of
from tussock.cameras.shutter import Shutter
from tussock.poses import Pose
from tussock.quantities import Positive
from tussock.settings import Settings, read_toml
from tussock.shown import Shown

__all__ = ["AnyLens", "Camera", "load_camera"]

AnyLens = Annotated[Pinhole | Fisheye | Equirectangular | Orthographic, Field(discriminator="kind")]


class Camera(Shown, Settings):
    """A lens, a shutter and an image of so many pixels.

    >>> camera = tussock.Camera(width=640, height=480, lens=tussock.Pinhole(horizontal_fov_deg=90))
    >>> camera.project([[10.0, 0.0, 0.0]]).shape
    (1, 2)
    """

    name: str = "camera"
    description: str = ""
    width: Pixels
    """[pixels]"""
    height: Pixels
    lens: AnyLens = Pinhole(horizontal_fov_deg=90.0)
    shutter: Shutter = Shutter()
    development: Development = Development()
    frame_hz: Positive = 10.0
    """images a second"""
    samples: Annotated[int, Field(ge=1, le=4096)] = 4
    """rays a pixel of a colour picture"""
    max_range_m: Positive = 2000.0
    """what is farther is not seen"""

    @model_validator(mode="after")
    def _lens_reaches_the_corners(self) -> Self:
        if isinstance(self.lens, Pinhole) and any(self.lens.distortion):
            u, v = [-0.5, self.width - 0.5], [-0.5, self.height - 0.5]
            corners = np.array([[a, b] for a in u for b in v])
            _, directions = rays_of(self.numbers, corners)
            if np.isnan(directions).any():
                raise ValueError(
                    "the distortion folds back inside the image; use weaker coefficients or a narrower field of view"
                )
        return self

    _pictured = True

    def _facts(self) -> dict[str, object]:
        return {
            "name": self.name,
            "image": f"{self.width} × {self.height} pixels, {self.frame_hz:g} a second",
            "lens": self.lens.kind,
            "shutter": str(self.shutter.kind),
        }

    @cached_property
    def numbers(self) -> LensNumbers:
        """The lens for kernels."""
        return self.lens.numbers(self.width, self.height)

    @property
    def frame_period(self) -> float:
        """[s] from the start of one image to the start of the next."""
        return 1.0 / self.frame_hz

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The camera matrix K of a pinhole or fisheye lens [pixels], shape (3, 3)."""
        if isinstance(self.lens, Pinhole):
            return self.lens.matrix(self.width, self.height)
        if not isinstance(self.lens, Fisheye):
            raise AttributeError(f"a camera matrix needs a pinhole or fisheye lens, not {self.lens.kind}")
        fx, fy, cx, cy = self.numbers.values[:4]
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    def project(self, points: ArrayLike, pose: Pose | None = None) -> NDArray[np.float64]:
        """Pixels (n, 2) of points (n, 3) [m]: in the camera's own frame, or in the world if its ``pose`` is given.

        NaN where the lens cannot see the point; a pixel may lie outside the image.
        """
        own = checked_points(points, 3, "points")
        if pose is not None:
            own = (own - pose.position) @ pose.rotation
        return pixels_of(self.numbers, np.ascontiguousarray(own @ OPTICAL))

    def rays(self, pixels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Starts [m] and unit directions, camera frame, each (n, 3), of pixels (n, 2); NaN where there is no ray."""
        starts, directions = rays_of(self.numbers, checked_points(pixels, 2, "pixels"))
        return starts @ OPTICAL.T, directions @ OPTICAL.T

    def inside(self, pixels: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which pixels (n, 2) lie in the image."""
        size = np.array([self.width, self.height])
        with np.errstate(invalid="ignore"):
            return np.asarray(((pixels >= -0.5) & (pixels < size - 0.5)).all(1))


def load_camera(path: Path | str) -> Camera:
    """Read a camera file (TOML); without a name it is called after the file.

    >>> from pathlib import Path
    >>> _ = Path("front.toml").write_text("width = 640\\nheight = 480\\n")
    >>> tussock.load_camera("front.toml").name
    'front'
    """
    path = Path(path)
    table = read_toml(path)
    return Camera.parse({"name": path.stem} | table, str(path))
