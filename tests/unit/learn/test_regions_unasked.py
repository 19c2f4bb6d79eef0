"""When sizes go by region though nobody said so, and what learning hands on: nothing is fitted here, only asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.files.formats import save_frame
from tussock.learn import fit_volumes as fitting
from tussock.learn import learn_drive as driving
from tussock.learn import learn_volumes as learning
from tussock.learn.fit_volumes import REGION_FEWEST, fit_volumes
from tussock.learn.fit_voxels import VoxelOptions
from tussock.learn.halves import APART, moved
from tussock.learn.learn_drive import DriveOptions, learn_drive
from tussock.learn.learn_volumes import learn_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.sensors.catalogue import load_sensor


def standing(n: int = 400) -> MeasuredPulses:
    way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (n, 3))
    return MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=20.0)


def driven(far: float, n: int = 400) -> MeasuredPulses:
    aside = np.linspace(0.0, far, n)[:, None] * [0.0, 1.0, 0.0]
    return replace(standing(n), origins=aside)


def test_two_metres_are_a_way() -> None:
    assert not moved(standing()) and not moved(driven(APART - 1e-6)) and moved(driven(APART)) and APART == 2.0
    up = replace(standing(), origins=np.linspace(0.0, 2.5, 400)[:, None] * [0.0, 0.0, 1.0])
    assert moved(up)


@pytest.mark.parametrize(
    ("pulses", "options", "regions"),
    [
        (standing(), {}, None),
        (driven(3.0), {}, True),
        (driven(3.0), {"regions": False}, False),
        (standing(), {"regions": True}, True),
        (driven(3.0), {"voxel": 0.2}, None),
        (driven(3.0), {"voxel": 0.2, "regions": True}, True),
        (driven(3.0), {"plain": True}, None),
        (driven(3.0), {"method": "two-means"}, None),
        (driven(3.0), {"method": "voxels"}, True),
    ],
)
def test_of_a_sensor_that_moved_and_no_size(
    monkeypatch: pytest.MonkeyPatch, pulses: MeasuredPulses, options: dict[str, Any], regions: bool | None
) -> None:
    """They go by region where the size is chosen and the sensor moved, not where it is given or all are to be alike."""
    asked: list[tuple[str, Any]] = []

    def choose(given: MeasuredPulses, **how: Any) -> float:
        asked.append(("choose", how.get("regions")))
        return 0.25

    def fit(given: MeasuredPulses, *, voxel: float, **how: Any) -> Any:
        asked.append((f"fit {voxel:g}", how.get("regions")))
        return made

    made = fit_volumes(standing(20), voxel=1.0, threads=1)
    monkeypatch.setattr(learning, "choose_voxel", choose)
    monkeypatch.setattr(learning, "fit_volumes", fit)
    learn_volumes(pulses, say=lambda note: None, **options)
    size = options.get("voxel", 0.25)
    assert asked == [*([] if "voxel" in options else [("choose", regions)]), (f"fit {size:g}", regions)]


@pytest.mark.parametrize(
    ("options", "fewest", "filling"),
    [
        ({}, 0.0, False),
        ({"regions": True}, REGION_FEWEST, True),
        ({"regions": True, "fewest": 5.0}, 5.0, True),
        ({"fewest": 1.5}, 1.5, False),
        ({"regions": False}, 0.0, False),
    ],
)
def test_what_regions_mean_for_voxels(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], fewest: float, filling: bool
) -> None:
    """Three returns a voxel unless it is said otherwise, and what lies between the returns is filled."""
    asked: list[VoxelOptions] = []
    monkeypatch.setattr(fitting, "fit_voxels", lambda parts, how: asked.append(how))
    pulses = driven(3.0).shifted([5000.4, 0.0, 0.0])
    fit_volumes(pulses, voxel=0.5, tau=1.5, threads=1, **options)
    (how,) = asked
    assert (how.voxel, how.tau, how.plain, how.box, how.threads, how.still) == (0.5, 1.5, False, None, 1, False)
    assert (how.fewest, how.filling, how.reach) == (fewest, filling, 20.0) and not len(how.left_out)
    assert how.origin.tolist() == pulses.middle.tolist() and how.origin[0] == pytest.approx(5005, abs=1)
    with pytest.raises(InputError, match="regions: does not go with plain volumes"):
        fit_volumes(pulses, voxel=0.5, regions=True, plain=True)
    for name, value in (("fewest", 2.0), ("regions", True)):
        with pytest.raises(InputError, match=f"{name}: goes with voxels alone"):
            fit_volumes(pulses, voxel=0.5, method="growing", **{name: value})  # type: ignore[arg-type]
    for wrong in (-1.0, np.inf, np.nan):
        with pytest.raises(InputError, match="fewest: must be a number of returns from 0 on"):
            fit_volumes(pulses, voxel=0.5, fewest=wrong)
    with pytest.raises(InputError, match="method: must be voxels, two-means or growing"):
        fit_volumes(pulses, voxel=0.5, method="cubes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "chosen", "fewest", "filling"),
    [
        ({}, True, REGION_FEWEST, True),
        ({"voxel": 3.0}, None, 0.0, False),
        ({"voxel": 3.0, "regions": True}, None, REGION_FEWEST, True),
        ({"regions": False}, False, 0.0, False),
        ({"plain": True}, False, 0.0, False),
        ({"fewest": 2.0}, True, 2.0, True),
    ],
)
def test_a_drive_goes_by_region_where_no_size_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: dict[str, Any], chosen: bool | None, fewest: float,
    filling: bool,
) -> None:  # fmt: skip
    file = tmp_path / "a.npz"
    frame = made_frame(load_sensor("vlp-16"), 0, share=0.5, seed=3)
    save_frame(frame.select(frame.pulse % 300 == 5), file)
    asked: list[Any] = []
    monkeypatch.setattr(driving, "choose_voxel", lambda pulses, **how: asked.append(how["regions"]) or 7.0)
    volumes = SimpleNamespace(meta={"complete": True, "dead_rings": []})

    def fit(parts: Any, how: VoxelOptions, **rest: Any) -> Any:
        asked.append(how)
        return volumes

    monkeypatch.setattr(driving, "fit_voxels", fit)
    monkeypatch.setattr(driving, "replace", lambda made, **how: how if made is volumes else replace(made, **how))
    learned: Any = learn_drive([file], options=DriveOptions(**options), say=print)
    assert asked[:-1] == ([] if chosen is None else [chosen]) and learned["meta"]["files"] == ["a.npz"]
    how = asked[-1]
    assert (how.voxel, how.fewest, how.filling) == (options.get("voxel", 7.0), fewest, filling)
    assert (how.tau, how.plain, how.still, how.box, how.reach) == (2.0, options.get("plain", False), True, None, None)
    with pytest.raises(InputError, match="regions: does not go with plain volumes"):
        learn_drive([file], options=DriveOptions(plain=True, regions=True))
    learn_drive(
        [file], options=DriveOptions(voxel=1.0, moving=True, reach=9.0, tau=1.5, box=[-1, -1, -1, 1, 1, 1]), say=print
    )
    how = asked[-1]
    assert (how.still, how.reach, how.tau, how.box) == (False, 9.0, 1.5, [-1, -1, -1, 1, 1, 1])


def test_what_learning_has_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead laser is left out and named; pulses that all go one way, and points alone, teach less."""
    rng = np.random.default_rng(2)
    n = 600
    rings = np.arange(n) % 3
    way = np.stack([np.ones(n), rng.uniform(-0.1, 0.1, n), 0.01 * rings], 1)
    ranges = np.where(rings == 1, np.nan, 4.5)
    pulses = MeasuredPulses.of([0.0, 0.5, 0.5], way, ranges, rings=rings, reach=20.0)
    notes: list[str] = []
    volumes = learn_volumes(pulses, voxel=2.0, say=notes.append, threads=1)
    assert volumes.meta["dead_rings"] == [1] and volumes.meta["pulses"] == 400
    assert notes == ["pulses: left out as dead, for they never returned and their neighbours did: ring 1"]
    notes.clear()
    same = replace(pulses.select(rings == 0), directions=np.tile([1.0, 0, 0], (200, 1)), complete=False)
    learn_volumes(same, voxel=2.0, say=notes.append, threads=1)
    assert [note.partition(",")[0] for note in notes] == [
        "pulses: all go in one direction", "pulses: none without a return is among them",
    ]  # fmt: skip
    lone = MeasuredPulses.of(np.zeros(3), [[1.0, 0, 0], [0, 1.0, 0]], [1.0, 2.0])
    with pytest.raises(InputError, match=r"every voxel holds one point only, got 0\.1 m"):
        learn_volumes(lone, voxel=0.1, threads=1)
