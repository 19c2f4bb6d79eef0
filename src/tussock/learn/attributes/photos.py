"""Photographs of a place that was learned, and where they were taken from.

A file of photographs (TOML) names each with its camera and its pose ``T_world_camera``, in the coordinates of the scan:

    [[photos]]
    image = "front.jpg"
    camera = "front.toml"                # as `tussock render --camera` takes it
    pose = [0, 0, 1.6, 0, 0, 90]         # x, y, z [m], roll, pitch, yaw [deg]; or x, y, z
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.cameras.camera import Camera, load_camera
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.reach import refuse_special
from tussock.scene.pictures import open_picture
from tussock.settings import Settings, read_toml

__all__ = ["Photo", "load_photos"]


@dataclass(frozen=True, eq=False)
class Photo:
    """A picture, the camera that took it, and from where.

    >>> camera = tussock.Camera(width=8, height=6)
    >>> tussock.Photo(np.full((6, 8, 3), 128, np.uint8), camera, tussock.Pose.at(0, 0, 1.6)).rgb.shape
    (6, 8, 3)
    """

    rgb: NDArray[np.uint8]
    """sRGB, shape (height, width, 3)"""
    camera: Camera
    pose: Pose
    """``T_world_camera``"""

    def __post_init__(self) -> None:
        shape = (self.camera.height, self.camera.width, 3)
        if self.rgb.shape != shape or self.rgb.dtype != np.uint8:
            raise InputError.of(
                "photo", f"must be bytes of the shape {shape}, as its camera", (self.rgb.shape, str(self.rgb.dtype))
            )


class _PhotoTable(Settings):
    image: Path
    camera: Path
    pose: Annotated[list[float], Field(min_length=3, max_length=6)]


class _PhotosFile(Settings):
    photos: Annotated[list[_PhotoTable], Field(min_length=1)]


def load_photos(path: Path | str) -> list[Photo]:
    """Read a file of photographs; images and cameras are found from where it lies.

    >>> from pathlib import Path
    >>> tussock.save_image(np.full((6, 8, 3), 128, np.uint8), "front.png")
    >>> _ = Path("front.toml").write_text("width = 8\\nheight = 6\\n")
    >>> _ = Path("photos.toml").write_text('[[photos]]\\nimage = "front.png"\\ncamera = "front.toml"\\npose = [0, 0, 1.6]\\n')
    >>> len(tussock.load_photos("photos.toml"))
    1
    """
    path = Path(path)
    found = []
    for entry in _PhotosFile.parse(read_toml(path), str(path)).photos:
        file, camera = path.parent / entry.image, path.parent / entry.camera
        refuse_special(camera)
        if not file.is_file():
            raise InputError("no such photograph", source=file)
        try:
            rgb = np.asarray(open_picture(file).convert("RGB"), np.uint8)
        except InputError as error:
            raise error.within(file) from None
        pose = Pose.parse(",".join(map(repr, entry.pose)))
        try:
            found.append(Photo(rgb, load_camera(camera), pose))
        except InputError as error:
            raise error.within(file) from None
    return found
