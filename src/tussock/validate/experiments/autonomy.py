"""Autonomy in the loop: four LIDARs find their way through the courtyard (Goodin et al. 2018, section 3.5.3, fig. 10).

A vehicle starts in the south-west corner with a goal 130 m to the north-east, and its cost map after 10 s is drawn for
each sensor. The paper's findings, in words there, are figures here:

- the LMS-291 marks trees and hardly any grass: share of the marked cells (cost of 10 or more) whose highest return is
  of grass or ground;
- within one object its ranges vary less: spread of the horizontal ranges to one tree within one frame, median over trees;
- the VLP-16 finds tall obstacles at middle distances better than the HDL-64E: height above ground up to which trees and
  walls 15 to 40 m away are seen, mean over the cells that they stand in;
- the HDL-64E finds small ones nearby better: share of the cells within 10 m that one frame marks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.drive.autonomy.cost_map import CostMap
from tussock.drive.loop import DriveResult, DriveStep, drive_to
from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.plots.report_figures import GREEN, ORANGE, RED, plotting
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial

__all__ = ["EXPERIMENT"]

SENSORS = {"LMS-291": "lms-291-s05", "VLP-16": "vlp-16", "HDL-32E": "hdl-32e", "HDL-64E": "hdl-64e-mavs"}
START, GOAL = (-140.0, -140.0), (-48.0, -48.0)
SECONDS, QUICK, MARKED, NEAR, MIDDLE = 10.0, 2.0, 10.0, 10.0, (15.0, 40.0)
LOW = ("grass", "terrain")


@dataclass
class _Found:
    """What one sensor found, frame by frame."""

    world_labels: dict[str, int]
    trees: int
    wall: int
    """object ids"""
    marked: dict[tuple[int, int], tuple[float, bool]] = field(default_factory=dict)
    """highest return of each marked cell: its height, and whether it was of grass or ground"""
    spreads: list[float] = field(default_factory=list)
    heights: dict[tuple[int, int], float] = field(default_factory=dict)
    """height up to which the cells of trees and walls at middle distance were seen"""
    near: list[float] = field(default_factory=list)

    def watch(self, step: DriveStep) -> None:
        frame, thought = step.sensed.frame, step.thought
        hit = frame.hit
        points, labels = thought.points, frame.label[hit]
        row = step.sensed.driven.rows[-1]
        height = frame.world_xyz(true=True)[hit, 2] - _ground(step, frame.world_xyz(true=True)[hit])
        away = np.hypot(points[:, 0] - row[0], points[:, 1] - row[1])
        low = np.isin(labels, [self.world_labels[name] for name in LOW])
        assert step.cost_map is not None
        self._mark(step.cost_map, points, height, low, away)
        self._trees(frame, hit, away)
        self._tall(step.cost_map, frame.object_id[hit], points, height, away)

    def _mark(
        self, cost_map: CostMap, points: NDArray[Any], height: NDArray[Any], low: NDArray[Any], away: NDArray[Any]
    ) -> None:
        tall = height >= MARKED / 100 * cost_map.settings.max_height_m
        i, j = cost_map.index(points[tall, 0], points[tall, 1])
        cells = np.stack([i, j], 1)
        order = np.argsort(height[tall], kind="stable")
        for cell, high, is_low in zip(cells[order].tolist(), height[tall][order], low[tall][order], strict=True):
            key = (cell[0], cell[1])
            if high > self.marked.get(key, (-1.0, False))[0]:
                self.marked[key] = (float(high), bool(is_low))
        near = (away[tall] < NEAR) & (height[tall] < 1.5)
        whole = np.pi * (NEAR / cost_map.cell) ** 2
        self.near.append(len(np.unique(cells[near], axis=0)) / whole)

    def _trees(self, frame: Any, hit: NDArray[Any], away: NDArray[Any]) -> None:
        on_tree = frame.object_id[hit] == self.trees
        tree, far = frame.placement[hit][on_tree], away[on_tree]
        for one in np.unique(tree):
            mine = far[tree == one]
            if len(mine) >= 2:
                self.spreads.append(float(np.std(mine)))

    def _tall(
        self, cost_map: CostMap, objects: NDArray[Any], points: NDArray[Any], height: NDArray[Any], away: NDArray[Any]
    ) -> None:
        chosen = np.isin(objects, [self.trees, self.wall]) & (away >= MIDDLE[0]) & (away <= MIDDLE[1]) & (height > 0.5)
        i, j = cost_map.index(points[chosen, 0], points[chosen, 1])
        cells, back = np.unique(np.stack([i, j], 1), axis=0, return_inverse=True)
        highest = np.zeros(len(cells))
        np.maximum.at(highest, back.ravel(), height[chosen])
        for (a, b), high in zip(cells.tolist(), highest, strict=True):
            self.heights[a, b] = max(self.heights.get((a, b), 0.0), float(high))


def _ground(step: DriveStep, points: NDArray[np.float64]) -> NDArray[np.float64]:
    ground: NDArray[np.float64] = step.heights(points[:, 0], points[:, 1])
    return ground


def _sensors(trial: Trial) -> dict[str, Sensor]:
    sensors = {name: load_sensor(file) for name, file in SENSORS.items()}
    if trial.quick:
        sensors = {
            name: sensor.with_(**{"beam.rays": 1}) if name != "LMS-291" else sensor for name, sensor in sensors.items()
        }
    if not trial.has("slice"):
        sensors["LMS-291"] = load_sensor("vlp-16")
    if not trial.has("opening"):
        pattern = sensors["VLP-16"].pattern
        assert isinstance(pattern, SpinningPattern)
        low = [min(e, 2.0) for e in pattern.elevation_deg]
        sensors["VLP-16"] = sensors["VLP-16"].with_(**{"pattern.elevation_deg": low})
    return sensors


def _run(trial: Trial) -> Outcome:
    trial.doing("growing the courtyard")
    settings = DriveSettings(time_limit_s=QUICK if trial.quick else SECONDS).changed(
        **{"autonomy.map.overhead_m": None}
    )
    scene = ready_scene("courtyard", seed=trial.seed, relief=0.0)
    stage = Stage(scene, settings.vehicle)
    start = _free_start(stage)
    results: dict[str, DriveResult] = {}
    found: dict[str, _Found] = {}
    for name, sensor in _sensors(trial).items():
        trial.doing(f"driving with the {name}")
        if name == "HDL-64E" and not trial.has("density"):
            sensor = load_sensor("vlp-16")  # as few rings as the other has
        found[name] = _Found(stage.world.labels, scene["trees"].id, scene["wall"].id)
        results[name] = drive_to(
            stage, sensor, GOAL, start=start, settings=settings, seed=trial.seed, watchers=[found[name]]
        )
    return _outcome(results, found)


def _free_start(stage: Stage) -> tuple[float, float, float]:
    """The south-west corner, or the nearest free place along the diagonal, looking north-east."""
    for step in range(40):
        x = START[0] + 0.5 * step
        if stage.free(x, x, np.pi / 4):
            return x, x, float(np.pi / 4)
    raise AssertionError("the corner of the courtyard is free")


def _share_low(found: _Found) -> float:
    cells = list(found.marked.values())
    return sum(low for _, low in cells) / max(len(cells), 1)


def _outcome(results: dict[str, DriveResult], found: dict[str, _Found]) -> Outcome:
    low = {name: _share_low(one) for name, one in found.items()}
    spread = {name: float(np.median(one.spreads)) if one.spreads else np.nan for name, one in found.items()}
    tall = {name: float(np.mean(list(one.heights.values()))) if one.heights else np.nan for name, one in found.items()}
    near = {name: float(np.mean(one.near)) for name, one in found.items()}
    others = min(low[name] for name in low if name != "LMS-291")
    criteria = (
        Criterion("share of the LMS-291's marked cells that are grass or ground", low["LMS-291"], most=0.2,
                  paper="“does not detect most of the grass — it only detects the trees”"),
        Criterion("the same of each other sensor, the least", others, least=0.5),
        Criterion("spread of ranges within a tree, LMS-291 over HDL-64E", spread["LMS-291"] / spread["HDL-64E"],
                  most=0.9, paper="“less range variability within objects”"),
        Criterion("height found on trees and walls at 15–40 m, VLP-16 over HDL-64E", tall["VLP-16"] / tall["HDL-64E"], least=1.3,
                  paper="“tall obstacles at intermediate ranges somewhat better”"),
        Criterion("share of cells within 10 m found in a frame, HDL-64E over VLP-16", near["HDL-64E"] / near["VLP-16"],
                  least=1.3, paper="“better at detecting smaller nearby obstacles”"),
    )  # fmt: skip
    rows = tuple(
        (name, len(found[name].marked), 100 * low[name], spread[name], tall[name], 100 * near[name],
         results[name].metrics.length_m, results[name].metrics.collisions)
        for name in results
    )  # fmt: skip
    table = Table(
        "What each sensor found",
        ("sensor", "cells marked", "of grass or ground [%]", "spread in a tree [m]", "height at 15–40 m [m]",
         "cells within 10 m [%]", "driven [m]", "collisions"),
        rows,
        "A cell is marked by a return 0.15 m above the ground or higher; what it is of is the truth.",
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
        "and follows its path. LMS-291 S05, VLP-16, HDL-32E and HDL-64E, 2 m up, ten simulated seconds each; a quick run "
        "takes two seconds and has one ray a pulse for all but the LMS-291."
    ),
    run=_run,
    effects={
        "slice": "sixteen planes with a narrow beam in place of the LMS-291: it sees grass, and ranges in a tree vary",
        "opening": "no beam of the VLP-16 above +2°: it no longer sees more of tall trees",
        "density": "the HDL-64E with 16 rings: it no longer finds more nearby",
    },
)
