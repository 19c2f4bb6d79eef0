"""Worlds at a glance: a contact sheet with a small picture of each, and histograms of how they differ."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import render
from tussock.cameras.shading.light import Light
from tussock.errors import InputError
from tussock.plots.scene import free_place
from tussock.poses import Pose
from tussock.trace.world import World
from tussock.whole_files import check_writable, whole_file
from tussock.worlds.figures import Figures
from tussock.worlds.site import Site

__all__ = ["plot_contact_sheet", "plot_diversity", "thumbnail"]

_GAP = 3
_ASPECT = 4 / 3


def thumbnail(site: Site, width: int = 160, world: World | None = None) -> NDArray[np.uint8]:
    """A picture from the route, a little above a person's eyes; shape (height, width, 3).

    >>> picture = tussock.thumbnail(tussock.build_site(tussock.Recipe(), 0), width=160)  # doctest: +SKIP
    """
    camera = Camera(width=width, height=round(width / _ASPECT), lens=Pinhole(horizontal_fov_deg=75.0))
    world = world or World(site.scene)
    place = site.stand(height=2.2).pose(0.0)
    back = place @ Pose.at(-4.0, 0.0, 0.6, pitch=np.deg2rad(6.0))
    return np.asarray(render(world, camera, free_place(world, back), light=Light(**site.light)).rgb)


def plot_contact_sheet(pictures: Sequence[NDArray[np.uint8]], path: Path | str, *, force: bool = False) -> Path:
    """All pictures (of one size) in rows, in their order, as one image (.png or .jpg).

    >>> _ = tussock.plot_contact_sheet([np.zeros((9, 16, 3), np.uint8)] * 4, "sheet.png")
    """
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() not in (".png", ".jpg", ".jpeg"):
        raise InputError.of(f"{path}: suffix", "must be .png or .jpg", path.suffix)
    check_writable(path, force=force)
    if not pictures:
        raise InputError("contact sheet: needs at least one picture")
    height, width = pictures[0].shape[:2]
    across = max(1, round(np.sqrt(len(pictures) * _ASPECT * height / width)))
    down = -(-len(pictures) // across)
    sheet = np.full((down * (height + _GAP) + _GAP, across * (width + _GAP) + _GAP, 3), 24, np.uint8)
    for index, picture in enumerate(pictures):
        y, x = (
            _GAP + place * (size + _GAP) for place, size in zip(divmod(index, across), (height, width), strict=True)
        )
        sheet[y : y + height, x : x + width] = picture
    with whole_file(path, force=force) as part:
        Image.fromarray(sheet).save(part, format="PNG" if path.suffix.lower() == ".png" else "JPEG", quality=90)
    return path


def plot_diversity(figures: Sequence[Figures], path: Path | str, *, force: bool = False) -> Path:
    """Histograms of canopy cover, stem density, understorey height and slope (.png or .svg).

    >>> figures = [tussock.figures_of(tussock.build_site(recipe, k)) for k in range(9)]  # doctest: +SKIP
    >>> tussock.plot_diversity(figures, "diversity.png")  # doctest: +SKIP
    """
    from matplotlib.figure import Figure

    path = Path(path)
    check_writable(path, force=force)
    titles = {
        "canopy_cover": "canopy cover [%]", "stems_ha": "stems a hectare", "understorey_m": "understorey [m]",
        "slope_deg": "mean slope [°]",
    }  # fmt: skip
    sheet = Figure(figsize=(10, 6.4), layout="constrained")
    for axes, (name, title) in zip(sheet.subplots(2, 2).flat, titles.items(), strict=True):
        values = np.array([getattr(one, name) for one in figures]) * (100 if name == "canopy_cover" else 1)
        axes.hist(values, bins=min(30, max(5, len(values) // 5)), color="#5b8c5a")
        axes.set_xlabel(title)
        axes.set_ylabel("worlds")
        axes.spines[["top", "right"]].set_visible(False)
    with whole_file(path, force=force) as part:
        sheet.savefig(
            part,
            format=path.suffix.removeprefix(".") or "png",
            dpi=110,
            metadata={"Software": None} if path.suffix == ".png" else None,
        )
    return path
