"""Weather: what the air takes from a pulse and what it sends back, against closed forms and a Monte Carlo of every drop.

Goodin et al. name dust, snow, rain and fog as the next step of their simulator. Fog follows Rasshofer et al. (2011) and
Hahner et al. (2021), rain Marshall and Palmer (1948), snow Gunn and Marshall (1958); `tussock.air` has the equations. The
Monte Carlo here drops every drop of the law into the beam; the simulator draws only those that can be seen.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq, minimize_scalar

from tussock.air.clouds import DustCloud, dust_extinction
from tussock.air.kinds import Kind
from tussock.air.particles import SizeLaw, rain_law, snow_law
from tussock.air.weather import Fog, Weather
from tussock.frames.frame import Frame
from tussock.listening import sensitivity_of
from tussock.plots.report_figures import BLUE, GREY, ORANGE, plotting
from tussock.poses import Pose
from tussock.sampler import Sampler
from tussock.scene.material import Material
from tussock.scene.primitives import box, cylinder, plane
from tussock.scene.scene import Scene
from tussock.scenes.ready import ready_pose, ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.signal.waveform import pulse_sigma_m
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Trial

__all__ = ["EXPERIMENT"]

VISIBILITY = 40.0
_PLAIN: dict[str, Any] = {
    "beam.rays": 1, "receiver.min_separation_m": 0.0, "receiver.intensity_step": 0.0, "receiver.intensity_ceiling": 0.0,
    "receiver.ceiling_gain": 0.0, "noise.false_alarms": 0.0, "noise.interference": 0.0, "noise.dropout": 0.0,
}  # fmt: skip


def sensor(**changes: Any) -> Sensor:
    """A VLP-16 with one ray a pulse, whose intensities are neither cut off nor in steps."""
    return load_sensor("vlp-16").with_(**{**_PLAIN, **changes})


def well(radius: float, weather: Weather | None) -> Scene:
    """A wall of 50 % all around."""
    scene = Scene("well")
    grey = Material(name="grey", reflectance=0.5)
    scene.add(cylinder(radius, 400.0, sides=96, material=grey), name="wall", label="wall")
    scene.weather = weather
    return scene


def rows_of(frame: Frame, label: str) -> NDArray[np.int64]:
    """Rows of a label, of pulses that are nearly level."""
    level = np.abs(frame.true_xyz[:, 2]) < 0.06 * frame.true_range
    return np.flatnonzero(level & (frame.label == Scene().labels[label]))


def of_fog(trial: Trial) -> list[Criterion]:
    """A wall by e^(−2αr), and the false peak by the integral over the pulse."""
    fog = Weather(fog=Fog(visibility_m=VISIBILITY)) if trial.has("fog") else None
    sees_all = {"receiver.detects": (), "noise.stated_at": None, "noise.floor_sigma_m": 0.0, "receiver.mode": "all"}
    overlap = (0.9, 1.0) if trial.has("soft-return") else (98.0, 99.0)
    device = sensor(**sees_all, **{"receiver.overlap_m": overlap})
    off, frame = 0.0, None
    for distance in (8.0, 20.0, 45.0):
        frame, clear = scan(well(distance, fog), device), scan(well(distance, None), device)
        here, there = (float(one.intensity[rows_of(one, "wall")].mean()) for one in (frame, clear))
        way = float(clear.true_range[rows_of(clear, "wall")].mean())
        off = max(off, abs(here / there / math.exp(-2 * math.log(20.0) / VISIBILITY * way) - 1))
    assert frame is not None
    sigma = pulse_sigma_m(device.receiver.pulse_fwhm_ns)
    top = minimize_scalar(lambda x: -soft_waveform(x, sigma), bounds=(0.9, 4.0), method="bounded")
    rows = rows_of(frame, "fog")
    path = float(np.median(frame.true_range[rows])) if len(rows) else np.inf
    height = float(np.median(frame.intensity[rows] / frame.true_range[rows] ** 2)) if len(rows) else np.inf
    return [
        Criterion("fog: a wall off e^(−2αr) at 8, 20 and 45 m, worst", 100 * off, "%", most=1.0),
        Criterion("fog: place of the false peak off the integral", 100 * abs(path / top.x - 1), "%", most=2.0),
        Criterion("fog: its height off the integral", 100 * abs(height / -top.fun - 1), "%", most=2.0),
    ]


def soft_waveform(x: float, sigma: float) -> float:
    """What fog sends back, as the receiver sees it at the path ``x`` [m], by quadrature."""
    alpha, beta = math.log(20.0) / VISIBILITY, 0.046 / VISIBILITY

    def part(r: float) -> float:
        seen = min(max((r - 0.9) / 0.1, 0.0), 1.0)
        return math.pi * beta * seen * math.exp(-2 * alpha * r) / r**2 * math.exp(-((x - r) ** 2) / (2 * sigma**2))

    low, high = max(0.9, x - 7 * sigma), x + 7 * sigma
    return float(quad(part, low, high, points=[1.0] if low < 1.0 < high else None, limit=100)[0])


def of_drops(trial: Trial, kind: str, rate: float) -> tuple[list[Criterion], tuple[Any, Any]]:
    """Extinction by the law of sizes, and the number of false returns and their distances by a Monte Carlo."""
    law = rain_law(rate) if kind == "rain" else snow_law(rate)
    there = {f"{kind}_mm_h": rate} if trial.has(kind) else {}
    weather = Weather(**there, wet=0.0)
    few = sensor(**{"receiver.pulse_fwhm_ns": 0.5, "receiver.detects": "10 % at 20 m with probability 0.9"})
    frames = 10 if trial.quick else 20
    world = World(well(40.0, weather))
    seen = [scan(world, few.with_(**{"receiver.mode": "all"}), seed=trial.seed, frame=n) for n in range(frames)]
    pulses = sum(frame.pulses for frame in seen)
    number = Scene().labels[kind]
    ours = np.concatenate([frame.true_range[frame.label == number] for frame in seen])
    theirs = every_drop(law, few, pulses, trial.seed)
    edges = np.quantile(theirs, np.linspace(0, 1, 6))
    edges[0], edges[-1] = 0.0, 100.0
    a, b = (np.histogram(one, edges)[0] / max(len(one), 1) for one in (ours, theirs))
    # Ten million pulses take a minute; a quick run looks at as many as say 2 %.
    alpha = extinction_of(weather, trial.seed, 6 if trial.quick else 350)
    return [
        Criterion(f"{kind}: extinction off the integral of its law", 100 * abs(alpha / law.extinction - 1), "%", most=2.0),
        Criterion(
            f"{kind}: false returns a pulse off the Monte Carlo", 100 * abs(len(ours) / max(len(theirs), 1) - 1), "%", most=5.0
        ),
        Criterion(f"{kind}: their distances off it, worst of five bins", 100 * float(np.abs(a / b - 1).max()), "%", most=5.0),
    ], (ours, theirs)  # fmt: skip


def extinction_of(weather: Weather, seed: int, looks: int) -> float:
    """α [1/m] by which the mean level of a wall 25 m away falls, over all pulses of so many frames."""
    keen = sensor(**{"receiver.mode": "last", "receiver.detects": "10 % at 200 m with probability 0.9"})
    number = Scene().labels["wall"]
    clear = scan(World(well(25.0, None)), keen, seed=seed)
    ways, levels = (one[clear.label == number].astype(float) for one in (clear.true_range, clear.intensity))
    place, total = World(well(25.0, weather)), 0.0
    for n in range(looks):
        frame = scan(place, keen, seed=seed, frame=n)
        total += float(frame.intensity[frame.label == number].sum(dtype=float)) / looks
    if not 0.0 < total < levels.sum():
        return 0.0
    return float(brentq(lambda alpha: float((levels * np.exp(-2 * alpha * ways)).sum()) - total, 0.0, 1.0))


def every_drop(law: SizeLaw, device: Sensor, pulses: int, seed: int) -> NDArray[np.float64]:
    """Distances [m] of the drops that are seen, out of all drops in the beams of so many pulses."""
    rng = Sampler("every drop", seed)
    receiver, beam = device.receiver, device.beam
    near, far = max(receiver.min_range_m, receiver.overlap_m[0]), 18.0 if law.kind == Kind.SNOW else 10.0
    wide, high = (2 * side for side in beam.half_sizes)
    fill, leaves = (1.0 if beam.shape == "rectangle" else math.pi / 4), beam.exit_mm * 1e-3
    end = fill * (leaves + wide * far) * (leaves + high * far)
    found = []
    for part in np.array_split(np.arange(pulses), max(pulses // 50_000, 1)):
        expected = len(part) * law.number * end * (far - near)  # so many that Poisson's law is the normal one
        count = max(round(expected + math.sqrt(expected) * float(rng.standard_normal(1)[0])), 0)
        r = rng.uniform(near, far, count)
        area = fill * (leaves + wide * r) * (leaves + high * r)
        inside = rng.uniform(0, end, count) < area
        r, area = r[inside], area[inside]
        d = -np.log1p(-rng.uniform(0, 1, len(r))) / law.slope * 1e-3  # inverse CDF of the exponential law
        low, all_of_it = receiver.overlap_m
        scale, exponent = sensitivity_of(device)
        taken_back = np.minimum(r**exponent * receiver.threshold_snr / (scale * receiver.near_reflectivity), 1)
        sees = np.clip((r - low) / (all_of_it - low), 0, 1) * np.exp(-2 * law.extinction * r) * taken_back
        ratio = scale * law.reflectivity(device.wavelength_nm) * math.pi / 4 * d * d / area * sees / r**exponent
        found.append(r[ratio + rng.standard_normal(len(r)) >= receiver.threshold_snr])
    return np.concatenate(found)


def of_the_sky(trial: Trial) -> list[Criterion]:
    """How often a VLP-16 as the catalogue has it notices thin rain and haze where nothing else is in the way."""
    one = load_sensor("vlp-16")
    device = one if trial.has("near-gain") else one.with_(**{"receiver.near_reflectivity": 0.0})
    shares = []
    for kind, weather in (("rain", Weather(rain_mm_h=2.0)), ("fog", Weather(fog=Fog(visibility_m=1000.0)))):
        frame = scan(well(90.0, weather), device, seed=trial.seed)
        shares.append(100 * float((frame.label == Scene().labels[kind]).sum()) / frame.pulses)
    return [
        Criterion("VLP-16, rain of 2 mm/h: pulses that report a drop", shares[0], "%", most=2.0),
        Criterion("VLP-16, visibility 1 km: pulses that report fog", shares[1], "%", most=0.1),
    ]


def of_recordings(trial: Trial) -> list[Criterion]:
    """Snow beside what filters find in recordings: 26 to 1443 points a frame of a VLP-32C (CADC, Pitropov et al. 2021, 75
    drives), at distances of 5.1 m on average (gamma law of shape 2.15 and scale 2.38 m that fits WADS, Kurup and Bos 2021)."""
    scene = ready_scene("yard").with_weather(Weather(snow_mm_h=2.0 if trial.has("snow") else 0.0))
    frame = scan(scene, load_sensor("vlp-32c"), Pose.at(0, 0, 2), seed=trial.seed)
    paths = frame.true_range[frame.label == scene.labels["snow"]]
    mean = float(paths.mean()) if len(paths) else math.nan
    return [
        Criterion("yard, VLP-32C, snow of 2 mm/h: flakes a frame", len(paths), "", least=26, most=1443, paper="26 to 1443 (CADC)"),
        Criterion("yard, VLP-32C, snow of 2 mm/h: mean distance of flakes", mean, "m", least=3.5, most=7.0, paper="5.1 m (WADS)"),
    ]  # fmt: skip


def of_dust(trial: Trial) -> list[Criterion]:
    """A puff in front of a wall, and behind one."""
    puff = DustCloud(puff_m=1.0, position_m=(10.0, 0.0, 0.0), density_g_m3=2.0, spread_m2_s=0.0)
    dusty = Weather(dust=(puff,)) if trial.has("dust") else Weather()
    device = sensor(**{"receiver.detects": (), "noise.stated_at": None, "noise.floor_sigma_m": 0.0, "receiver.mode": "last",
                       "receiver.pulse_fwhm_ns": 1.0})  # fmt: skip
    alpha, off = dust_extinction(2.0, 10.0), []
    for distance in (5.0, 20.0):
        frame, clear = scan(well(distance, dusty), device), scan(well(distance, None), device)
        both = np.intersect1d(frame.pulse[rows_of(frame, "wall")], clear.pulse[rows_of(clear, "wall")])
        here, there = (
            one.intensity[rows_of(one, "wall")][np.isin(one.pulse[rows_of(one, "wall")], both)]
            for one in (frame, clear)
        )
        points = clear.true_xyz[rows_of(clear, "wall")][np.isin(clear.pulse[rows_of(clear, "wall")], both)].astype(
            float
        )
        way = points / np.linalg.norm(points, axis=1, keepdims=True)
        along = 10.0 * way[:, 0]
        thick = (
            alpha * math.sqrt(2 * math.pi) * np.exp(-(100.0 - along**2) / 2)
        )  # a whole puff is passed, or none of it
        ahead = (thick > 0.1) & (along > 0)
        depth = -np.log(here[ahead] / there[ahead]) / 2
        expected = thick[ahead] if distance > 10 else np.zeros(int(ahead.sum()))
        off.append(float(np.abs(depth - expected).max() / (alpha * math.sqrt(2 * math.pi))) if ahead.any() else np.inf)
    return [
        Criterion("dust: optical depth behind a puff off its integral, worst", 100 * off[1], "%", most=1.0),
        Criterion("dust: optical depth in front of it", 100 * off[0], "%", most=0.1),
    ]  # fmt: skip


def of_wet_ground(trial: Trial) -> list[Criterion]:
    """A road, dry and wet."""
    scene = Scene("road")
    asphalt = Material(name="asphalt", reflectance=0.2)
    scene.add(plane((120.0, 120.0), material=asphalt), name="road", label="road")
    scene.add(box((0.2, 8.0, 4.0)), name="house", label="building", position=(25, 0, 2))
    wet = Weather(wet=1.0 if trial.has("wet-ground") else 0.0)
    both = [
        scan(scene.with_weather(one), load_sensor("hdl-32e"), Pose.at(0, 0, 1.5), seed=trial.seed)
        for one in (None, wet)
    ]
    far = [int(((f.label == scene.labels["road"]) & (f.true_range > 12)).sum()) for f in both]
    near = [int(((f.label == scene.labels["road"]) & (f.true_range < 4)).sum()) for f in both]
    return [
        Criterion("wet road: returns from beyond 12 m left", 100 * far[1] / max(far[0], 1), "%", most=50.0),
        Criterion("wet road: returns from nearer than 4 m left", 100 * near[1] / max(near[0], 1), "%", least=90.0),
    ]


def reach_in_fog(device: Sensor, reflectivity: float, visibility: float, margin: float) -> float:
    """[m] where a wall of a reflectivity is ``margin`` standard deviations of the noise above the threshold."""
    scale, exponent = sensitivity_of(device)
    alpha, least = math.log(20.0) / visibility, device.receiver.threshold_snr + margin
    return float(brentq(lambda r: scale * reflectivity * math.exp(-2 * alpha * r) / r**exponent - least, 0.1, 1000.0))


def of_forest(trial: Trial) -> tuple[list[Criterion], Figure]:
    """An HDL-32E on the forest trail at a visibility of 30 m. The far half: beyond half of the furthest that it sees in
    clear air. Closed form: with 3 standard deviations of noise a white wall is seen up to 22 m, and one of 2 % surely to 7 m."""
    scene, pose, device = ready_scene("forest-trail"), ready_pose("forest-trail"), load_sensor("hdl-32e")
    fog = Weather(fog=Fog(visibility_m=30.0)) if trial.has("fog") else None
    dry = scan(scene, device, pose, seed=trial.seed)
    thick = scan(scene.with_weather(fog), device, pose, seed=trial.seed)
    hard = thick.true_range[thick.label != scene.labels["fog"]]
    half, surely = float(dry.true_range.max()) / 2, reach_in_fog(device, 0.02, 30.0, 3.0)
    far = float((hard > half).sum() / (dry.true_range > half).sum())
    near = float((hard < surely).sum() / (dry.true_range < surely).sum())
    last = reach_in_fog(device, 1.0, 30.0, -3.0)
    with plotting(1, 2, size=(9.0, 4.5)) as picture:
        for axes, frame, name in ((picture.axes[0, 0], dry, "clear"), (picture.axes[0, 1], thick, "visibility 30 m")):
            air = frame.label == scene.labels["fog"]
            axes.scatter(*frame.true_xyz[~air, :2].T, s=0.2, color=BLUE)
            axes.scatter(*frame.true_xyz[air, :2].T, s=0.2, color=ORANGE)
            axes.set(xlim=(-40, 40), ylim=(-40, 40), title=name, aspect="equal")
    figure = Figure(
        "The forest trail in fog", picture.png, "From above: points (blue) and returns of the fog (orange)."
    )
    return [
        Criterion(f"forest trail, visibility 30 m: points of the far half left, beyond {half:.0f} m", 100 * far, "%", most=0.1),
        Criterion(f"forest trail, visibility 30 m: furthest point, over the {last:.0f} m of a white wall", float(hard.max()) / last, "", most=1.0),
        Criterion(f"forest trail, visibility 30 m: points nearer than the {surely:.0f} m of a wall of 2 % left", 100 * near, "%", least=90.0),
    ], figure  # fmt: skip


def _distances(name: str, ours: Any, theirs: Any) -> Figure:
    with plotting(1, 1, size=(6.4, 3.6)) as picture:
        axes = picture.axes[0, 0]
        bins = np.linspace(0.5, 8, 31)
        axes.hist(theirs, bins, density=True, color=GREY, label="every drop (Monte Carlo)")
        axes.hist(ours, bins, density=True, histtype="step", color=ORANGE, label="Tussock")
        axes.set(xlabel="distance [m]", ylabel="share of false returns a metre")
        axes.legend()
    return Figure(f"False returns of {name}", picture.png, "Where drops are returns of their own.")


def _run(trial: Trial) -> Outcome:
    criteria: list[Criterion] = []
    figures: list[Figure] = []

    def asked(*effects: str) -> bool:
        """A quick run without an effect looks at what that effect has a part in."""
        return not (trial.quick and trial.without) or trial.without in effects

    if asked("fog", "soft-return"):
        trial.doing("fog")
        criteria += of_fog(trial)
    for kind, rate in (("rain", 20.0), ("snow", 2.0)):
        if asked(kind):
            trial.doing(kind)
            found, distances = of_drops(trial, kind, rate)
            criteria += found
            figures += [_distances(kind, *distances)] if len(distances[0]) else []
    if asked("snow"):
        criteria += of_recordings(trial)
    if asked("near-gain"):
        criteria += of_the_sky(trial)
    if asked("dust"):
        criteria += of_dust(trial)
    if asked("wet-ground"):
        criteria += of_wet_ground(trial)
    if asked():
        trial.doing("forest trail")
        forest, figure = of_forest(trial)
        criteria, figures = [*criteria, *forest], [*figures, figure]
    return Outcome(tuple(criteria), (), tuple(figures), _NOTES)


_NOTES = (
    "The false peak of fog stands where the receiver begins to see the beam: receiver.overlap_m, 0.9 to 1.0 m by default.",
    "What a receiver takes back of what is near (receiver.near_reflectivity) is in the Monte Carlo of drops too.",
    "Single drops fluctuate from pulse to pulse; what they take on average is the integral of the law.",
)

EXPERIMENT = Experiment(
    name="weather",
    title="Rain, snow, fog, dust and wet ground",
    paper="Rasshofer et al. 2011; Marshall and Palmer 1948; Gunn and Marshall 1958; Ångström 1925",
    setup=(
        "A wall around the sensor in fog, in rain and in snow; a puff of dust before and behind a wall; a road, dry and "
        "wet; and the forest trail at a visibility of 30 m."
    ),
    run=_run,
    effects={
        "fog": "clear air",
        "soft-return": "fog that dims and sends nothing back",
        "rain": "no rain",
        "snow": "no snow",
        "near-gain": "one sensitivity at all distances",
        "dust": "no dust",
        "wet-ground": "a dry road",
    },
)
