"""Which sub-rays of a group of pulses go into one packet: rays that lie close together are traced together.

Sixteen sub-rays of one pulse start at one place and stay within a few centimetres of each other, so Embree takes them through
its trees as one: two to three and a half times as many rays a second as with one sub-ray of each of sixteen lasers, which
meet sixteen different things. A pulse of more than sixteen sub-rays takes several packets, filled evenly; a pulse of five to
fifteen has a packet to itself, which is worth its idle lanes. With fewer, `FEW`, a packet holds one sub-ray of every pulse, and
the pulses are those of one laser that follow each other: they lie closer together than what different lasers fire at a time,
and are traced 1.1 to 2.5 times as fast. That changes only which pulses make a group, within the sixteen rounds of all lasers
that are fired one after the other; chance, rows and times are those of each pulse's own number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Whole, inline_kernel
from tussock.pulse.tables import Firing, Lot, Part
from tussock.randomness import Chance
from tussock.trace.packets import LANES

__all__ = [
    "FEW",
    "apart_in_groups",
    "lanes_of",
    "lot_of",
    "number_of",
    "packets_of",
    "part_of",
    "pulse_number",
    "pulse_of",
    "some_of",
]

FEW = 5
"""sub-rays of a pulse from which on they are traced together"""
_MOST_APART = 256


def apart_in_groups(lasers: NDArray[np.uint16], rays: int) -> int:
    """`Firing.apart` of pulses with so many sub-rays: how many lasers take turns, if they do so in the same order throughout."""
    if rays >= FEW or len(lasers) < 2:
        return 1
    again = np.flatnonzero(lasers[1 : _MOST_APART + 1] == lasers[0])
    apart = int(again[0]) + 1 if len(again) else 1
    return apart if bool((lasers[apart:] == lasers[:-apart]).all()) else 1


@inline_kernel
def lot_of(firing: Firing, at: int, chance: Chance) -> Lot:
    """The group that comes after ``at`` pulses in groups, a multiple of 16."""
    pulses, apart = len(firing.lasers), firing.apart
    round_of_all = LANES * apart
    if at < pulses // round_of_all * round_of_all:
        return Lot(at // round_of_all * round_of_all + at % round_of_all // LANES, apart, LANES, chance)
    return Lot(at, 1, min(LANES, pulses - at), chance)


@inline_kernel
def pulse_number(lot: Lot, l: int) -> Whole:
    """Number of the pulse in lane ``l`` of a group."""
    return lot.first + l * lot.apart


@inline_kernel
def packets_of(rays: int) -> int:
    """Packets of a group of pulses with so many sub-rays each."""
    return rays if rays < FEW else LANES * _packets_a_pulse(rays)


@inline_kernel
def part_of(packet: int, rays: int) -> Part:
    """What packet number ``packet`` of a group holds, of pulses with so many sub-rays."""
    if rays < FEW:
        return Part(False, 0, packet, LANES)
    each = _packets_a_pulse(rays)
    return some_of(packet // each, packet % each, 0, rays)


@inline_kernel
def some_of(pulse: int, packet: int, begin: int, end: int) -> Part:
    """The sub-rays from ``begin`` to ``end`` of a pulse in as few packets as hold them: packet number ``packet``."""
    each = _packets_a_pulse(end - begin)
    width = (end - begin + each - 1) // each
    ray = begin + packet * width
    return Part(True, pulse, ray, min(width, end - ray))


@inline_kernel
def _packets_a_pulse(rays: int) -> int:
    return (rays + LANES - 1) // LANES


@inline_kernel
def lanes_of(part: Part, pulses: int) -> int:
    """How many lanes of a packet, from the first on, belong to the first ``pulses`` of the group."""
    if part.along:
        return part.used if part.pulse < pulses else 0
    return pulses


@inline_kernel
def pulse_of(part: Part, l: int) -> Whole:
    """Place in the group of the pulse that lane ``l`` of a packet belongs to."""
    return part.pulse if part.along else l


@inline_kernel
def number_of(part: Part, l: int) -> Whole:
    """Number of the sub-ray in lane ``l`` of a packet."""
    return part.ray + l if part.along else part.ray
