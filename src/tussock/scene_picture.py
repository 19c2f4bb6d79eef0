"""A picture of a scene, for people who want to see what they scan: the colours of its materials, lit from the camera.

The picture is itself a scan: one pulse a pixel of a pinhole image, whose intensity over the surface's
reflectance is the cosine of the angle of incidence. Far things fade into haze. No sun, no shadows.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tussock.errors import InputError
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.scene import Scene
from tussock.sensors.beam import Beam
from tussock.sensors.patterns.image import ImagePattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.whole_files import check_writable, whole_file

__all__ = ["draw_scene"]

_SKY, _HAZE = np.array([0.45, 0.62, 0.85]), np.array([0.66, 0.74, 0.82])
_REACH = 400.0
_OVERSAMPLED = 2


def draw_scene(
    scene: Scene | World,
    path: Path,
    view: Pose,
    *,
    size: tuple[int, int] = (960, 540),
    field_of_view: float = np.deg2rad(75.0),
    time: float = 0.0,
    force: bool = False,
) -> None:
    """Draw what is seen from ``view`` (x into the picture, z up) at ``time`` [s] to ``path`` (PNG)."""
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() != ".png":
        raise InputError.of(f"{path}: suffix", "must be .png", path.suffix)
    check_writable(path, force=force)
    world = scene if isinstance(scene, World) else World(scene)
    columns, rows = (_OVERSAMPLED * n for n in size)
    camera = Sensor(
        name="picture",
        pattern=ImagePattern(
            columns=columns,
            rows=rows,
            horizontal_fov_deg=float(np.rad2deg(field_of_view)),
            vertical_fov_deg=float(np.rad2deg(2 * np.arctan(np.tan(field_of_view / 2) * size[1] / size[0]))),
            frame_hz=1e4,
        ),
        beam=Beam(),
        receiver=Receiver(max_range_m=_REACH),
    )
    frame = scan(world, camera, view, frame=round(time * 1e4), keep_misses=True)
    first = frame.select(frame.return_number <= 1)
    materials = world.materials
    paint = np.array([m.color or (m.reflectance,) * 3 for m in materials])
    bright = np.array([_brightness(m) for m in materials])
    facing = np.clip(first.intensity / bright[first.material], 0.0, 1.0)
    shaded = paint[first.material] * (0.25 + 1.15 * facing[:, None])
    haze = 1 - np.exp(-np.nan_to_num(first.true_range, nan=_REACH) / 220.0)[:, None]
    color = shaded * (1 - haze) + _HAZE * haze
    up = np.clip(np.linspace(1, 0, rows), 0, 1)[:, None, None] * np.ones((1, columns, 1))
    color = np.where(first.hit[:, None], color, (_HAZE + (_SKY - _HAZE) * up).reshape(-1, 3))
    small = color.reshape(size[1], _OVERSAMPLED, size[0], _OVERSAMPLED, 3).mean((1, 3))
    pixels = (255 * np.clip(1.35 * small, 0, 1) ** (1 / 2.2)).astype(np.uint8)
    with whole_file(path, force=force) as temporary:
        Image.fromarray(pixels).save(temporary, format="PNG", optimize=True)


def _brightness(material: Material) -> float:
    """What a surface met head-on gives, so that its share of it is the cosine."""
    return max(material.reflectance + material.specular + 0.25 * material.retro, 1e-3)
