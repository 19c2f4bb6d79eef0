"""What is learned of a few dozen pulses, and said of them, number by number, against ``kept_learning.json``.

What volumes ought to be has its tests beside this one, and its closed forms and experiments in tests/physics; those need
many pulses, these so few that learning can be run uncompiled (NUMBA_DISABLE_JIT=1), where `tools/mutants.py` puts mistakes
into it. A change that is meant is kept with

    python tests/unit/learn/test_kept_learning.py [CASE …]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.halves import Halves
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.range_noise import constant_noise
from tussock.learn.scoring.field_scores import field_scores, scores_by_label, scores_by_region
from tussock.learn.scoring.scores import compare
from tussock.poses import Pose, Trajectory
from tussock.scene.volumes import Volumes

KEPT = Path(__file__).parent / "kept_learning.json"
Numbers = dict[str, list[Any]]


def leaves(seed: int = 1, count: int = 160) -> MeasuredPulses:
    """Pulses from three places at two clumps of leaves and a wall behind them; some pass, some have a second return."""
    rng = np.random.default_rng(seed)
    places = np.array([[0.0, 0.0, 0.0], [0.5, 2.4, 0.1], [1.0, -2.6, 0.3]])
    origins = places[np.arange(count) * 3 // count]
    aim = np.array([[5.0, 0.4, 0.2], [6.5, -0.8, 0.4]])[rng.integers(0, 2, count)] + rng.normal(0, 0.35, (count, 3))
    way = aim - origins
    length = np.linalg.norm(way, axis=1)
    outcome = rng.random(count)
    wall = length * 9.0 / aim[:, 0]
    ranges = np.where(outcome < 0.6, length, np.where(outcome < 0.8, wall + rng.normal(0, 0.02, count), np.nan))
    others = np.where((outcome < 0.2), wall, np.nan)
    pulses = MeasuredPulses.of(
        origins, way, ranges, intensity=rng.uniform(0.1, 0.9, count), rings=np.arange(count) % 4,
        turns=np.arange(count) // 40, reach=20.0, others=others, noise=constant_noise(0.03),
    )  # fmt: skip
    labels = np.where(np.isnan(ranges), 0, 1 + (outcome >= 0.6)).astype(np.uint16)
    colors = np.zeros((count, 4), np.uint8)
    colors[::2, :3], colors[::2, 3] = rng.integers(0, 256, (len(colors[::2]), 3)), 255
    return replace(pulses, labels=labels, label_names={1: "leaf", 2: "wall"}, colors=colors)


def of_volumes(volumes: Volumes) -> Numbers:
    """The columns of volumes as they are kept: whole numbers as they are, others to six digits."""
    found: Numbers = {}
    for name in (
        "means", "precisions", "permeability", "shells", "closure", "pulses", "intensity", "levels", "held", "second", "labels",
        "colors", "edges", "origin",
    ):  # fmt: skip
        column = np.asarray(getattr(volumes, name))
        whole = column.dtype.kind in "iub"
        found[name] = column.ravel().tolist() if whole else [float(f"{x:.6g}") for x in column.ravel().tolist()]
    found["others"] = [float(volumes.cell), float(volumes.gap), len(volumes)]
    found["told"] = [
        float(volumes.meta[key]) for key in ("pulses", "returns", "lone_returns", "range_noise_m", "two_returns")
    ]
    return found


def learned(**how: Any) -> Callable[[], Numbers]:
    return lambda: of_volumes(fit_volumes(leaves(), threads=1, **how))


def far_away() -> Numbers:
    return of_volumes(fit_volumes(leaves().shifted([300_000.0, -5_000_000.0, 120.0]), voxel=0.5, threads=1))


def foretold() -> Numbers:
    volumes, other = fit_volumes(leaves(), voxel=0.5, regions=True, threads=1), leaves(seed=2, count=60)
    box = [3.0, -3.0, -3.0, 8.0, 3.0, 3.0]
    ellipsoids = fit_volumes(leaves(count=60), voxel=0.7, method="two-means", threads=1)
    return {
        "likelihood": [
            log_likelihood(volumes, other, threads=1), log_likelihood(volumes, other, box=box, threads=1),
            log_likelihood(ellipsoids, other, threads=1),
        ],
    }  # fmt: skip


def chosen_size() -> Numbers:
    tried: list[float] = []
    chosen = choose_voxel(leaves(count=30), threads=1, tried=lambda *one: tried.extend(one))
    return {"tried": tried, "chosen": [chosen]}


def scored() -> Numbers:
    """Of like pulses, of which a few return elsewhere, and of others beside them."""
    one = leaves()
    rng = np.random.default_rng(5)
    ranges = np.where(rng.random(len(one)) < 0.1, np.nan, one.ranges + rng.normal(0, 0.03, len(one)))
    like = replace(one, ranges=ranges, azimuths=one.azimuths + rng.normal(0, 1e-3, len(one)))
    found: Numbers = {"compared": list(compare(one, like, angle_bin=0.02, range_bin=0.05).plain().values())}
    found["compared"] = np.hstack(found["compared"]).tolist()
    for name, angle in (("like", 0.01), ("wide", 0.3)):
        found[name] = list(field_scores(one, like, angle_bin=angle).plain().values())
    for key, score in scores_by_region(one, like, edges=(0.0, 5.0, 6.0, 9.5), angle_bin=0.01).items():
        found[f"region {key[0]:g}"] = list(score.plain().values())
    for label, score in scores_by_label(one, like, angle_bin=0.01).items():
        found[f"label {label}"] = list(score.plain().values())
    return found


def in_halves() -> Numbers:
    """As they come, and cut in two parts; and of a sensor that moves on by half a metre at a time."""
    pulses, parts = leaves(), Halves()
    drive = replace(pulses, origins=np.linspace([0, 0, 0], [9.0, 3.0, 0.5], len(pulses)))
    cut = np.concatenate([parts.of(pulses.select(slice(0, 70))), parts.of(pulses.select(slice(70, None)))])
    return {
        "whole": Halves().of(pulses).astype(int).tolist(), "cut": cut.astype(int).tolist(),
        "drive": Halves().of(drive).astype(int).tolist(),
    }  # fmt: skip


def placed() -> Numbers:
    """A part of the pulses at a pose, along a path, and joined."""
    pulses, times = leaves(count=24), np.linspace(0.003, 0.098, 24)
    path = Trajectory.through(
        [0.0, 0.05, 0.11], [Pose.at(1, 2, 0.5), Pose.at(1.4, 2.1, 0.5, yaw=0.2), Pose.at(2, 2, 0.6, yaw=0.3, pitch=0.1)]
    )
    both = join_pulses([pulses.placed(Pose.at(1, 2, 3, yaw=0.4, roll=0.1)), pulses.placed(path, times)])
    return {
        "points": [None if np.isnan(x) else x for x in both.points.ravel().tolist()], "turns": both.turns.tolist(),
        "origins": both.origins.ravel().tolist(), "reach": [both.reach],
    }  # fmt: skip


CASES: dict[str, Callable[[], Numbers]] = {
    "voxels": learned(voxel=0.5),
    "voxels by region": learned(voxel=0.35, regions=True),
    "coarser where there are few": learned(voxel=0.3, fewest=2.5),
    "in a box": learned(voxel=0.4, box=[3.0, -1.0, -1.0, 8.0, 1.5, 1.5]),
    "plain": learned(voxel=0.6, plain=True, tau=2.0),
    "two-means": learned(voxel=0.7, method="two-means"),
    "growing": learned(voxel=0.7, method="growing"),
    "far away": far_away,
    "foretold": foretold,
    "chosen": chosen_size,
    "scored": scored,
    "in halves": in_halves,
    "placed": placed,
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_learned_is_as_it_was(case: str) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[case]
    now = CASES[case]()
    assert set(now) == set(kept)
    for name, column in kept.items():
        # Uncompiled, sums in single precision differ by a last bit; shares of 65535 may then round to their neighbour.
        loose = 1.0 if name in ("shells", "closure", "held", "second") else 2e-5
        np.testing.assert_allclose(
            np.array(now[name], float), np.array(column, float), rtol=2e-4, atol=loose, err_msg=name
        )


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(CASES)
    known = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    kept = {case: CASES[case]() if case in chosen else known[case] for case in CASES}
    lines = [f"{json.dumps(case)}: {json.dumps(columns, separators=(',', ':'))}" for case, columns in kept.items()]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
