"""What volumes tell of how they were learned, by pulses counted by hand; steps of a size; windows, strips and boxes."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.choose_voxel import _tenth, choose_voxel
from tussock.learn.fit_volumes import _one_direction, fit_volumes
from tussock.learn.fit_voxels import VoxelOptions, _inside, fit_voxels
from tussock.learn.learn_volumes import learn_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.levels import Levelled
from tussock.learn.partition.voxels import check_voxel, into_voxels
from tussock.learn.range_noise import constant_noise
from tussock.learn.through_box import through_box
from tussock.learn.windows import in_strip, in_windows
from tussock.scene.volumes import WHOLE

OPTIONS = VoxelOptions(voxel=1.0, tau=2.0, plain=False, box=None, fewest=0.0, threads=1)
NAN = math.nan


def along(ranges: list[float], rings: list[int] | None = None, **more: object) -> MeasuredPulses:
    n = len(ranges)
    way = np.tile([1.0, 0.0, 0.0], (n, 1))
    return MeasuredPulses.of([0.0, 0.5, 0.5], way, ranges, rings=rings, reach=30.0, **more)  # type: ignore[arg-type]


def test_what_voxels_tell_of_their_pulses() -> None:
    """Three in one voxel, one in another; two got away; ring 2 is dead and ring 1 alive."""
    parts = [
        along([4.2, 4.5, NAN], [0, 1, 2], noise=constant_noise(0.02), others=[9.4, NAN, NAN]),
        along([4.8, 9.5, NAN, NAN], [0, 1, 0, 2], noise=constant_noise(0.02), others=[NAN] * 4),
    ]
    volumes = fit_voxels(parts, OPTIONS, dead=lambda fired, returned: np.flatnonzero((fired > 0) & (returned == 0)))
    assert {key: volumes.meta[key] for key in ("pulses", "returns", "lone_returns", "moved", "filled")} == {
        "pulses": 5, "returns": 4, "lone_returns": 1, "moved": 0, "filled": 0,
    }  # fmt: skip
    assert volumes.meta["dead_rings"] == [2] and volumes.meta["one_direction"] and volumes.meta["complete"]
    assert volumes.meta["range_noise_m"] == pytest.approx(0.02) and volumes.meta["two_returns"] == pytest.approx(1 / 7)
    assert volumes.gap == pytest.approx(5.2, abs=0.006)
    assert volumes.means[:, 0] == pytest.approx([4.5, 9.5], abs=2e-3)
    # Of the first met five and passed two; of the second met two and passed one, and behind it one got away.
    assert volumes.pulses.tolist() == [5, 2] and volumes.permeability.tolist() == pytest.approx([0.4, 0.5])
    whole = fit_voxels(parts, OPTIONS)
    assert whole.meta["pulses"] == 7 and whole.meta["dead_rings"] == []


def test_one_direction_whole_recordings_and_how_far_they_came() -> None:
    ahead = along([4.5, 4.6])
    other = MeasuredPulses.of([0.0, 0.5, 0.5], [[0.0, 1.0, 0.0]], [4.5])
    for parts, one in (([ahead], True), ([ahead, ahead], True), ([ahead, other], False), ([other], False)):
        assert fit_voxels(parts, OPTIONS).meta["one_direction"] is one
    assert not fit_voxels([ahead, replace(other, complete=False)], OPTIONS).meta["complete"]
    slightly = replace(ahead, directions=np.array([[1.0, 0, 0], [1.0, 2e-9, 0]]))
    assert not _one_direction(slightly) and _one_direction(ahead) and not _one_direction(other)
    assert not fit_voxels([slightly], OPTIONS).meta["one_direction"]
    # A pulse without return went as far as the farthest return: it passed the voxel at 9.5 m, not the one at 12.
    found = fit_voxels([along([4.5, 12.5]), along([NAN])], OPTIONS)
    assert found.pulses.tolist() == [3, 2]
    near = fit_voxels([along([4.5, 12.5]), along([NAN])], replace(OPTIONS, reach=9.0))
    assert near.pulses.tolist() == [3, 1]
    with pytest.raises(InputError, match="no pulse has a return"):
        fit_voxels([along([NAN])], OPTIONS)
    with pytest.raises(InputError, match="there are none"):
        fit_voxels([], OPTIONS)


def test_chunks_boxes_and_origins_change_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pulses = along([2.5, 4.5, 4.6, 6.5, NAN])
    boxed = fit_voxels([pulses], replace(OPTIONS, box=[4.0, 0.0, 0.0, 6.5, 1.0, 1.0], reach=20.0))
    assert len(boxed) == 1 and boxed.pulses.tolist() == [4], (
        "what ended behind the box passed, what ended before it not"
    )
    moved = fit_voxels([pulses.shifted([1000.0, 0, 0])], replace(OPTIONS, origin=np.array([1000.0, 0, 0]), reach=20.0))
    whole = fit_voxels([pulses], replace(OPTIONS, reach=20.0))
    assert np.array_equal(moved.means, whole.means) and moved.origin == (1000.0, 0.0, 0.0)
    monkeypatch.setattr("tussock.learn.fit_voxels.CHUNK", 2)
    cut = fit_voxels([pulses], replace(OPTIONS, reach=20.0))
    for name in ("means", "shells", "closure", "pulses", "held"):
        assert np.array_equal(getattr(cut, name), getattr(whole, name)), name


def test_means_are_held_off_the_walls_and_in_steps() -> None:
    """A ten-thousandth of a voxel, or what single precision needs far away; steps of 1/512 of a side at most, powers of two."""
    voxels = np.array([[0, 0, 0], [1_000_000, 0, 0], [4, 4, 4]])
    places = np.array([[0.0, 0.5, 0.7], [400_000.0, 0.0, 0.2], [1.6, 3.2, 2.0]])
    six, none = np.zeros((3, 6)), np.zeros(3)
    tree = Levelled(
        voxels, np.array([0, 0, 1], np.uint8), np.ones(3, int), places, six, none, six, none, np.zeros((3, 2), int), six,
        none.astype(bool),
    )  # fmt: skip
    found = _inside(tree, 0.4)
    margin = np.maximum(1e-4, 2.0**-23 * (np.abs(voxels) + np.array([[1], [1], [4]])))
    for row, side in enumerate((0.4, 0.4, 1.6)):
        step = 2.0 ** math.floor(math.log2(side / 512))
        low, high = voxels[row] * 0.4, voxels[row] * 0.4 + side
        off = np.minimum(found[row] - low, high - found[row])
        wall = np.isclose(off, margin[row] * 0.4, rtol=0, atol=1e-9) if row == 0 else off < margin[row] * 0.4 + step
        steps = found[row] / step
        assert (off >= margin[row] * 0.4 - 1e-9).all()
        assert (wall | (np.abs(steps - np.rint(steps)) < 1e-6)).all()
        inner = np.clip(places[row], low + margin[row] * 0.4, high - margin[row] * 0.4)
        assert np.abs(found[row] - inner).max() <= max(step / 2, 1e-9) + 1e-9


def test_a_tenth_of_the_way_across_on_a_ladder() -> None:
    """The middle of the three extents, 5 to 95 %, over ten, by steps of √2 from 1 cm, and no less than that."""
    x = np.linspace(0, 1, 1001)
    for extents, wanted in (((9.0, 100.0, 20.0), 1.8), ((0.1, 0.01, 0.2), 0.01), ((30.0, 1.0, 5.0), 0.45)):
        found = _tenth(np.stack([x * extent for extent in extents], 1))
        assert math.log2((found / 0.01) ** 2) == pytest.approx(round(2 * math.log2(wanted / 0.01)), abs=1e-9)
    with pytest.raises(InputError, match="too few to choose a voxel size from"):
        choose_voxel(along([1.0, 2.0, 3.0]), threads=1)


def test_eight_returns_to_learn_from_and_one_to_ask_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tussock.learn.choose_voxel.fit_volumes", lambda training, **how: None)
    monkeypatch.setattr("tussock.learn.choose_voxel.log_likelihood", lambda volumes, test, **how: 0.0)
    for learned, asked, enough in ((8, 1, True), (7, 1, False), (8, 0, False), (9, 2, True)):
        held = np.repeat([1, 0, 1], [learned, asked, 20])
        ranges = np.repeat([4.0, np.nan], [learned + asked, 20])
        chance = SimpleNamespace(integers=lambda low, high, count, held=held: held)
        monkeypatch.setattr("tussock.learn.choose_voxel.Sampler", lambda *args, chance=chance, **how: chance)
        pulses = along(ranges.tolist())
        if enough:
            assert choose_voxel(pulses) > 0
        else:
            with pytest.raises(InputError, match="too few to choose a voxel size from"):
                choose_voxel(pulses)


def test_windows_are_all_pulses_of_a_part_of_each_twenty_fourth() -> None:
    angle = np.linspace(0, 2 * np.pi, 2400, endpoint=False) + 1e-6
    way = np.stack([np.cos(angle), np.sin(angle), np.zeros(2400)], 1)
    pulses = MeasuredPulses.of(np.zeros(3), way, np.ones(2400), azimuths=angle)
    kept = in_windows(pulses, 600)
    place = np.mod(kept.azimuths * 24 / (2 * np.pi), 1.0)
    assert len(kept) == pytest.approx(600, abs=24) and place.max() < 0.2501
    assert np.histogram(kept.azimuths, 24, (0, 2 * np.pi))[0].min() >= 24
    assert in_windows(pulses, 2400) is pulses
    blind = replace(pulses, ranges=np.where(np.mod(angle * 24 / (2 * np.pi), 1.0) < 0.5, np.nan, 1.0))
    assert in_windows(blind, 600) is blind


@pytest.mark.parametrize("axis", [0, 1])
def test_a_strip_lies_across_the_way_in_the_middle_of_the_returns(axis: int) -> None:
    """Of 101 returns at whole metres along the way, half of them within 25 m of the middle one."""
    n = 101
    starts = np.zeros((n, 3))
    starts[:, axis] = np.arange(n)
    way = np.tile(np.eye(3)[1 - axis], (n, 1))
    pulses = MeasuredPulses.of(starts, way, np.full(n, 3.0), reach=9.0)
    kept, strip = in_strip(pulses, 51)
    assert strip is not None
    assert (strip[axis], strip[3 + axis]) == pytest.approx((25, 75), abs=0.6)
    assert (strip[1 - axis], strip[4 - axis], strip[2], strip[5]) == (2.0, 4.0, -1.0, 1.0)
    assert kept.origins[:, axis].min() >= 24.9 and kept.origins[:, axis].max() <= 75.1 and len(kept) >= 49
    assert in_strip(pulses, 101) == (pulses, None)
    corners = [-9.0, -9.0, -9.0, 120.0, 120.0, 9.0]
    _, of_box = in_strip(pulses, 51, corners)
    assert of_box is not None and of_box[axis] == pytest.approx(25, abs=0.6) and of_box[5] == 9.0
    assert in_strip(pulses, 200, corners)[1] == corners


def test_pulses_along_a_wall_of_the_box_pass_through_it() -> None:
    origins = np.array(
        [[-1.0, 0.0, 0.5], [-1.0, 1.0, 0.5], [-1.0, 1.001, 0.5], [-1.0, -0.001, 0.5], [3.0, 0.5, 0.5], [0.5] * 3]
    )
    pulses = MeasuredPulses.of(origins, np.tile([1.0, 0, 0], (6, 1)), np.arange(1.0, 7.0))
    found = through_box(pulses, [0, 0, 0, 1, 1, 1])
    assert found.ranges.tolist() == [1.0, 2.0, 6.0]


def test_voxels_are_numbered_in_the_order_of_their_grid() -> None:
    points = np.array([[0.1, 0.1, 0.1], [1.1, 0.1, 0.1], [0.2, 0.1, 0.1], [-0.1, 0.1, 0.1], [0.1, 1.1, 0.1]])
    labels, count = into_voxels(points, 1.0)
    assert count == 4 and labels[0] == labels[2] and len(set(labels.tolist())) == 4
    assert labels[3] < labels[0] < labels[4] < labels[1]
    into_voxels(np.array([[2.0**21, 0, 0]]), 1.0)
    with pytest.raises(InputError, match=r"at least 2\^-21 of the distance"):
        into_voxels(np.array([[0, 0, -(2.0**21) - 1]]), 1.0)
    for size in (0.0, math.inf):
        with pytest.raises(InputError, match="voxel: must be a length above 0"):
            check_voxel(size)


def test_intensity_and_labels_of_ellipsoids_are_those_of_their_returns() -> None:
    pulses = along([4.5] * 6 + [9.5] * 6 + [NAN], intensity=[0.2] * 3 + [0.4] * 3 + [0.9] * 7)
    pulses = replace(pulses, labels=np.array([7] * 4 + [8] * 2 + [9] * 6 + [0], np.uint16))
    volumes = fit_volumes(pulses, voxel=1.0, method="two-means", threads=1)
    order = np.argsort(volumes.means[:, 0])
    assert volumes.intensity[order] == pytest.approx([0.3, 0.9]) and volumes.labels[order].tolist() == [7, 9]
    assert volumes.pulses[order].tolist() == [13, 7] and volumes.meta["lone_returns"] == 0
    assert (volumes.meta["pulses"], volumes.meta["returns"]) == (13, 12)
    assert (volumes.closure <= WHOLE).all() and volumes.permeability[order] == pytest.approx([7 / 13, 1 / 7])


def test_what_learning_says() -> None:
    notes: list[str] = []
    learn_volumes(replace(along([4.5, 4.6, 4.7, 9.5]), complete=False), voxel=1.0, range_noise=0.1, say=notes.append)
    assert notes and all("\n" not in note for note in notes)
