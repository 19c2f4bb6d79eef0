"""Our labels in other people's numbers: every label has a class, every class is one of theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.files.formats import save_frame
from tussock.poses import Pose
from tussock.scene.label_map import label_map_names, load_label_map
from tussock.scene.labels import LABELS
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan


@pytest.mark.parametrize("name", label_map_names())
def test_every_label_has_a_class(name: str) -> None:
    theirs = load_label_map(name)
    assert set(theirs.labels) == set(LABELS)
    assert set(theirs.labels.values()) <= set(theirs.classes)
    assert len(set(theirs.classes.values())) == len(theirs.classes)
    assert theirs.source
    wanted = [theirs.classes[theirs.labels[label]] for label in LABELS]
    assert theirs.numbers(np.array(list(LABELS.values()), np.uint16)).tolist() == wanted
    assert theirs.numbers(np.array([60_000], np.uint16)).tolist() == [0]


def test_numbers_that_the_data_sets_publish() -> None:
    assert label_map_names() == ("goose", "rellis-3d", "semantic-kitti")
    kitti, rellis, goose = (load_label_map(name).classes for name in ("semantic-kitti", "rellis-3d", "goose"))
    assert (kitti["vegetation"], kitti["terrain"], kitti["trunk"]) == (70, 72, 71)
    assert (rellis["bush"], rellis["puddle"], rellis["rubble"]) == (19, 31, 34)
    assert (goose["high_grass"], goose["tree_root"], goose["soil"], len(goose)) == (51, 62, 31, 64)
    with pytest.raises(InputError, match="label map 'kitti': no such map; did you mean 'semantic-kitti'"):
        load_label_map("kitti")


def test_labels_beside_points(tmp_path: Path) -> None:
    """Classes are SemanticKITTI's; no two copies share an instance, though object + placement would."""
    scene = Scene("posts")
    scene.add(plane((40, 40)), name="ground", label="grass")
    for k in range(4):
        placed = Placements.of([(4 + k, -6 + 2 * j, 1.5) for j in range(6)])
        scene.add(box((0.4, 0.4, 3.0)), name=f"posts {k}", label="shrub", placements=placed)
    frame = scan(scene, load_sensor("vlp-16"), Pose.at(0, 0, 1.5))
    save_frame(frame, tmp_path / "a.bin")
    labels = np.fromfile(tmp_path / "a.label", "<u4")
    hits = frame.select(frame.hit)
    np.testing.assert_array_equal(labels & 0xFFFF, np.where(hits.label == 100, 72, 70))
    pairs = set(zip(hits.object_id.tolist(), hits.placement.tolist(), strict=True))
    assert len(pairs) > 10 and len({a + b for a, b in pairs}) < len(pairs)
    assert len(np.unique(labels >> 16)) == len(pairs)
    told = set(zip(hits.object_id.tolist(), hits.placement.tolist(), (labels >> 16).tolist(), strict=True))
    assert len(told) == len(pairs)
