"""``tussock compare``: how like a simulated scan is to a real one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["compare"]


def compare(
    real: Annotated[Path, typer.Argument(help="The real scan: .pcap, .bin, .las, or a file of a frame.")],
    simulated: Annotated[Path, typer.Argument(help="The simulated scan, with its pulses without return.")],
    angle_deg: Annotated[float, typer.Option(help="Width of an angle bin [deg].")] = 0.09,
    range_m: Annotated[float, typer.Option(help="Width of a range bin [m].")] = 0.002,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False,
) -> None:
    """Bhattacharyya distance of the histograms over angle and range, hit rates and range quantiles."""
    import math

    from rich.table import Table

    from tussock.cli.console import out, print_json, waiting
    from tussock.learn.read_beams import load_beams
    from tussock.learn.scores import QUANTILES
    from tussock.learn.scores import compare as score_of

    with waiting("reading", quiet=as_json):
        one, two = load_beams(real), load_beams(simulated)
    score = score_of(one, two, angle_bin=math.radians(angle_deg), range_bin=range_m)
    if as_json:
        print_json(score.plain())
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("", "real", "simulated", "difference"):
        table.add_column(heading, justify="left" if not heading else "right")
    table.add_row("pulses", f"{score.real_pulses:,}", f"{score.simulated_pulses:,}", "")
    table.add_row(
        "hit rate", f"{score.real_hit_rate:.4f}", f"{score.simulated_hit_rate:.4f}", f"{score.hit_rate_difference:+.4f}"
    )
    rows = zip(QUANTILES, score.real_quantiles, score.simulated_quantiles, score.quantile_differences, strict=True)
    for share, mine, other, apart in rows:
        table.add_row(f"range, {share:.0%} [m]", f"{mine:.3f}", f"{other:.3f}", f"{apart:+.3f}")
    out.print(table)
    out.print(f"Bhattacharyya distance {score.distance:.4f}")
