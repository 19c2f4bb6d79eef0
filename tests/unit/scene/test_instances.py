"""Every copy of every object has a number of its own, in the scene and in the labels of a scan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from made_frames import made_frame
from tussock.files.formats import save_frame
from tussock.scene.instances import Instances
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor


def scene_of(counts: list[int]) -> Scene:
    scene = Scene("copies")
    for number, count in enumerate(counts):
        places = np.tile(np.eye(3, 4), (count, 1, 1))
        places[:, 0, 3] = np.arange(count)
        scene.add(box(), name=f"thing {number}", placements=Placements(places))
    return scene


@settings(max_examples=40, deadline=None)
@given(counts=st.lists(st.integers(1, 300), min_size=1, max_size=30))
def test_no_two_copies_share_a_number(counts: list[int]) -> None:
    objects = scene_of(counts).objects
    numbers = Instances.among(objects)
    owner = np.repeat([thing.id for thing in objects], counts).astype(np.uint32)
    copy = np.concatenate([np.arange(count) for count in counts]).astype(np.uint32)
    given_out = numbers.of(owner, copy)
    assert len(np.unique(given_out)) == sum(counts) and given_out.min() == 1
    for row in (0, len(copy) // 2, len(copy) - 1):
        assert numbers.whose(int(given_out[row])) == (owner[row], copy[row])


def test_1468_copies_of_four_objects_have_1468_numbers_in_labels(tmp_path: Path) -> None:
    frame = made_frame(load_sensor("vlp-16"), share=1.0)
    frame = frame.select(np.arange(len(frame)) < 2 * 1468)
    copy = np.arange(2 * 1468) // 2  # two points each
    frame = replace(
        frame,
        object_id=(1 + copy % 4).astype(frame.object_id.dtype),
        placement=(copy // 4).astype(frame.placement.dtype),
    )
    save_frame(frame, tmp_path / "scan.bin")
    numbers = np.fromfile(tmp_path / "scan.label", "<u4") >> 16
    assert len(np.unique(numbers)) == 1468 and (numbers[::2] == numbers[1::2]).all() and numbers.min() > 0
