"""The HDL-32E's pattern and shining surfaces (Jayaraman et al. 2017, MathWorks and Ford).

Reflectivity by Phong without ambient light: K_d cos θ + K_s (R·V)^α, with emitter and receiver at one place, so that
R·V = 2cos²θ − 1. Plates tilted by known angles have it on paper; balls show it.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tussock.frames.frame import Frame
from tussock.plots.report_figures import BLUE, ORANGE, plotting
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import plane, sphere
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.patterns.image import ImagePattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Trial

__all__ = ["EXPERIMENT"]

DIFFUSE = 0.3
SHINES = ((0.0, 1.0), (0.4, 5.0), (0.4, 40.0), (0.6, 400.0))
"""K_s and α of the balls and plates"""
TILTS = np.arange(0.0, 90.0, 5.0)
SIZE = (180, 620)
"""pixels of the picture, rows and columns"""


def paint(specular: float, shininess: float, trial: Trial) -> Material:
    return Material(
        name=f"K_s {specular:g}, α {shininess:g}",
        reflectance=DIFFUSE,
        specular=specular if trial.has("shine") else 0.0,
        shininess=shininess,
    )


def by_hand(specular: float, shininess: float, tilt_deg: np.ndarray) -> np.ndarray:
    """K_d cos θ + K_s max(2cos²θ − 1, 0)^α"""
    cosine = np.cos(np.deg2rad(tilt_deg))
    return DIFFUSE * cosine + specular * np.maximum(2 * cosine**2 - 1, 0) ** shininess


def plates(specular: float, shininess: float, trial: Trial) -> np.ndarray:
    """Intensity of one plate for each tilt, 10 m around the sensor, one beam each."""
    azimuth = np.linspace(-150, 150, len(TILTS))
    turn = Rotation.from_euler("ZY", np.stack([azimuth, np.full(len(TILTS), -90.0)], 1), degrees=True)
    lean = Rotation.from_euler("x", TILTS[:, None], degrees=True)
    places = 10 * np.stack([np.cos(np.deg2rad(azimuth)), np.sin(np.deg2rad(azimuth)), 0 * azimuth], 1)
    scene = Scene()
    scene.add(
        plane((2, 2), material=paint(specular, shininess, trial)),
        placements=Placements.of(places, quaternions=(turn * lean).as_quat()),
    )
    beams = GridPattern(azimuth_deg=tuple(azimuth.tolist()), elevation_deg=(0.0,), frame_hz=10)
    return scan(
        scene, Sensor(name="beams", pattern=beams, receiver=Receiver(model="hits")), keep_misses=True
    ).intensity.astype(float)


def balls(trial: Trial) -> Frame:
    """Four balls in a row, seen by an image of intensities."""
    scene = Scene()
    for k, (specular, shininess) in enumerate(SHINES):
        ball = sphere(0.45, subdivisions=6, material=paint(specular, shininess, trial))
        scene.add(ball, position=(4.0, 1.65 - 1.1 * k, 0.0))
    rows, columns = SIZE
    image = ImagePattern(columns=columns, rows=rows, horizontal_fov_deg=60, vertical_fov_deg=19, frame_hz=10)
    return scan(
        scene, Sensor(name="image", pattern=image, receiver=Receiver(model="hits", max_range_m=20)), seed=trial.seed
    )


def _run(trial: Trial) -> Outcome:
    sensor = load_sensor("hdl-32e")
    pulses = sensor.pulses()
    elevation = np.unique(np.rad2deg(pulses.elevations).round(3))
    one = np.unwrap(pulses.azimuths[pulses.lasers == 0].astype(float))
    step = float(np.rad2deg(np.median(np.abs(np.diff(one)))))
    measured = [plates(*shine, trial) for shine in SHINES]
    off = max(float(np.abs(seen - by_hand(*shine, TILTS)).max()) for seen, shine in zip(measured, SHINES, strict=True))
    criteria = (
        Criterion("horizontal step of the HDL-32E at 10 Hz", step, "°", least=0.155, most=0.17, paper="0.16°"),
        Criterion(
            "vertical step, median", float(np.median(np.diff(elevation))), "°", least=1.32, most=1.35, paper="1.33°"
        ),
        Criterion("vertical field of view", float(np.ptp(elevation)), "°", least=41.2, most=41.4, paper="41.3°"),
        Criterion(
            "horizontal field of view",
            float(np.rad2deg(abs(one[-1] - one[0]))) + step,
            "°",
            least=359.5,
            most=360.5,
            paper="360°",
        ),
        Criterion("reflectivity of tilted plates off Phong by hand, worst", off, most=1e-4),
    )
    notes = (
        f"At 10 Hz the real firing cycle of 46.08 µs gives a step of {step:.4f}°; the paper's 0.16° is the data "
        f"sheet's "
        "rounded figure. The reflection formulas printed in the paper are garbled; R = 2(N·L)N − L is used.",
    )
    return Outcome(criteria, (), (_pattern(), _shine(trial, measured)), notes)


def _pattern() -> Figure:
    pulses = load_sensor("hdl-32e").pulses()
    azimuth, elevation = np.rad2deg(pulses.azimuths), np.rad2deg(pulses.elevations)
    with plotting(1, 2, size=(10.4, 3.6)) as picture:
        whole, part = picture.axes[0]
        some = np.arange(0, len(azimuth), 7)
        whole.scatter(-azimuth[some], elevation[some], s=0.3, color=BLUE, lw=0)
        whole.set(title="one turn (every seventh pulse)", xlabel="azimuth, clockwise [°]", ylabel="elevation [°]")
        near = np.abs(azimuth) < 1
        part.scatter(-azimuth[near], elevation[near], s=5, color=BLUE)
        part.set(title="two degrees of it", xlabel="azimuth, clockwise [°]", ylabel="elevation [°]")
    return Figure(
        "Scan pattern of the HDL-32E",
        picture.png,
        "32 lines 1.33° apart; within a column the lasers fire one after another while the head turns, so columns "
        "lean.",
    )


def _shine(trial: Trial, measured: list[np.ndarray]) -> Figure:
    frame = balls(trial)
    image = np.full(SIZE[0] * SIZE[1], np.nan, np.float32)
    image[frame.pulse] = frame.intensity
    fine = np.linspace(0, 89.9, 400)
    with plotting(1, 2, size=(12.4, 3.2), width_ratios=(1.9, 1)) as picture:
        left, right = picture.axes[0]
        shown = left.imshow(image.reshape(SIZE), cmap="inferno", vmin=0)
        left.set(
            title="   ".join(f"K_s {s:g}, α {a:g}" for s, a in SHINES), xlabel="column [pixel]", ylabel="row [pixel]"
        )
        left.grid(False)
        picture.figure.colorbar(shown, ax=left, label="relative intensity", shrink=0.8)
        for k, (seen, shine) in enumerate(zip(measured, SHINES, strict=True)):
            color = (BLUE, ORANGE, "#3b8f5a", "#7a5ab5")[k]
            right.plot(fine, by_hand(*shine, fine), color=color, lw=1.2, label=f"K_s {shine[0]:g}, α {shine[1]:g}")
            right.plot(TILTS, seen, "o", color=color, ms=3.5)
        right.set(xlabel="angle of incidence [°]", ylabel="relative intensity", title="plates (dots) and Phong by hand")
        right.legend()
    return Figure(
        "Reflectivity by Phong",
        picture.png,
        "The same diffuse share everywhere; the specular lobe is seen only where the surface faces the sensor.",
    )


EXPERIMENT = Experiment(
    name="phong",
    title="The HDL-32E's pattern and shining surfaces",
    paper="Jayaraman et al. (MathWorks and Ford), LIDAR model and reflectivity",
    setup=(
        "The pulses of one turn of an HDL-32E, and balls and tilted plates of four shines: diffuse 0.3, specular 0 "
        "to 0.6 "
        "with exponents up to 400. Intensities of the plates are compared with the formula by hand."
    ),
    run=_run,
    effects={"shine": "no specular share: Lambert alone"},
)
