"""What the air adds to the hits of sixteen pulses, and what it takes from them; see `tussock.signal.air`.

    clouds   dim what is behind them; the peak of what they send back is one more hit
    drops    single ones; what is behind one is dimmer by its shadow. The receiver hears them apart (`tussock.pulse.drops.hear`)
    soft     the peak of the continuum, where nothing is near enough to have a part in it: known beforehand, it is
             handed to the receiver as an echo; else the continuum in pieces, each a hit, cut off where the beam ends, and
             drops are hits among them

Clouds are in `tussock.pulse.clouds`, drops in `tussock.pulse.drops.meet`. Left out: what a ray meets behind a mirror is dimmed as if its way had been straight.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Array, inline_kernel, kernel, loop_kernel
from tussock.pulse.clouds import meet_clouds
from tussock.pulse.drops.meet import drops_as_hits, meet_drops, relieve
from tussock.pulse.from_air import add_hit, air_code
from tussock.pulse.tables import Firing, Hits, Lot, Scanning, Scratch
from tussock.signal.air import MOST_DROPS, Air
from tussock.trace.packets import LANES

__all__ = ["air_hits", "has_weather", "weather_lanes"]

_ZERO = np.float32(0.0)


@inline_kernel
def has_weather(air: Air) -> bool:
    """Whether anything in the air is more than even extinction."""
    return len(air.soft) > 0 or len(air.laws) > 0 or len(air.clouds) > 0


@kernel
def air_hits(air: Air) -> int:
    """Room for the hits that the air adds to a pulse."""
    return len(air.soft) + (MOST_DROPS if len(air.laws) > 0 else 0) + (1 if len(air.clouds) > 0 else 0)


@loop_kernel
def weather_lanes(scanning: Scanning, scratch: Scratch, lot: Lot, used: int, recorded: bool) -> None:
    """Change the hits of sixteen pulses, in the first ``used`` rows, by what is in the air, and add to them."""
    air, hits, lanes = scanning.air, scratch.hits, lot.lanes
    if len(air.clouds) > 0:
        meet_clouds(scanning, scratch, lanes, used)
    if len(air.laws) > 0:
        drops = scratch.air.drops
        relieve(air, hits, used, drops)
        if scanning.receiving.echoes:
            meet_drops(scanning, hits, drops, lot, used)
    if len(air.soft) > 0:
        _meet_continuum(air, scanning.firing, hits, scratch.heard.soft, lanes, recorded)
        if len(air.laws) > 0 and scanning.receiving.echoes:
            drops_as_hits(air, hits, scratch.air.drops, scratch.heard.soft)


@loop_kernel
def _meet_continuum(air: Air, firing: Firing, hits: Hits, soft: Array, lanes: int, recorded: bool) -> None:
    """The continuum: an echo that is known beforehand, or pieces of it."""
    rays = len(firing.stencil)
    for l in range(LANES):
        soft[l] = -1
    for l in range(lanes):
        nearest = hits.ranges[0, l]
        for k in range(1, rays):
            nearest = min(nearest, hits.ranges[k, l])
        if nearest >= air.soft_near and not recorded:
            soft[l] = -2 - air.soft_kind
            continue
        for j in range(len(air.soft)):
            share = _ZERO
            for k in range(rays):
                share += firing.weights[k] if hits.ranges[k, l] > air.soft[j, 0] else _ZERO
            if share > _ZERO:
                add_hit(hits, l, air.soft[j, 0], air.soft[j, 1] * share, air_code(np.uint32(air.soft_kind)))
