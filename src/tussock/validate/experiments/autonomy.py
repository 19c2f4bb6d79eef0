"""Autonomy in the loop: four LIDARs find their way through the courtyard (Goodin et al. 2018, section 3.5.3, fig. 10).

A vehicle starts in the south-west corner with a goal 130 m to the north-east, and its cost map after 10 s is drawn for
each sensor. The paper's findings, in words there, are figures here:

- the LMS-291 marks trees and hardly any grass: share of the marked cells (cost of 10 or more) whose highest return is
  of grass or ground;
- within one object its ranges vary less: spread of the horizontal ranges to one tree within one frame, over the HDL-64E's
  spread to the same trees from the same places, root mean square over them: one plane cuts one slice out of a crown;
- the VLP-16 finds tall obstacles at middle distances better than the HDL-64E: height above ground up to which trees 15 to
  40 m away are seen, mean over the cells that they stand in;
- the HDL-64E finds small ones nearby better: share of the cells within 10 m that one frame marks.

The corner where it starts may hold no tree or many; so the last three are measured in single frames from places along
the whole way to the goal, which are the same for all sensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tussock.drive.loop import DriveResult, DriveStep, drive_to
from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.frames.frame import Frame
from tussock.plots.report_figures import GREEN, ORANGE, RED, plotting
from tussock.poses import Pose
from tussock.scene.scene import Scene
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial

__all__ = ["EXPERIMENT"]

SENSORS = {"LMS-291": "lms-291-s05", "VLP-16": "vlp-16", "HDL-32E": "hdl-32e", "HDL-64E": "hdl-64e-mavs"}
START, GOAL = (-140.0, -140.0), (-48.0, -48.0)
SECONDS, QUICK, MARKED, NEAR, MIDDLE = 10.0, 2.0, 10.0, 10.0, (15.0, 40.0)
LOW = ("grass", "terrain")
CELL, FEWEST, PLACES = 0.5, 2, 14
"""[m] of the map; returns of a tree from which on their spread counts; places along the way"""


@dataclass
class _Marks:
    """What a drive's frames mark on the map."""

    low_labels: list[int]
    marked: dict[tuple[int, int], tuple[float, bool]] = field(default_factory=dict)
    """highest return of each marked cell: its height, and whether it was of grass or ground"""

    def watch(self, step: DriveStep) -> None:
        frame, hit = step.sensed.frame, step.sensed.frame.hit
        world = frame.world_xyz(true=True)[hit]
        height = world[:, 2] - step.heights(world[:, 0], world[:, 1])
        low = np.isin(frame.label[hit], self.low_labels)
        assert step.cost_map is not None
        tall = height >= MARKED / 100 * step.cost_map.settings.max_height_m
        points = step.thought.points[tall]
        cells = np.stack(step.cost_map.index(points[:, 0], points[:, 1]), 1)
        order = np.argsort(height[tall], kind="stable")
        for cell, high, is_low in zip(cells[order].tolist(), height[tall][order], low[tall][order], strict=True):
            key = (cell[0], cell[1])
            if high > self.marked.get(key, (-1.0, False))[0]:
                self.marked[key] = (float(high), bool(is_low))

    @property
    def share_low(self) -> float:
        return sum(low for _, low in self.marked.values()) / max(len(self.marked), 1)


@dataclass
class _Look:
    """What single frames find from places along the way, the same for all sensors."""

    spreads: dict[tuple[int, int], float] = field(default_factory=dict)
    """[m] standard deviation of the horizontal ranges to one tree, by place and tree"""
    heights: dict[tuple[int, int, int], float] = field(default_factory=dict)
    """[m] up to which the cells of trees at middle distance were seen, by place and cell"""
    near: list[float] = field(default_factory=list)

    def take(self, place: int, frame: Frame, at: Pose, trees: int) -> None:
        hit = frame.hit
        points = frame.world_xyz()[hit]
        height = frame.world_xyz(true=True)[hit, 2]  # the ground is level, at zero
        away = np.hypot(points[:, 0] - at.position[0], points[:, 1] - at.position[1])
        cells = np.floor(points[:, :2] / CELL).astype(int)
        on_tree, tree = frame.object_id[hit] == trees, frame.placement[hit]
        for one in np.unique(tree[on_tree]):
            mine = away[on_tree & (tree == one)]
            if len(mine) >= FEWEST:
                self.spreads[place, int(one)] = float(np.std(mine))
        for i in np.flatnonzero(on_tree & (away >= MIDDLE[0]) & (away <= MIDDLE[1]) & (height > 0.5)):
            key = (place, *cells[i].tolist())
            self.heights[key] = max(self.heights.get(key, 0.0), float(height[i]))
        low = (away < NEAR) & (height >= MARKED / 100 * 1.5) & (height < 1.5)
        self.near.append(len(np.unique(cells[low], axis=0)) / (np.pi * (NEAR / CELL) ** 2))


def _sensor(file: str, trial: Trial) -> Sensor:
    """With the receiver of the paper (hits within the signal cutoff are averaged, no light is too little) and its nine rays."""
    one_ray = trial.quick and file != SENSORS["LMS-291"]
    rays = {"beam.rays": 1} if one_ray else {"beam.rays": 9, "beam.sampling": "stencil"}
    return load_sensor(file).with_(**{"receiver.model": "hits", **rays})


def _sensors(trial: Trial) -> dict[str, Sensor]:
    sensors = {name: _sensor(file, trial) for name, file in SENSORS.items()}
    if not trial.has("slice"):
        sensors["LMS-291"] = sensors["VLP-16"]
    if not trial.has("opening"):
        pattern = sensors["VLP-16"].pattern
        assert isinstance(pattern, SpinningPattern)
        low = [min(e, 2.0) for e in pattern.elevation_deg]
        sensors["VLP-16"] = sensors["VLP-16"].with_(**{"pattern.elevation_deg": low})
    return sensors


def _run(trial: Trial) -> Outcome:
    trial.doing("growing the courtyard")
    settings = DriveSettings(time_limit_s=QUICK if trial.quick else SECONDS).changed(
        **{"autonomy.map.overhead_m": None, "autonomy.map.trusted_m": None}
    )
    scene = ready_scene("courtyard", seed=trial.seed, relief=0.0)
    if not trial.has("grass"):
        scene = _mown(scene)
    stage = Stage(scene, settings.vehicle)
    start = _free(stage, START)
    places = [_free(stage, at) for at in np.linspace(START, GOAL, PLACES).tolist()]
    results: dict[str, DriveResult] = {}
    marks: dict[str, _Marks] = {}
    looks: dict[str, _Look] = {}
    for name, sensor in _sensors(trial).items():
        trial.doing(f"driving with the {name}")
        if name == "HDL-64E" and not trial.has("density"):
            sensor = _sensor(SENSORS["VLP-16"], trial)  # as few rings as the other has
        marks[name] = _Marks([stage.world.labels[label] for label in LOW])
        results[name] = drive_to(
            stage, sensor, GOAL, start=start, settings=settings, seed=trial.seed, watchers=[marks[name]]
        )
        looks[name] = _Look()
        for place, (x, y, yaw) in enumerate(places):
            at = Pose.at(x, y, settings.mount_m[2], yaw=yaw)
            looks[name].take(place, scan(stage.world, sensor, at, seed=trial.seed), at, scene["trees"].id)
    return _outcome(results, marks, looks)


def _mown(scene: Scene) -> Scene:
    """The scene without its grass."""
    bare = Scene(scene.name)
    for thing in scene.objects:
        if thing.name != "grass":
            bare.add(thing.mesh, name=thing.name, label=thing.label, tags=thing.tags, placements=thing.placements)
    return bare


def _free(stage: Stage, at: Sequence[float]) -> tuple[float, float, float]:
    """A place, or the nearest free one along the diagonal, looking north-east."""
    for step in range(40):
        x, y = at[0] + 0.5 * step, at[1] + 0.5 * step
        if stage.free(x, y, np.pi / 4):
            return x, y, float(np.pi / 4)
    raise AssertionError("the courtyard has room every 20 m")


def _spread_ratio(one: _Look, other: _Look) -> float:
    """Spread of ranges within a tree over that of another sensor, trees that both see from a place: root mean square."""
    both = sorted(one.spreads.keys() & other.spreads.keys())
    mine, theirs = (np.array([look.spreads[key] for key in both]) for look in (one, other))
    return float(np.sqrt((mine**2).mean() / (theirs**2).mean())) if both else np.nan


def _outcome(results: dict[str, DriveResult], marks: dict[str, _Marks], looks: dict[str, _Look]) -> Outcome:
    low = {name: one.share_low for name, one in marks.items()}
    spread = {name: _spread_ratio(one, looks["HDL-64E"]) for name, one in looks.items()}
    tall = {name: float(np.mean(list(one.heights.values()))) if one.heights else np.nan for name, one in looks.items()}
    near = {name: float(np.mean(one.near)) for name, one in looks.items()}
    others = min(low[name] for name in low if name != "LMS-291")
    criteria = (
        Criterion("share of the LMS-291's marked cells that are grass or ground", low["LMS-291"], most=0.2,
                  paper="“does not detect most of the grass — it only detects the trees”"),
        Criterion("the same of each other sensor, the least", others, least=0.5),
        Criterion("spread of ranges within a tree, LMS-291 over HDL-64E", spread["LMS-291"],
                  most=0.9, paper="“less range variability within objects”"),
        Criterion("height found on trees at 15–40 m, VLP-16 over HDL-64E", tall["VLP-16"] / tall["HDL-64E"], least=1.3,
                  paper="“tall obstacles at intermediate ranges somewhat better”"),
        Criterion("share of cells within 10 m found in a frame, HDL-64E over VLP-16", near["HDL-64E"] / max(near["VLP-16"], 1e-9),
                  least=1.3, paper="“better at detecting smaller nearby obstacles”"),
    )  # fmt: skip
    rows = tuple(
        (name, len(marks[name].marked), 100 * low[name], spread[name], tall[name], 100 * near[name],
         results[name].metrics.length_m, results[name].metrics.collisions)
        for name in results
    )  # fmt: skip
    table = Table(
        "What each sensor found",
        ("sensor", "cells marked", "of grass or ground [%]", "spread in a tree over the HDL-64E's", "height at 15–40 m [m]",
         "cells within 10 m [%]", "driven [m]", "collisions"),
        rows,
        "A cell is marked by a return 0.15 m above the ground or higher; what it is of is the truth. Marked cells are those "
        "of the drive; the other figures are of single frames at places along the whole way, the same for all sensors.",
    )  # fmt: skip
    return Outcome(criteria, (table,), (_figure(results),), _NOTES)


def _figure(results: dict[str, DriveResult]) -> Figure:
    with plotting(1, 4, size=(12.0, 3.4)) as picture:
        for axes, (name, result) in zip(picture.axes[0], results.items(), strict=True):
            c = result.cost_map
            assert c is not None
            axes.imshow(
                c.costs.T, origin="lower", cmap="gray", vmin=0, vmax=100, interpolation="nearest",
                extent=(c.low_x, c.high[0], c.low_y, c.high[1]),
            )  # fmt: skip
            if result.path is not None:
                axes.plot(*result.path.T, color=ORANGE, lw=1.0)
            axes.plot(*result.truth[:, :2].T, color=GREEN, lw=1.5)
            axes.plot(*np.array(result.goals).T, "*", color=RED, ms=7)
            axes.set_title(name)
            axes.grid(False)
    return Figure(
        "Cost maps at the end, as fig. 10 of the paper",
        picture.png,
        "Black costs nothing, brighter is higher; green was driven, orange is planned. The LMS-291 sees trees and walls in "
        "one plane, the others rings of grass around the way.",
    )


_NOTES = (
    "The paper's courtyard and vehicle are not available; ours are built after its description. Heights are measured from "
    "the ground below each return for the figures of this table, and from the ground as the vehicle sees it on its map.",
    "The ground is level here. On uneven ground the vehicle leans and the one plane of the LMS-291 sweeps through grass "
    "tens of metres away, and marks it.",
    "Eq (8) of the paper prints max where min is meant.",
)

EXPERIMENT = Experiment(
    name="autonomy",
    title="Finding the way through the courtyard",
    paper="Goodin et al. 2018, section 3.5.3, fig. 10",
    setup=(
        "A skid-steered vehicle of at most 2 m/s starts in the south-west corner of the courtyard with a goal 130 m to the "
        "north-east. It registers its scans by GPS and compass, makes a cost map of 400 × 400 cells of 0.5 m, plans by A* "
        "and follows its path. LMS-291 S05, VLP-16, HDL-32E and HDL-64E, 2 m up, nine rays a pulse, ten simulated "
        "seconds each; a quick run takes two seconds and has one ray a pulse for all but the LMS-291."
    ),
    run=_run,
    effects={
        "slice": "sixteen planes with a narrow beam in place of the LMS-291: it sees grass, and ranges in a tree vary",
        "grass": "a courtyard without grass: nobody marks any, and the LMS-291's few marks of it say nothing of the LMS-291",
        "opening": "no beam of the VLP-16 above +2°: it no longer sees more of tall trees",
        "density": "the HDL-64E with 16 rings: it no longer finds more nearby",
    },
)
