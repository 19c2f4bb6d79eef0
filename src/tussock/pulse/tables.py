"""What the loop over pulses reads and writes, as plain arrays and numbers."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import kernel
from tussock.randomness import Chance
from tussock.signal.air import Air
from tussock.signal.compact import Gathered, Peaks
from tussock.signal.detection import Limit
from tussock.signal.echoes import ECHOES, Echoes, PulseHits
from tussock.signal.media import Media
from tussock.signal.returns import Window
from tussock.signal.waveform import NODES
from tussock.trace.packets import LANES, Packet
from tussock.trace.placed_volumes import VolumeWalk
from tussock.trace.surroundings import Surroundings

__all__ = [
    "AirScratch", "Chosen", "DropScratch", "Ended", "Firing", "Heard", "Hits", "Listening", "Lot", "Part", "PoseTable", "Probed", "Receiving", "Recording", "Scanning", "Scratch", "Slots", "Summits",
    "Waiting", "new_chosen", "new_heard", "new_hits",
]  # fmt: skip


_LATER = 0  # numbers of the peaks of a pulse that are found in the end: all are found at once


class Spot(IntEnum):
    """Where the sub-rays of a pulse go."""

    STENCIL = 0
    """to the same places in every pulse"""
    ROUND = 1
    """anywhere on a disc or an ellipse, sampled afresh for every pulse"""
    SQUARE = 2
    """anywhere on a rectangle, sampled afresh for every pulse"""


class Firing(NamedTuple):
    """What leaves the sensor."""

    directions: NDArray[np.float32]
    """unit vectors, sensor frame, shape (n, 3)"""
    origins: NDArray[np.float32]
    """[m], sensor frame, shape (n, 3), or (1, 3) for all"""
    offsets: NDArray[np.float64]
    """[s] since the start of the frame, shape (n,)"""
    lasers: NDArray[np.uint16]
    """shape (n,)"""
    apart: int
    """pulses of a group are so many apart; 1: they are fired one after the other (`tussock.pulse.sub_rays`)"""
    stencil: NDArray[np.float32]
    """share of the axis, of left and of up in every sub-ray's unit direction, shape (sub-rays, 3)"""
    weights: NDArray[np.float32]
    """what every sub-ray carries of the pulse, shape (sub-rays,); 1 for a receiver that looks at hits one by one"""
    columns: NDArray[np.float32]
    """the columns of ``stencil`` and ``weights`` as four rows, the last entry repeated so that sixteen from any on can be read,
    shape (4, sub-rays + 16)"""
    fall: np.float32
    """a sub-ray that is drawn carries exp(−fall·ρ²) of its weight, ρ its place between axis and edge; 0: all of it"""
    spot: int
    """a `Spot`"""
    half_width: np.float32
    """half of the spot one metre ahead [m]"""
    half_height: np.float32
    pointing_sigma: np.float32
    """[rad] of the true direction about the reported one"""
    period: float
    """[s] length of the frame: ray time 1"""
    probes: int
    """sub-rays of every pulse; the others only where a spot is torn (`tussock.pulse.adaptive`). As many as there are: all"""
    stand_for: NDArray[np.float32]
    """how many times its own weight each probe stands for, shape (probes,); or empty"""
    off_plane: NDArray[np.float32]
    """takes the inverse depths of the probes to what no plane explains of them, shape (probes, probes); or empty"""


class PoseTable(NamedTuple):
    """Poses of the sensor, so dense that straight lines between them are exact enough."""

    times: NDArray[np.float64]
    """[s] since the start of the frame, shape (k,); one row: the sensor stands"""
    positions: NDArray[np.float64]
    """[m], tracer's coordinates, shape (k, 3)"""
    quaternions: NDArray[np.float64]
    """(x, y, z, w), neighbours in the same hemisphere, shape (k, 4)"""


class Listening(NamedTuple):
    """What a receiver of echoes does; see `tussock.signal`."""

    sigma: np.float32
    """[m] of the pulse"""
    separation: np.float32
    """[m]"""
    scale: np.float32
    """signal-to-noise ratio of a white wall one metre away; 0: not known, every echo is seen"""
    exponent: np.float32
    threshold: np.float32
    floor: np.float32
    """[m²] of the range noise, and so the next two"""
    shot: np.float32
    thermal: np.float32
    ceiling: np.float32
    full: np.float32
    walk: np.float32
    """[m] σ of the pulse times the share of the range walk that is left"""
    calibrated: np.float32
    """[σ] leading edge of the signal that the walk is calibrated with"""
    false_alarms: np.float32
    interference: np.float32


class Receiving(NamedTuple):
    """What the receiver does; see `tussock.sensors.receiver` and `tussock.sensors.noise`."""

    echoes: bool
    """whether it looks for echoes in the waveform, or at hits one by one"""
    mode: int
    """place in `tussock.return_modes.MODES`"""
    listening: Listening
    window: Window
    min_range: np.float32
    max_range: np.float32
    range_step: np.float32
    intensity_step: np.float32
    min_intensity: np.float32
    spreading_reference: np.float32
    """[m] that intensities are given for, where the sensor does not make up for the distance"""
    loss_reference: np.float32
    """[m] that the energies of hits are given for; 0: as if there were no distance"""
    extinction: np.float32
    limit: Limit
    backfolding: bool
    bounces: int
    ray_sigma: np.float32
    laplace: bool
    dropout: np.float32
    biases: NDArray[np.float32]
    """[m], one a laser"""
    media: Media
    """what the sensor stands in"""


class Scanning(NamedTuple):
    """All that a scan reads."""

    around: Surroundings
    firing: Firing
    poses: PoseTable
    receiving: Receiving
    chance: Chance
    air: Air


class Lot(NamedTuple):
    """A group of up to sixteen pulses: lane ``l`` has number ``first + l · apart``."""

    first: int
    apart: int
    lanes: int
    """how many there are"""
    chance: Chance
    """that of their frame"""


class Part(NamedTuple):
    """The sub-rays of a group of pulses that one packet holds; see `tussock.pulse.sub_rays`."""

    along: bool
    """whether it holds several sub-rays of one pulse, or one of every pulse"""
    pulse: int
    """which one of the group, 0 where it is every pulse"""
    ray: int
    """number of the first sub-ray, which is in lane 0"""
    used: int
    """lanes in use, from the first on"""


class Hits(NamedTuple):
    """What sixteen pulses met: one column a pulse, one row a sub-ray, then rows for rays that went on."""

    ranges: NDArray[np.float32]
    """optical path [m], shape (rows, lanes)"""
    energies: NDArray[np.float32]
    """what came back, 0 for nothing, shape (rows, lanes)"""
    ids: NDArray[np.uint32]
    """geometry, primitive and copy, shape (3, rows, lanes)"""
    used: NDArray[np.int64]
    """rows in use in every lane"""


class Chosen(NamedTuple):
    """The return of every lane that is being made; shape (lanes,)."""

    rows: NDArray[np.int32]
    """row of its hit, −1 for none"""
    ranges: NDArray[np.float32]
    energies: NDArray[np.float32]
    measured: NDArray[np.float32]
    draws: NDArray[np.float32]
    """range noise in standard deviations"""
    words: NDArray[np.uint32]
    """what the noise is drawn from, shape (2, lanes)"""
    draw_numbers: NDArray[np.uint32]
    """which of the pulse's draws it takes"""
    earlier: NDArray[np.float32]
    """range of the return before it"""
    order: NDArray[np.int64]
    """mode all: rows of the hits by range, shape (lanes, rows)"""
    begins: NDArray[np.int64]
    """mode all: place in the order where the next echo begins"""
    ends: NDArray[np.int64]
    """mode all: how many hits are in order"""


class Heard(NamedTuple):
    """What a receiver of echoes makes of sixteen pulses; but for the first three, shape (echoes, lanes)."""

    gathered: Gathered
    peaks: Peaks
    pulse_hits: PulseHits
    echoes: Echoes
    ranges: NDArray[np.float32]
    """[m] as measured"""
    intensities: NDArray[np.float32]
    signals: NDArray[np.float32]
    """−1 for an echo that is lost"""
    speed_draws: NDArray[np.float32]
    """deviates of the radial speed"""
    draws: NDArray[np.float32]
    """deviates of range and signal of the echo that is measured, shape (2, lanes)"""
    words: NDArray[np.uint32]
    """what they are drawn from, shape (4, lanes)"""
    ratios: NDArray[np.float32]
    """signal-to-noise ratio of the echo that is measured, shape (lanes,), and so the rest"""
    sigmas: NDArray[np.float32]
    """[m]"""
    walks: NDArray[np.float32]
    """[m]"""
    biases: NDArray[np.float32]
    """[m]"""
    held: NDArray[np.float32]
    """[m²] of the range noise, which the echo has from where it comes from, shape (echoes, lanes)"""
    soft: NDArray[np.int32]
    """the peak of the air's continuum as a row: −2 − its kind, −1 for none"""


class Waiting(NamedTuple):
    """The stack of rays still to be traced; see `tussock.pulse.follow`."""

    numbers: NDArray[np.float32]
    """the numbers of `Ray` and `Travel`, shape (depth, 19)"""
    lanes: NDArray[np.int64]
    """the lane of the pulse that a ray belongs to, shape (depth,)"""
    taken: NDArray[np.float32]
    """those of the packet that is traced; the stack may already grow over them"""
    owners: NDArray[np.int64]
    pulses: NDArray[np.int64]
    """numbers of their pulses"""
    stands_for: NDArray[np.float32]
    """`Travel.stands_for` of sub-rays that go through leaves, shape (1,)"""


class DropScratch(NamedTuple):
    """The drops that sixteen pulses meet, one after the other, each pulse's in order; see `tussock.pulse.drops.meet`."""

    counts: NDArray[np.int64]
    """of every pulse, shape (lanes,)"""
    lanes: NDArray[np.int32]
    """of the pulse"""
    numbers: NDArray[np.int32]
    """among those that were drawn for the pulse"""
    laws: NDArray[np.int32]
    """row of `Air.laws`"""
    paths: NDArray[np.float32]
    """[m]"""
    energies: NDArray[np.float32]
    taken: NDArray[np.float32]
    """share of the light that a drop takes"""
    hazes: NDArray[np.float32]
    """an even number that draws what the echo of a drop stands on"""
    gaps: NDArray[np.float32]
    """exponential numbers, whose sums are where drops are"""
    sizes: NDArray[np.uint32]
    """chance of the size"""
    choices: NDArray[np.uint32]
    """chance of the sub-ray and the kind"""
    least: NDArray[np.float32]
    """[mm] diameter that is drawn"""
    words: NDArray[np.uint32]
    """chance, shape (4 · lanes,)"""
    shadows: NDArray[np.float32]
    """[m] where the first drop of every lane is, and the second, and so on; shape (drops, lanes)"""
    left: NDArray[np.float32]
    """share of the light that each leaves, shape (drops, lanes)"""
    room: NDArray[np.float32]
    """numbers of every pulse"""
    nearest: NDArray[np.float32]
    """[m] the first drop of every pulse, shape (lanes,)"""
    sums: NDArray[np.float32]
    """energies of all its drops"""
    found: NDArray[np.int64]
    """how many there are, shape (1,)"""


class Summits(NamedTuple):
    """Drops of sixteen pulses among their echoes, in the order of pulse and path; see `tussock.pulse.drops.hear`."""

    paths: NDArray[np.float32]
    energies: NDArray[np.float32]
    lanes: NDArray[np.int32]
    rows: NDArray[np.int32]
    """as those of echoes"""
    hazes: NDArray[np.float32]
    """as those of drops"""
    tops: NDArray[np.float32]
    """[m] of the peak that each climbed to, and its height"""
    heights: NDArray[np.float32]
    top_lanes: NDArray[np.int32]
    top_rows: NDArray[np.int32]
    top_hazes: NDArray[np.float32]
    means: NDArray[np.float32]
    """of the haze"""
    spreads: NDArray[np.float32]
    signals: NDArray[np.float32]
    """−1 where it is not seen"""
    room: NDArray[np.float32]
    """for climbing"""
    around: NDArray[np.float32]
    words: NDArray[np.uint32]
    """chance, shape (2 · lanes,)"""
    best: NDArray[np.float32]
    """the strongest signal of a drop of every pulse, shape (lanes,), and so the next"""
    bound: NDArray[np.float32]
    """[m] nearer drops are too faint to be reported"""


class AirScratch(NamedTuple):
    """Room for the drops and clouds of sixteen pulses; see `tussock.pulse.clouds`."""

    parts: NDArray[np.float32]
    """those on its axis"""
    across: NDArray[np.float32]
    """those on the axes of sixteen pulses, cloud by cloud"""
    ends: NDArray[np.float32]
    """numbers of every axis"""
    near: NDArray[np.int32]
    """those that may be"""
    room: NDArray[np.float32]
    """for sums over them; see `tussock.signal.clouds`"""
    drops: DropScratch
    summits: Summits


class Ended(NamedTuple):
    """Where the beam of every lane ends in volumes; rows: its first and its second return."""

    returns: NDArray[np.int64]
    """how many there are, shape (lanes,)"""
    distances: NDArray[np.float32]
    """[m] along the ray, shape (2, lanes)"""
    volumes: NDArray[np.int64]
    """−1 for none, shape (2, lanes)"""
    copies: NDArray[np.int64]
    """shape (2, lanes)"""


class Probed(NamedTuple):
    """What the first sub-rays of every lane say; see `tussock.pulse.adaptive`."""

    torn: NDArray[np.int32]
    """1 where they do not meet one surface, shape (lanes,)"""
    inverse: NDArray[np.float32]
    """[1/m] of their depths, shape (probes, lanes)"""


class Scratch(NamedTuple):
    """Memory that a worker uses again for every group of pulses."""

    packet: Packet
    second: Packet
    """the rays that look behind vegetation"""
    turn: NDArray[np.float64]
    """pose of every lane"""
    aim: NDArray[np.float32]
    """origin and axes of every lane in the world"""
    errors: NDArray[np.float32]
    """range error of every lane and what it is drawn from"""
    pulses: NDArray[np.int64]
    """number of the pulse that each ray of a packet belongs to, where volumes ask for it"""
    hits: Hits
    chosen: Chosen
    heard: Heard
    weights: NDArray[np.float32]
    """what each ray of a packet carries of its pulse"""
    energies: NDArray[np.float32]
    """what comes back of it"""
    films: NDArray[np.float32]
    """share of the surface that it met which is under a film of water"""
    waiting: Waiting
    walk: VolumeWalk
    ended: Ended
    air: AirScratch
    probed: Probed


class Recording(NamedTuple):
    """Room for the waveforms of every pulse; no rows where none are asked for."""

    starts: NDArray[np.float32]
    """[m] of the first sample, NaN where nothing came back, shape (n,)"""
    samples: NDArray[np.float32]
    """shape (n, samples)"""
    step: np.float32
    """[m] from one sample to the next"""
    lead: np.float32
    """[m] before the nearest hit"""
    noisy: bool


class Slots(NamedTuple):
    """Room for the returns of every pulse, shape (n, returns a pulse); `counts` says how many are there."""

    counts: NDArray[np.uint8]
    """shape (n,)"""
    true_range: NDArray[np.float32]
    range: NDArray[np.float32]
    intensity: NDArray[np.float32]
    signal: NDArray[np.float32]
    """over the noise, where that is known"""
    speed: NDArray[np.float32]
    """deviates of the radial speed; shape (n, 0) where none is measured"""
    geometry: NDArray[np.uint32]
    primitive: NDArray[np.uint32]
    copy: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    recording: Recording


@kernel
def new_hits(rays: int, extra: int) -> Hits:
    """Room for one hit a sub-ray and ``extra`` hits of rays that went on, in every lane."""
    rows = rays + extra
    return Hits(
        np.zeros((rows, LANES), np.float32),
        np.zeros((rows, LANES), np.float32),
        np.zeros((3, rows, LANES), np.uint32),
        np.full(LANES, rays),
    )


@kernel
def new_chosen(rows: int) -> Chosen:
    """Room for the return of every lane, out of ``rows`` hits."""
    return Chosen(
        rows=np.zeros(LANES, np.int32),
        ranges=np.zeros(LANES, np.float32),
        energies=np.zeros(LANES, np.float32),
        measured=np.zeros(LANES, np.float32),
        draws=np.zeros(LANES, np.float32),
        words=np.zeros((2, LANES), np.uint32),
        draw_numbers=np.zeros(LANES, np.uint32),
        earlier=np.zeros(LANES, np.float32),
        order=np.zeros((LANES, rows), np.int64),
        begins=np.zeros(LANES, np.int64),
        ends=np.zeros(LANES, np.int64),
    )


@kernel
def new_heard(rows: int) -> Heard:
    """Room for the echoes of every lane, out of ``rows`` hits."""
    f4 = np.float32
    return Heard(
        Gathered(
            np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4),
            np.zeros(LANES, f4), np.zeros(LANES, np.int32), np.zeros(LANES, f4),
        ),
        Peaks(np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4)),
        PulseHits(
            np.zeros(rows, f4), np.zeros(rows, f4), np.zeros(rows, np.int32), np.zeros(rows, np.uint64),
            np.zeros(4 * NODES, f4), np.zeros(_LATER, f4),
        ),
        Echoes(
            np.ones((ECHOES, LANES), f4), np.zeros((ECHOES, LANES), f4), np.zeros((ECHOES, LANES), np.int32),
            np.zeros(LANES, np.int64),
        ),
        np.zeros((ECHOES, LANES), f4), np.zeros((ECHOES, LANES), f4), np.zeros((ECHOES, LANES), f4),
        np.zeros((ECHOES, LANES), f4), np.zeros((2, LANES), f4), np.zeros((4, LANES), np.uint32),
        np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4),
        np.zeros((ECHOES, LANES), f4), np.full(LANES, -1, np.int32),
    )  # fmt: skip
