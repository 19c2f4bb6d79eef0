"""From a scan to volumes in one call: the chosen size, the dead laser, and that both are said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.choose_voxel import choose_voxel
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.learn_volumes import LearningWarning, learn_volumes
from tussock.learn.measured_pulses import MeasuredPulses

RINGS = 8


@pytest.fixture(scope="module")
def pulses() -> MeasuredPulses:
    """Rings that all look at a wall of leaves, 5 to 6 m ahead."""
    rng = np.random.default_rng(1)
    n = 4000
    rings = np.arange(n) % RINGS
    way = np.stack([np.ones(n), rng.uniform(-0.3, 0.3, n), 0.004 * rings], 1)
    return MeasuredPulses.of(np.zeros(3), way, 5 + rng.uniform(0, 1, n), rings=rings, reach=30.0)


def test_without_a_size_it_is_the_chosen_one(pulses: MeasuredPulses) -> None:
    volumes = learn_volumes(pulses)
    size = choose_voxel(pulses)
    assert volumes.meta["voxel_m"] == size
    assert np.array_equal(volumes.means, fit_volumes(pulses, voxel=size).means)
    assert volumes.meta["dead_rings"] == [] and volumes.meta["complete"]
    assert learn_volumes(pulses, voxel=0.7).meta["voxel_m"] == 0.7


def test_a_dead_laser_makes_no_holes(pulses: MeasuredPulses) -> None:
    dead = pulses.rings == 3
    broken = replace(pulses, ranges=np.where(dead, np.nan, pulses.ranges), complete=False)
    with pytest.warns(LearningWarning) as warned:
        volumes = learn_volumes(broken, voxel=0.25)
    notes: list[str] = []
    learn_volumes(broken, voxel=0.25, say=notes.append)
    assert [str(each.message) for each in warned] == notes
    assert notes[0].endswith("ring 3") and "none without a return" in notes[1] and len(notes) == 2
    assert warned[0].filename == __file__, "it points at who asked"
    assert volumes.meta["dead_rings"] == [3] and not volumes.meta["complete"]
    assert volumes.meta["pulses"] == (~dead).sum()
    assert np.array_equal(volumes.shells, fit_volumes(pulses.select(~dead), voxel=0.25).shells)
    assert fit_volumes(broken, voxel=0.25).permeability.mean() > volumes.permeability.mean() + 0.02


def test_one_point_a_voxel_is_refused(pulses: MeasuredPulses) -> None:
    with pytest.raises(InputError, match=r"every voxel holds one point only, got 0\.0001 m; use larger voxels"):
        learn_volumes(pulses, voxel=1e-4)


def test_beams_that_all_go_one_way_are_said() -> None:
    ranges = np.random.default_rng(7).normal(5, 0.02, 500)
    one_way = MeasuredPulses.of(np.zeros(3), np.tile([1.0, 0, 0], (500, 1)), ranges, reach=9.0)
    with pytest.warns(LearningWarning, match="all go in one direction"):
        learn_volumes(one_way, voxel=0.25)


def test_of_a_sensor_that_moved_sizes_go_by_region_unless_it_is_said_otherwise(pulses: MeasuredPulses) -> None:
    aside = np.linspace(0.0, 6.0, len(pulses))
    drive = replace(pulses, origins=pulses.origins + aside[:, None] * [0, 1, 0])
    for given, options, wanted in (
        (drive, {}, 3.0), (drive, {"regions": False}, 0.0), (drive, {"voxel": 0.2}, 0.0), (drive, {"plain": True}, 0.0), (pulses, {}, 0.0),
    ):  # fmt: skip
        assert learn_volumes(given, **options).meta["fewest"] == wanted
