"""``tussock worlds``: worlds of a recipe, their figures, a contact sheet of all, or one of them as a scene file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import Seed, takes
from tussock.errors import InputError

__all__ = ["worlds"]


@dataclass(frozen=True, kw_only=True)
class WorldsOptions:
    """What the command takes."""

    recipe: Annotated[Path | None, typer.Argument(help="A recipe file (.toml); the default recipe if not given.")] = (
        None
    )
    count: Annotated[int, typer.Option(help="How many worlds.", min=1)] = 12
    first: Annotated[int, typer.Option(help="Number of the first one.", min=0)] = 0
    seed: Seed = 0
    sheet: Annotated[Path | None, typer.Option(help="Draw a contact sheet of all of them (.png, .jpg).")] = None
    diversity: Annotated[Path | None, typer.Option(help="Draw histograms of how they differ (.png).")] = None
    width: Annotated[int, typer.Option(help="Width of a picture on the sheet [pixels].", min=16, max=4096)] = 160
    save: Annotated[Path | None, typer.Option(help="Write the first one as a scene file (.toml) with its meshes.")] = (
        None
    )
    biomes: Annotated[bool, typer.Option("--biomes", help="List the biomes and stop.")] = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False


@takes(WorldsOptions)
def worlds(given: WorldsOptions) -> None:
    """Sample worlds from a recipe and say how they differ. World N is the same whichever others are made."""
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, steps
    from tussock.scene_files.scene_save import save_scene
    from tussock.whole_files import check_writable
    from tussock.worlds.biome import biome_names
    from tussock.worlds.figures import figures_of
    from tussock.worlds.recipe import Recipe, load_recipe
    from tussock.worlds.site import build_site

    if given.biomes:
        if given.as_json:
            print_json(biome_names())
        for name, meaning in {} if given.as_json else biome_names().items():
            console.print(f"{name:<18}{meaning}", markup=False)
        return
    if given.save is not None and given.count != 1:
        raise InputError.of("--count", "must be 1 to save a world", given.count, "choose it with --first")
    for file in (given.sheet, given.diversity, given.save):
        if file:
            check_writable(file, force=given.force)
    chosen = load_recipe(given.recipe) if given.recipe else Recipe()
    pictures, figures, rows = [], [], []
    for number in steps(
        range(given.first, given.first + given.count), "worlds", total=given.count, quiet=given.as_json
    ):
        site = build_site(chosen, number, given.seed)
        figures.append(figures_of(site))
        rows.append({"world": number, "fingerprint": site.fingerprint, **site.choices, **figures[-1]._asdict()})
        if given.sheet:
            from tussock.plots.worlds import thumbnail

            pictures.append(thumbnail(site, given.width))
        if given.save:
            save_scene(site.scene, given.save, force=given.force)
    if given.sheet:
        from tussock.plots.worlds import plot_contact_sheet

        plot_contact_sheet(pictures, given.sheet, force=given.force)
    if given.diversity:
        from tussock.plots.worlds import plot_diversity

        plot_diversity(figures, given.diversity, force=given.force)
    if given.as_json:
        print_json(rows)
        return
    console.print("world   biome             season   canopy  stems/ha  understorey  slope")
    for row, one in zip(rows, figures, strict=True):
        console.print(
            f"{row['world']:<8}{row['biome']:<18}{row['season']:<9}{one.canopy_cover:>5.0%}{one.stems_ha:>10.0f}"
            f"{one.understorey_m:>11.2f} m{one.slope_deg:>6.1f}°",
            markup=False,
        )
    for file in (given.sheet, given.diversity, given.save):
        if file:
            console.print(f"wrote {file}", markup=False)
