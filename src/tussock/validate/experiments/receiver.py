"""The receiver that a real sensor has: energy, echoes, detection and noise against closed forms, and convergence.

No paper of the five has it; the closed forms are those of `tussock.signal`. A wire, a step and a wall have known
energies. A wall at the distances that a data sheet names must be seen as often as it says, with the noise it says. In
haze, where the echo of a wall fades as exp(−2κr), the share of pulses that are seen follows from the sheet too. And
what is reported of a shrub, a meadow and a forest must not depend on how many sub-rays sample the beam.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

from tussock.frames.frame import Frame
from tussock.listening import ratio_of
from tussock.plots.report_figures import BLUE, GREY, ORANGE, plotting
from tussock.poses import Pose
from tussock.return_modes import MODES
from tussock.scene.material import Material
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scenes.ready import ready_pose, ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.signal.waveform import pulse_sigma_m
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial

__all__ = ["EXPERIMENT"]

SHEET = ["10 % at 50 m with probability 0.9", "80 % at 120 m with probability 0.9"]
"""what the sheet of the HDL-64E names, as BlenSor quotes it"""
POINTS = ((0.1, 50.0), (0.8, 120.0))
SIGMA, STATED = 0.02, {"reflectivity": 0.8, "distance_m": 60.0}
QUICK_MODES = ("strongest", "last", "first", "all")
COUNTS = (9, 32, 64, 256)
PLACES = ("shrub", "meadow", "forest-trail")
WIRE, SPOT = 0.065, 0.1  # share of the beam that the wire fills, half width of the beam where it is [m]


def bundle(trial: Trial, across: int, **changes: Any) -> Sensor:
    """``across``² pulses within a degree, all sent straight ahead, as good as the effects that are left allow."""
    angles = {"first": 0.5, "last": -0.5, "count": across} if across > 1 else [0.0]
    pattern = {"kind": "grid", "azimuth_deg": angles, "elevation_deg": angles, "frame_hz": 10.0}
    sensor = Sensor(name="bundle", pattern=pattern).with_(**{"receiver.max_range_m": 200.0, **changes})
    return without(trial, sensor)


def without(trial: Trial, sensor: Sensor) -> Sensor:
    """The sensor less the effect that is switched off."""
    changes: dict[str, Any] = {}
    if not trial.has("echoes"):
        changes["receiver.model"] = "hits"
    if not trial.has("beam"):
        changes["beam.rays"] = 1
    if not trial.has("sensitivity"):
        changes["receiver.detects"] = ()
    if not trial.has("noise-law"):
        changes["noise.stated_at"] = None
    return sensor.with_(**changes)


def wall(distance: float, reflectance: float, *, left: float = -20.0) -> Scene:
    """A wall across the way from ``left`` [m] on; its face is at the distance."""
    scene = Scene("wall")
    grey = Material(name="grey", reflectance=reflectance)
    scene.add(box((0.2, 40.0, 40.0), material=grey), name="wall", position=(distance + 0.1, left + 20.0, 0))
    return scene


def wire() -> Scene:
    """A wire across the beam 10 m ahead, of reflectance 0.5, flat as seen from the sensor, and nothing behind it."""
    scene = Scene("wire")
    metal = Material(name="metal", reflectance=0.5)
    scene.add(box((1e-3, 2 * SPOT * WIRE, 5.0), material=metal), name="wire", position=(10.0005, 0.013, 0))
    return scene


def step(apart: float) -> Scene:
    """Two walls, one half in front of the other by ``apart`` [m], the edge in the middle of the beam."""
    scene = Scene("step")
    grey = Material(name="grey", reflectance=0.5)
    for name, at, left in (("near", 10.0, 0.0), ("far", 10.0 + apart, -20.0)):
        scene.add(box((0.01, 40.0, 40.0), material=grey), name=name, position=(at + 0.005, left + 20.0, 0))
    return scene


def of_energy(trial: Trial) -> list[Criterion]:
    """What fills a known share of the beam has that share of the energy."""
    wide = {"beam.shape": "rectangle", "beam.divergence_horizontal_mrad": 20.0, "beam.divergence_vertical_mrad": 20.0}
    beam = bundle(trial, 1, **wide, **{"beam.rays": 1024, "beam.sampling": "sequence", "receiver.mode": "all"})
    thin = scan(wire(), beam)
    far = scan(step(2.0), beam)
    sigma = pulse_sigma_m(beam.receiver.pulse_fwhm_ns)
    near = scan(step(sigma), beam)
    two = len(far) == 2
    return [
        Criterion("intensity of a wire in 6.5 % of the beam", _sum(thin), least=0.0309, most=0.0341),
        Criterion("echoes of two walls 2 m apart, half the beam each", len(far), least=2, most=2),
        Criterion(
            "energies of the two, worst off one half",
            100 * float(np.abs(far.intensity / 0.25 - 1).max()) if two else np.inf, "%", most=2.0,
        ),
        Criterion(
            "ranges of the two, worst", 1e3 * float(np.abs(far.range - [10.0, 12.0]).max()) if two else np.inf, "mm",
            most=2.0,
        ),
        Criterion("echoes of two walls a pulse's σ apart", len(near), least=1, most=1),
        Criterion(
            "their one echo's height off exp(−1/8)", 100 * abs(_sum(near) / (0.5 * np.exp(-1 / 8)) - 1), "%", most=2.0
        ),
    ]  # fmt: skip


def _sum(frame: Frame) -> float:
    return float(frame.intensity.sum())


def of_one_measurement(trial: Trial) -> list[Criterion]:
    """What is reported twice is one measurement; the last return is never nearer than the first."""
    scene = Scene("wall and ground")
    scene.add(plane((400.0, 400.0)), name="ground", position=(0, 0, -2))
    scene.add(box((0.2, 40.0, 6.0)), name="wall", position=(15.1, 0, 1))
    both = without(trial, load_sensor("hdl-64e-s3-dual").with_(**{"beam.rays": 9, "rotation_hz": 20.0}))
    frame = scan(scene, both, seed=trial.seed)
    first, second = frame.select(frame.return_number == 1), frame.select(frame.return_number == 2)
    alone = first.return_count == 2 if len(first) == len(second) else np.zeros(0, bool)
    same = (first.range == second.range) & (first.intensity == second.intensity) if len(alone) else alone
    ends = without(trial, load_sensor("vlp-16").with_(**{"beam.rays": 16}))
    if trial.has("echoes"):
        ends = ends.with_(**{"receiver.mode": "first+last"})
        torn = scan(ready_scene("shrub", seed=trial.seed), ends, ready_pose("shrub"), seed=trial.seed)
        front, back = torn.select(torn.return_number == 1), torn.select(torn.return_number == 2)
        wrong = int((back.range < front.range).sum()) if len(front) == len(back) else len(torn)
    else:
        wrong = 0
    return [
        Criterion(
            "wall and ground: strongest and last the same to the last bit",
            100 * float(same.mean()) if len(same) else 0.0, "%", least=100.0,
        ),
        Criterion("shrub: pulses whose last is nearer than their first", wrong, most=0),
    ]  # fmt: skip


def of_detection(trial: Trial) -> tuple[list[Criterion], Table, Figure]:
    """Walls at the sheet's distances, between and beyond, with and without haze."""
    across = 120 if trial.quick else 300
    sheet = {"receiver.detects": SHEET, "noise.ray_sigma_m": SIGMA, "noise.stated_at": STATED}
    sensor = bundle(trial, across, **sheet)
    whole = bundle(Trial(), across, **sheet)

    def seen(reflectivity: float, distance: float, kappa: float = 0.0) -> tuple[float, float]:
        lit = sensor.with_(**{"receiver.extinction_per_m": kappa if trial.has("extinction") else 0.0})
        frame = scan(wall(distance, reflectivity), lit, seed=trial.seed)
        off = frame.range - frame.true_range
        return len(frame) / across**2, float(off.std()) if len(frame) else 0.0

    def expected(reflectivity: float, distance: float, kappa: float = 0.0) -> float:
        ratio = ratio_of(whole, reflectivity * np.exp(-2 * kappa * distance), distance)
        return NormalDist().cdf(ratio - whole.receiver.threshold_snr)

    at_points = [seen(*point)[0] for point in POINTS]
    noise = seen(STATED["reflectivity"], STATED["distance_m"])[1]
    weak, strong = seen(0.1, 45.0)[1], seen(0.8, 6.0)[1]
    hazy = [(d, kappa) for kappa in (0.005, 0.02) for d in (20.0, 30.0, 40.0, 60.0)]
    pairs = [(seen(0.5, d, kappa)[0], expected(0.5, d, kappa)) for d, kappa in hazy]
    curve = {
        rho: [(d, seen(rho, d)[0], expected(rho, d)) for d in np.linspace(0.5, 1.4, 10) * reach]
        for rho, reach in POINTS
    }
    drift = max(abs(got - law) for rows in curve.values() for _, got, law in rows)
    criteria = [
        Criterion("10 % at 50 m is seen", 100 * at_points[0], "%", least=88.0, most=92.0, paper="0.9, the sheet"),
        Criterion("80 % at 120 m is seen", 100 * at_points[1], "%", least=88.0, most=92.0, paper="0.9, the sheet"),
        Criterion("probability off Φ(s − T) at twenty walls, worst", 100 * drift, "%", most=2.0),
        Criterion("range noise at the sheet's target", 100 * noise / SIGMA, "% of its σ", least=98.0, most=102.0),
        Criterion("range noise of 10 % at 45 m over that of 80 % at 6 m", weak / max(strong, 1e-9), least=3.0),
        Criterion(
            "share seen in haze off the closed form, worst", 100 * max(abs(a - b) for a, b in pairs), "%", most=2.0
        ),
    ]
    table = Table(
        "A wall of 50 % in haze", ("distance [m]", "κ [1/m]", "seen", "closed form"),
        tuple((d, kappa, got, law) for (d, kappa), (got, law) in zip(hazy, pairs, strict=True)),
    )  # fmt: skip
    return criteria, table, _figure(curve)


def _figure(curve: dict[float, list[tuple[float, float, float]]]) -> Figure:
    with plotting(1, 1, size=(6.4, 4.0)) as picture:
        axes = picture.axes[0, 0]
        for (rho, rows), color in zip(curve.items(), (BLUE, ORANGE), strict=True):
            distances, got, law = zip(*rows, strict=True)
            axes.plot(distances, law, color=GREY, lw=1)
            axes.scatter(distances, got, color=color, s=18, label=f"{100 * rho:.0f} %")
        axes.scatter([d for _, d in POINTS], [0.9, 0.9], marker="+", s=90, color="black", label="the sheet")
        axes.set(xlabel="distance [m]", ylabel="share of pulses seen", ylim=(-0.02, 1.05))
        axes.legend()
    return Figure(
        "Detection against distance",
        picture.png,
        "The share of pulses that see a wall of 10 % and one of 80 % falls through the points of the sheet.",
    )


def sampled(trial: Trial, name: str, rays: int, mode: str) -> Sensor:
    """A spinning sensor with the beam of a VLP-16, few pulses and no noise of its own."""
    # Second returns are one in ten to twenty: for as many of them it takes more pulses.
    steps = (180 if trial.quick else 360) * (4 if mode == "second" else 1)
    pattern = {
        "kind": "spinning", "elevation_deg": {"first": -18.0, "last": 8.0, "count": 24}, "steps": steps,
        "rotation_hz": 10.0,
    }  # fmt: skip
    if name == "shrub":
        angles = {"first": 6.0, "last": -6.0, "count": (60 if trial.quick else 120) * (2 if mode == "second" else 1)}
        pattern = {"kind": "grid", "azimuth_deg": angles, "elevation_deg": angles, "frame_hz": 10.0}
    sensor = load_sensor("vlp-16")
    changes = {"pattern": pattern, "receiver.range_step_m": 0.0, "receiver.intensity_step": 0.0, "packets": None}
    sensor = sensor.with_(**changes, **{"beam.rays": rays, "receiver.mode": mode, "noise.ray_sigma_m": 0.0})
    return without(trial, sensor)


def of_convergence(trial: Trial) -> tuple[list[Criterion], Table]:
    """Mean intensity, returns a pulse and quantiles of the range, from few sub-rays to many."""
    modes = QUICK_MODES if trial.quick or not trial.has("echoes") else MODES
    rows, worst = [], {"mean intensity": 0.0, "returns a pulse": 0.0, "quantiles of the range": 0.0}
    for name in PLACES if trial.has("echoes") else PLACES[:1]:
        world, place = World(ready_scene(name, seed=trial.seed)), _standing(ready_pose(name))
        for mode in modes:
            trial.doing(f"{name}, {mode}")
            figures = {
                n: frame_figures(scan(world, sampled(trial, name, n, mode), place, seed=trial.seed)) for n in COUNTS
            }
            rows += [(name, mode, n, *figures[n]) for n in COUNTS]
            few, many = (np.array(figures[n]) for n in (64, 256))
            off = np.abs(few / many - 1) * 100
            for key, value in zip(worst, (off[0], off[1], off[2:].max()), strict=True):
                worst[key] = max(worst[key], float(value))
    criteria = [Criterion(f"{key}, 64 to 256 rays, worst", value, "%", most=2.0) for key, value in worst.items()]
    heading = ("scene", "mode", "rays", "mean intensity", "returns a pulse", "10 % [m]", "50 % [m]", "90 % [m]")
    return criteria, Table("Sub-rays a pulse", heading, tuple(rows))


def frame_figures(frame: Frame) -> tuple[float, ...]:
    quantiles = np.quantile(frame.range, [0.1, 0.5, 0.9]) if len(frame) else np.zeros(3)
    return (float(frame.intensity.mean()), len(frame) / frame.pulses, *map(float, quantiles))


def _standing(pose: Any) -> Pose:
    """The pose, or where a path begins."""
    return pose if isinstance(pose, Pose) else pose.pose(float(pose.times[0]))


def _run(trial: Trial) -> Outcome:
    parts: list[Callable[[Trial], list[Criterion]]] = [of_energy, of_one_measurement]
    criteria = [criterion for part in parts for criterion in part(trial)]
    trial.doing("walls at distances")
    detection, haze, figure = of_detection(trial)
    if trial.quick and trial.without in ("beam", "sensitivity", "noise-law", "extinction"):
        return Outcome((*criteria, *detection), (haze,), (figure,), _NOTES)  # convergence has no part in them
    convergence, sampling = of_convergence(trial)
    return Outcome((*criteria, *detection, *convergence), (haze, sampling), (figure,), _NOTES)


_NOTES = (
    "Detection is a probability: an echo is lost or kept by one draw of chance, so shares are of many pulses.",
    "With Goodin's rule, each hit by itself, the strongest is the brightest sub-ray: it grows with their number.",
)

EXPERIMENT = Experiment(
    name="receiver",
    title="Energy, echoes and detection",
    paper="none; closed forms, and data sheets as BlenSor quotes them",
    setup=(
        "A wire, two walls one behind the other, and walls at known distances with and without haze are scanned with "
        "many sub-rays a pulse. Then a shrub, a meadow and a forest with 9, 32, 64 and 256 sub-rays, in every mode."
    ),
    run=_run,
    effects={
        "echoes": "every hit by itself (Goodin et al.): no waveform, no energy of the beam",
        "beam": "a single ray a pulse",
        "sensitivity": "no limit to what is seen",
        "noise-law": "the same range noise whatever the signal",
        "extinction": "haze takes nothing away",
    },
)
