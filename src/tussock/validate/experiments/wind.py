"""Plants in wind: a board that bends like a beam, its frequency, and what the sway does to ranges of grass.

A board of a known stiffness stands in a steady wind and in a gusty one; its closed forms are those of a cantilever beam
(Blevins, Formulas for natural frequency and mode shape, 1979, table 8-1). Then a LIDAR whose frames have the same
directions looks at grass 10 m away for two seconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.plants.grass import grass_tile
from tussock.poses import Pose
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.scene.stems import Stem
from tussock.scene.wind import Wind
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.rays import trace_rays
from tussock.trace.world import Moving, World
from tussock.validate.experiment import Criterion, Experiment, Outcome, Table, Trial

__all__ = ["EXPERIMENT"]

SPEED = 6.0
STIFFNESS, MASS, DRAG = 2.0, 0.05, 0.02
"""EI [N m²], mass [kg] of a metre, breadth times drag coefficient [m] of the board, which is 1 m high"""


class _At(NamedTuple):
    """A world at one moment, for `trace_rays`."""

    still: Moving
    origin: NDArray[np.float64]


def board(trial: Trial, gusts: float) -> World:
    """An upright strip 5 m ahead that faces the wind."""
    z = np.linspace(0, 1, 51)
    sides = [np.stack([0 * z, np.full_like(z, y), z], 1) for y in (-0.1, 0.1)]
    k = np.arange(50)
    triangles = np.concatenate([np.stack([k, k + 51, k + 52], 1), np.stack([k, k + 52, k + 1], 1)])
    scene = Scene("board")
    scene.add(Mesh.of(np.concatenate(sides), triangles), name="board", label="stem", position=(5.0, 0.0, 0.0))
    speed = SPEED if trial.has("wind") else 0.0
    stems = {"board": Stem.beam(1.0, STIFFNESS, MASS, DRAG)}
    scene.wind = Wind(
        speed_m_s=speed, from_deg=270.0, gusts=gusts if trial.has("gusts") else 0.0, seed=trial.seed, stems=stems
    )
    return World(scene)


def displacement(world: World, heights: NDArray[np.float64], time: float) -> NDArray[np.float64]:
    """How far [m] the board is from where it stands in still air, at some heights [m]."""
    start = np.stack([0 * heights, 0 * heights, heights], 1)
    there: Any = _At(world.moving(time, time), world.origin)
    ranges = trace_rays(there, start, np.tile([1.0, 0.0, 0.0], (len(heights), 1)), 20.0)
    return ranges.astype(float) - 5.0


def grass_variance(trial: Trial, windy: bool) -> float:
    """Mean variance [m²] over two seconds of the ranges of single pulses that meet grass at 10 m."""
    scene = Scene("grass")
    x, y = (v.ravel() for v in np.meshgrid(np.arange(8.5, 12), np.arange(-3.5, 4)))
    tile = grass_tile(blades=120, height=0.5, width=0.01, seed=trial.seed)
    scene.add(tile, name="grass", label="grass", placements=Placements.of(np.stack([x, y, 0 * x], 1)))
    if windy and trial.has("wind"):
        scene.wind = Wind(speed_m_s=SPEED, from_deg=240.0, gusts=0.5 if trial.has("gusts") else 0.0, seed=trial.seed)
    sensor = load_sensor("os1-64").with_(**{"beam.rays": 1, "noise.ray_sigma_m": 0.0})
    world, seen = World(scene), []
    for frame in range(8 if trial.quick else 20):
        got = scan(world, sensor, Pose.at(0, 0, 1.5), frame=frame, seed=trial.seed, keep_misses=True)
        seen.append(np.where(got.hit & (got.return_number <= 1), got.true_range, np.nan))
    ranges = np.array(seen, float)
    always = np.isfinite(ranges).all(0)
    return float(ranges[:, always].var(0).mean())


def run(trial: Trial) -> Outcome:
    trial.doing("a beam in steady wind")
    heights = np.linspace(0.02, 0.98, 33)
    speed = SPEED * np.log(1.0 / 0.03) / np.log(10.0 / 0.03)
    tip = 0.5 * 1.225 * speed**2 * DRAG / (8 * STIFFNESS)
    line = tip * (heights**4 - 4 * heights**3 + 6 * heights**2) / 3
    off = np.abs(displacement(board(trial, 0.0), heights, 1.0) - line).max() / tip

    trial.doing("its frequency")
    gusty, times = board(trial, 0.3), np.arange(0.0, 10.0 if trial.quick else 20.0, 0.05)
    way = np.array([displacement(gusty, np.array([0.9]), time)[0] for time in times])
    power = np.abs(np.fft.rfft((way - way.mean()) * np.hanning(len(way)))) ** 2
    frequency = np.fft.rfftfreq(len(way), 0.05)
    fast = frequency > 2.0  # above all gusts
    exact = 1.8751**2 / (2 * np.pi) * np.sqrt(STIFFNESS / MASS)
    found = frequency[fast][power[fast].argmax()] if power[fast].max() > 0 else np.inf

    trial.doing("grass at 10 m")
    still, windy = grass_variance(trial, False), grass_variance(trial, True)
    return Outcome(
        (
            Criterion("line of a beam off q h⁴ / 8 EI, worst, of the tip", 100 * off, "%", most=1.0),
            Criterion("frequency of the sway over the beam's first", found / exact, least=0.75, most=1.25),
            Criterion("variance over time of ranges of grass at 10 m, still air", still, "m²", most=1e-9),
            Criterion("variance over time of ranges of grass at 10 m, wind", windy, "m²", least=1e-3),
        ),
        (
            Table(
                "A board 1 m high in a wind of 6 m/s",
                ("height [m]", "measured [mm]", "closed form [mm]"),
                tuple(
                    (round(float(h), 2), round(1000 * float(m), 3), round(1000 * float(c), 3))
                    for h, m, c in zip(
                        heights[::8], displacement(board(trial, 0.0), heights[::8], 1.0), line[::8], strict=True
                    )
                ),
            ),
        ),
        notes=("Copies differ by chance in their frequency, within ±15 %, and beat within their damping of 10 %.",),
    )


EXPERIMENT = Experiment(
    name="wind",
    title="Plants in wind",
    paper="Blevins 1979, table 8-1; Py, de Langre and Moulia 2006",
    setup=(
        "A board of a known stiffness bends in a wind of 6 m/s (at 10 m) and sways in gusts; then grass 10 m from an OS1-64, "
        "without noise, in still air and in the same wind with gusts of 0.5."
    ),
    run=run,
    effects={"wind": "the air stands still", "gusts": "the wind is steady"},
)
