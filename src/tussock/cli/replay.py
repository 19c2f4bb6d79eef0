"""``tussock replay``: send a recording again, packet by packet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import takes

__all__ = ["replay"]


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """What the command takes."""

    capture: Annotated[Path, typer.Argument(help="A capture (.pcap or .pcapng).")]
    to: Annotated[str, typer.Option(help="HOST:PORT that the data packets go to.")]
    positions_to: Annotated[
        str | None, typer.Option(help="HOST:PORT that position packets go to; they are left out without it.")
    ] = None
    port: Annotated[int, typer.Option(help="Port that the data packets were sent to.", min=1, max=65535)] = 2368
    unit: Annotated[
        str | None, typer.Option(help="The sensor among several, as 192.168.1.201 or 192.168.1.201:2368.")
    ] = None
    speed: Annotated[float, typer.Option(help="1 is the recording's own speed, 2 twice as fast.")] = 1.0
    loops: Annotated[int, typer.Option(help="How often to play it; 0 for ever.", min=0)] = 1
    longest_pause: Annotated[
        float,
        typer.Option(help="Seconds in which nothing is sent; a recording that rests longer is refused.", metavar="S"),
    ] = 600.0
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(ReplayOptions)
def replay(given: ReplayOptions) -> None:
    """Send a recording's packets to an address, each at its own moment."""
    from tussock.cli.console import note, out, print_json, waiting
    from tussock.cli.interrupt import going_on
    from tussock.wire.addresses import Endpoint
    from tussock.wire.replay import replay as play

    target = Endpoint.parse(given.to)
    positions = Endpoint.parse(given.positions_to) if given.positions_to else None
    with waiting(f"sending to {target}", quiet=given.as_json), going_on(lambda: "no more is sent"):
        report = play(
            given.capture, target, positions_to=positions, port=given.port, unit=given.unit, speed=given.speed, loops=given.loops,
            longest_pause_s=given.longest_pause, say=note,
        )  # fmt: skip
    if given.as_json:
        print_json(
            {
                "packets": report.packets, "seconds": report.seconds, "recorded_s": report.recorded_s,
                "lost_packets": report.lost,
                "within_5_ms": report.lateness.share_within(5e-3), "worst_late_s": report.lateness.worst,
            }
        )  # fmt: skip
        return
    out.print(
        f"{report.packets:,} packets to {target} in {report.seconds:.2f} s "
        f"({report.packets / report.seconds:,.0f} a second), "
        f"{report.lateness.share_within(5e-3):.1%} within 5 ms of their time",
        soft_wrap=True,
    )
    if report.lost:
        out.print(f"{report.lost} packets were lost: the system's queue was full")
