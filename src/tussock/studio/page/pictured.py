"""Surfaces with a picture on them, as a browser takes them: glTF, made by trimesh."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tussock.scene.material import Material
from tussock.scene.texture import Texture
from tussock.studio.simpler import Surface

__all__ = ["pictured"]

_LARGEST = 512
"""pixels a side that the page gets of a picture"""


def pictured(surface: Surface, material: Material) -> Any:
    """A mesh of trimesh with the material's texture; what is cut out of it is not drawn."""
    import trimesh

    visual: Any = trimesh.visual  # it has no types
    assert surface.uv is not None and material.texture is not None
    image = _small(material.texture)
    opaque = np.asarray(image)[..., 3].min() >= 255 * material.opacity_cutoff
    look = visual.material.PBRMaterial(
        baseColorTexture=image, metallicFactor=0.0, roughnessFactor=1.0, doubleSided=True,
        alphaMode="OPAQUE" if opaque else "MASK", alphaCutoff=None if opaque else float(material.opacity_cutoff),
    )  # fmt: skip
    return trimesh.Trimesh(
        surface.vertices, surface.triangles, process=False,
        visual=visual.TextureVisuals(uv=surface.uv.astype(np.float64), material=look),
    )  # fmt: skip


@lru_cache(32)
def _small(texture: Texture) -> Any:
    from PIL import Image

    image = Image.fromarray(texture.pixels, "RGBA")
    image.thumbnail((_LARGEST, _LARGEST))
    return image
