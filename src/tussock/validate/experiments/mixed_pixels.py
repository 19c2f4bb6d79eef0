"""Mixed pixels: rods before a wall (Goodin et al. 2018, section 3.4.2, after Matthies et al. 2005).

A wide beam that meets a rod and the wall behind it at once reports a place where nothing is. The LMS-291 averages
what comes within its signal cutoff of 1.6 m, so a wall 0.6 m behind the rods gives such points and one 2 m behind
gives none. A point counts as mixed if it lies more than 5 cm behind the rods' row and more than 5 cm before the
wall. Where the half-degree steps fall on the rods' edges is a matter of millimetres, so twenty scans are made,
the sensor moved sideways by a twentieth of a step of 7 mm each time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.plots.report_figures import BLUE, GREY, ORANGE, plotting
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.primitives import box, cylinder
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial
from tussock.validate.paper_receiver import PAPER_RECEIVER

__all__ = ["EXPERIMENT"]

ROW, SPACING, OFFSETS, MARGIN, SCANS = 0.80, 0.127, (0.60, 2.0), 0.05, 20
DIAMETERS = (0.025,) * 3 + (0.075,) + (0.025,) * 5
"""[m] of the nine rods; the paper does not say which one is the thick one"""


def rods(offset: float) -> Scene:
    """Nine rods in a row 0.8 m ahead and a wall ``offset`` m behind the row."""
    wood, plywood = Material(name="wood", reflectance=0.5), Material(name="plywood", reflectance=0.5)
    scene = Scene("rods")
    for k, diameter in enumerate(DIAMETERS):
        rod = cylinder(diameter / 2, 1.0, sides=64, material=wood)
        scene.add(rod, name=f"rod {k + 1}", position=(ROW, (k - 4) * SPACING, 0))
    scene.add(box((0.02, 12.0, 3.0), material=plywood), name="wall", position=(ROW + offset + 0.01, 0, 0))
    return scene


def line_scanner(trial: Trial) -> Sensor:
    """The LMS-291 by table 3 of the paper, without range noise: every stray point is then a mixed one."""
    cutoff = 100.0 if not trial.has("cutoff") else 0.0 if not trial.has("window") else 1.6
    return load_sensor("lms-291-s05").with_(
        **PAPER_RECEIVER
        | {
            "receiver.mode": "first",
            "receiver.signal_cutoff_m": cutoff,
            "noise.ray_sigma_m": 0.0,
            "beam.rays": 9 if trial.has("beam") else 1,
        }
    )


def is_mixed(frame: Frame, offset: float) -> NDArray[np.bool_]:
    ahead = frame.xyz[:, 0]
    return (ahead > ROW + MARGIN) & (ahead < ROW + offset - MARGIN)


def _run(trial: Trial) -> Outcome:
    sensor, worlds = line_scanner(trial), {offset: World(rods(offset)) for offset in OFFSETS}
    shifts = np.arange(SCANS) / SCANS * np.deg2rad(0.5) * ROW
    frames = {o: [scan(w, sensor, Pose.at(y=y), seed=trial.seed) for y in shifts] for o, w in worlds.items()}
    counts = {o: np.array([is_mixed(frame, o).sum() for frame in seen]) for o, seen in frames.items()}
    near, far = OFFSETS
    rows = tuple(
        (
            offset,
            len(seen[0]),
            np.mean([(frame.xyz[:, 0] <= ROW + MARGIN).sum() for frame in seen]),
            counts[offset].mean(),
            int(counts[offset].min()),
            int(counts[offset].max()),
        )
        for offset, seen in frames.items()
    )
    criteria = (
        Criterion(
            "mixed pixels, wall 0.6 m behind, all 20 scans",
            float(counts[near].sum()),
            least=40,
            paper="“note the presence” (fig. 7a)",
        ),
        Criterion(
            "mixed pixels, wall 0.6 m behind, poorest of 20 scans",
            float(counts[near].min()),
            least=1,
            paper="the picture shows one scan",
        ),
        Criterion(
            "mixed pixels, wall 2 m behind, all 20 scans",
            float(counts[far].sum()),
            most=0,
            paper="“note the absence” (fig. 7b)",
        ),
    )
    table = Table(
        "Points a scan",
        ("wall behind [m]", "points", "on rods, mean", "mixed, mean", "mixed, least", "mixed, most"),
        rows,
    )
    first = {offset: seen[0] for offset, seen in frames.items()}
    return Outcome(criteria, (table,), (_figure(first),), _NOTES)


def _figure(frames: dict[float, Frame]) -> Figure:
    with plotting(1, 2, size=(9.6, 4.4), sharey=True) as picture:
        for axes, (offset, frame) in zip(picture.axes[0], frames.items(), strict=True):
            seen, stray = frame.xyz, is_mixed(frame, offset)
            axes.scatter(-seen[~stray, 1], seen[~stray, 0], s=7, color=BLUE, label="rods and wall")
            axes.scatter(-seen[stray, 1], seen[stray, 0], s=16, color=ORANGE, label="mixed")
            for k, diameter in enumerate(DIAMETERS):
                axes.add_patch(_circle(((4 - k) * SPACING, ROW), diameter / 2))
            axes.plot(0, 0, marker="v", color=GREY, ms=8, ls="", label="sensor")
            axes.set(title=f"wall {offset:g} m behind: {stray.sum()} mixed", xlabel="to the right [m]")
            axes.set_xlim(-1.3, 1.3)
            axes.set_ylim(-0.1, 3.0)
        picture.axes[0, 0].set_ylabel("ahead [m]")
        picture.axes[0, 0].legend(loc="upper left")
    return Figure(
        "One scan from above, as fig. 7 of the paper",
        picture.png,
        "Points stray into empty space behind the edges of rods when the wall is near (left), and none when it is "
        "far (right).",
    )


def _circle(centre: tuple[float, float], radius: float) -> object:
    from matplotlib.patches import Circle

    return Circle(centre, radius, facecolor="none", edgecolor=GREY, lw=0.8)


_NOTES = (
    "The paper shows pictures and gives no counts. Which of the "
    "nine rods is the thick one is not told either; here it is the fourth from the left.",
)

EXPERIMENT = Experiment(
    name="mixed-pixels",
    title="Mixed pixels at the edges of rods",
    paper="Goodin et al. 2018, section 3.4.2, figs. 6 and 7",
    setup=(
        "Nine rods 12.7 cm apart (one of 75 mm, the others of 25 mm) stand 80 cm before an LMS-291 (12.9 mrad, nine "
        "rays, first return within 1.6 m). A wall stands 0.6 m or 2 m behind them. Points in the empty space "
        "between rods and wall are counted in each of twenty scans."
    ),
    run=_run,
    effects={
        "beam": "a single ray a pulse: a beam meets a rod or the wall, never both",
        "cutoff": "no signal cutoff: the wall is averaged in however far behind it is",
        "window": "a cutoff of 0 m: only the nearest ray counts",
    },
)
