"""BlenSor's twelve fields, and what was hit."""

from __future__ import annotations

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from tussock.errors import InputError
from tussock.files.truth_table import BLENSOR_FIELDS, save_truth_table
from tussock.poses import Pose
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan


@pytest.fixture(scope="module")
def frame():
    scene = Scene("boxes")
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    places = Placements.of([(6.0, 0.0, 1.0), (-6.0, 2.0, 1.0)])
    scene.add(box((2.0, 2.0, 2.0)), name="cars", label="car", placements=places)
    return scan(scene, load_sensor("vlp-16"), Pose.at(0, 0, 1.5), seed=4, keep_misses=True)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_twelve_fields_and_the_rest(frame, tmp_path, suffix):
    path = tmp_path / f"t.{suffix}"
    save_truth_table(frame, path)
    table = pyarrow.csv.read_csv(path) if suffix == "csv" else pyarrow.parquet.read_table(path)
    more = ["class", "instance", "placement", "material", "return_number"]
    assert table.column_names == [*BLENSOR_FIELDS, *more]
    assert table.num_rows == len(frame)
    hit = frame.hit
    got = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    pairs = {
        "timestamp": frame.time, "yaw": frame.azimuth, "pitch": frame.elevation, "distance": frame.true_range,
        "distance_noisy": frame.range, "x": frame.true_xyz[:, 0], "z_noisy": frame.xyz[:, 2],
        "object_id": frame.object_id, "placement": frame.placement, "return_number": frame.return_number,
    }  # fmt: skip
    for name, column in pairs.items():
        np.testing.assert_allclose(got[name][hit].astype(float), column[hit].astype(float), rtol=1e-6)
    assert set(got["class"][hit]) == {"terrain", "car"}
    # the ground is instance 1, the two cars are 2 and 3
    cars = hit & (frame.object_id == 2)
    np.testing.assert_array_equal(got["instance"][cars], 2 + frame.placement[cars])
    assert set(got["instance"][cars].tolist()) == {2, 3} and set(got["instance"][hit & ~cars].tolist()) == {1}


def test_another_suffix(frame, tmp_path):
    with pytest.raises(InputError, match=r"\.csv or \.parquet"):
        save_truth_table(frame, tmp_path / "t.txt")
