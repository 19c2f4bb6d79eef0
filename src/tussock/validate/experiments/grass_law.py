"""Grass law: how deep a spreading beam reaches into a stand of stems (Goodin et al. 2018, section 3.4.1).

A stand is 10 m wide and 5 m deep, with λ upright cylinders of diameter d a square metre. A single beam of 1 mrad
looks into it from a distance D, at a lateral place that chance chooses, and reports the mean range of all its
rays (mode first, cutoff 100 m).

The gamma law, eqs (4) and (5): depth x = r − D has the shape α = 1 + γD² and the mean 1/λd. The exponential law,
eq (2), is printed with (r + D)², which is no density; its derivative is one with (r + D)/2, and so it is taken
here. Both laws are cut to the stand's 5 m and normalised there.

Stems have 24 flat sides, with a radius at which their mean shadow is exactly d wide.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.arrays import FloatArray
from tussock.plots.report_figures import BLUE, GREY, ORANGE, plotting
from tussock.poses import Pose, Trajectory
from tussock.sampler import Sampler
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import cylinder
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance
from tussock.sensors.beam import Beam
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial

__all__ = ["EXPERIMENT", "Case", "depths_in_stands", "exponential_law", "gamma_law"]

WIDTH, DEPTH, DIVERGENCE = 10.0, 5.0, 1e-3
_SIDES = 24


class Case(NamedTuple):
    density: int
    """λ [1/m²]"""
    diameter: float
    """d [m]"""
    distance: float
    """D [m]"""

    def __str__(self) -> str:
        return f"λ {self.density}, d {self.diameter * 1e3:.0f} mm, D {self.distance:.0f} m"


CASES = tuple(Case(l, d, D) for D in (20.0, 30.0) for l in (50, 100) for d in (0.01, 0.02))
PAPER_RAYS = Beam(divergence_horizontal_mrad=1.0, divergence_vertical_mrad=1.0, rays=9, sampling="stencil")
WHOLE_SPOT = Beam(divergence_horizontal_mrad=1.0, divergence_vertical_mrad=1.0, rays=64, sampling="sequence")
ONE_RAY = Beam()

MONTE_CARLO_MEAN = dict(zip(CASES, (1.594, 0.9631, 0.9698, 0.4931, 1.582, 0.9625, 0.9672, 0.4929), strict=True))
"""mean depth [m] by the 2-D Monte Carlo in tests/physics/stand_monte_carlo.py, to 0.3 %; a test computes it anew"""


def gamma_law(case: Case, depth: FloatArray) -> FloatArray:
    """Share of depths below ``depth`` [m] by eqs (4) and (5), within the stand."""
    from scipy.special import gammainc

    shape = 1 + DIVERGENCE * case.distance**2
    rate = shape * case.density * case.diameter
    return gammainc(shape, rate * np.clip(depth, 0, DEPTH)) / gammainc(shape, rate * DEPTH)


def exponential_law(case: Case, depth: FloatArray) -> FloatArray:
    """Share of depths below ``depth`` [m] by eq (2) with (r + D)/2, within the stand."""
    spread = 2 * np.tan(DIVERGENCE / 2)

    def below(x: Any) -> Any:
        return 1 - np.exp(-case.density * case.diameter * x * (1 + spread * (x + 2 * case.distance) / 2))

    return below(np.clip(depth, 0, DEPTH)) / below(DEPTH)


def kolmogorov_smirnov(depths: FloatArray, law: FloatArray) -> float:
    """Largest distance between the share of sorted ``depths`` and the ``law`` at them."""
    steps = np.arange(len(depths) + 1) / len(depths)
    return float(max(np.abs(law - steps[:-1]).max(), np.abs(law - steps[1:]).max()))


def stands_above_one_another(density: int, diameter: float, count: int, rng: Sampler) -> World:
    """``count`` stands of their own, one every 2 m of height: one world to build, one scan for all."""
    stems = int(density * WIDTH * DEPTH) * count
    radius = diameter / 2 * (np.pi / _SIDES) / np.sin(np.pi / _SIDES)
    stem = cylinder(radius, 1.0, sides=_SIDES, capped=False, material=Material(name="stem", reflectance=0.4))
    x, y = rng.uniform(0, DEPTH, stems), rng.uniform(-WIDTH / 2, WIDTH / 2, stems)
    z = 2.0 * (np.arange(stems) % count)
    scene = Scene("stands")
    scene.add(stem, placements=Placements.of(np.stack([x, y, z], 1), yaw=rng.uniform(0, 2 * np.pi, stems)))
    return World(scene)


def single_beam(beam: Beam, pulses: int) -> Sensor:
    """One beam straight ahead, fired ``pulses`` times a frame; no noise of its own."""
    rate = 1e6
    return Sensor(
        name="single-beam",
        pattern=GridPattern(azimuth_deg=(0.0,) * pulses, elevation_deg=(0.0,), pulse_hz=rate, frame_hz=rate / pulses),
        beam=beam,
        receiver=Receiver(model="hits", mode="first", signal_cutoff_m=100.0, max_range_m=100.0),
    )


def depths_in_stands(beam: Beam, *, stands: int, pulses: int, seed: int) -> dict[Case, FloatArray]:
    """Sorted depths r − D [m] of every case: ``pulses`` into each of ``stands`` stands, each grown by chance."""
    rng = chance("stands", seed)
    sensor = single_beam(beam, stands * pulses)
    times = np.append(sensor.pulses().offsets, sensor.frame_period)
    depths = {}
    for density, diameter in sorted({(case.density, case.diameter) for case in CASES}):
        world = stands_above_one_another(density, diameter, stands, rng)
        for distance in sorted({case.distance for case in CASES}):
            # The sensor is somewhere else at every pulse: a trajectory with a knot for each.
            aside = rng.uniform(-WIDTH / 2 + 0.1, WIDTH / 2 - 0.1, len(times))
            up = 2.0 * (np.arange(len(times)) % stands)
            places = np.stack([np.full_like(aside, -distance), aside, up], 1)
            path = Trajectory(times, places, np.tile(Pose().quaternion, (len(times), 1)))
            frame = scan(world, sensor, path, seed=seed)
            depths[Case(density, diameter, distance)] = np.sort(frame.range.astype(float) - distance)
    return depths


def _run(trial: Trial) -> Outcome:
    stands, pulses = (30, 1000) if trial.quick else (60, 1000)
    trial.doing("nine rays a pulse")
    depths = depths_in_stands(
        PAPER_RAYS if trial.has("beam") else ONE_RAY, stands=stands, pulses=pulses, seed=trial.seed
    )
    trial.doing("the whole spot")
    whole = depths_in_stands(WHOLE_SPOT, stands=stands // 5, pulses=pulses, seed=trial.seed)

    rows, off = [], []
    for case in CASES:
        seen = depths[case]
        off.append(seen.mean() / MONTE_CARLO_MEAN[case] - 1)
        rows.append(
            (
                case.density,
                case.diameter * 1e3,
                case.distance,
                1 + DIVERGENCE * case.distance**2,
                len(seen),
                seen.mean(),
                MONTE_CARLO_MEAN[case],
                kolmogorov_smirnov(seen, gamma_law(case, seen)),
                kolmogorov_smirnov(seen, exponential_law(case, seen)),
                kolmogorov_smirnov(whole[case], gamma_law(case, whole[case])),
            )
        )
    gamma, exponential = np.array([row[7] for row in rows]), np.array([row[8] for row in rows])
    criteria = (
        Criterion(
            "largest KS distance to the gamma law, eight cases",
            gamma.max(),
            most=0.10,
            paper="“match well qualitatively” (fig. 5)",
        ),
        Criterion(
            "cases in which gamma is nearer than exponential",
            float((gamma < exponential).sum()),
            least=6,
            most=8,
            paper="gamma “a better predictor”",
        ),
        Criterion("mean depth off the 2-D Monte Carlo, worst case", float(np.abs(off).max()) * 100, "%", most=3.0),
    )
    table = Table(
        "Ranges into a stand of stems",
        (
            "λ [1/m²]",
            "d [mm]",
            "D [m]",
            "α, eq (4)",
            "returns",
            "mean depth [m]",
            "2-D Monte Carlo [m]",
            "KS gamma",
            "KS exponential",
            "KS gamma, whole spot",
        ),
        tuple(rows),
        "KS is the Kolmogorov-Smirnov distance on 0–5 m; the last column spreads 64 rays over the whole spot.",
    )
    return Outcome(criteria, (table,), (_figure(depths),), _NOTES)


def _figure(depths: dict[Case, FloatArray]) -> Figure:
    at = np.linspace(0, DEPTH, 400)
    with plotting(2, 4, size=(11.0, 5.0), sharex=True) as picture:
        for axes, case in zip(picture.axes.flat, CASES, strict=True):
            axes.hist(depths[case], bins=50, range=(0, DEPTH), density=True, color="#d5dbe1", label="simulated")
            axes.plot(at, np.gradient(gamma_law(case, at), at), color=BLUE, label="gamma law")
            axes.plot(at, np.gradient(exponential_law(case, at), at), color=ORANGE, ls="--", label="exponential law")
            axes.axvline(depths[case].mean(), color=GREY, lw=1, ls=":", label="simulated mean")
            axes.set_title(str(case))
            axes.set_xlim(0, DEPTH)
        for axes in picture.axes[-1]:
            axes.set_xlabel("depth into the stand [m]")
        for axes in picture.axes[:, 0]:
            axes.set_ylabel("share per metre [1/m]")
        picture.axes[0, 0].legend()
    return Figure(
        "Depth of returns in grass, as fig. 5 of the paper",
        picture.png,
        "The most likely depth lies inside the stand, not at its edge: the gamma law has that, the exponential not.",
    )


_NOTES = (
    "The paper compares by eye and gives no distance. The law holds for the paper's own nine rays, whose ring has "
    "0.35 of the spot's radius. Rays over the whole spot meet more stems than α = 1 + γD² allows for, thin ones "
    "above all: with 10 mm stems the true ranges are then narrower than the gamma law (last column).",
    "With stems of 20 mm at 100 a square metre both laws are about equally near: the rays of the stencil, 7 to 11 "
    "mm apart, nearly always meet the same stem.",
    "Eq (2) as printed, with (r + D)², integrates to 0.54 to 0.56 at 20 m and 0.36 at 30 m; the curve here is its "
    "consistent form. Normalised, the printed one is further from the 2-D Monte Carlo than both curves in all cases.",
)

EXPERIMENT = Experiment(
    name="grass-law",
    title="How deep a beam reaches into grass",
    paper="Goodin et al. 2018, section 3.4.1, fig. 5",
    setup=(
        "Stands of upright stems, 10 m wide and 5 m deep, 50 or 100 a square metre, 10 or 20 mm thick. A single beam "
        "of 1 mrad, nine rays, looks in from 20 or 30 m at random lateral places and reports the mean of its rays "
        "(first, cutoff 100 m). Ranges of many stands against the gamma law and the exponential law."
    ),
    run=_run,
    effects={"beam": "a single ray a pulse: nothing is averaged, and ranges are exponential"},
)
