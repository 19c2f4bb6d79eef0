"""The bytes of two returns as a recorded VLP-16 has them: nearly all pairs are equal, and where they differ the second echo
lies well behind the first, because one pulse cannot tell apart what lies within its own length.

A recorded VLP-16 in a room has 98.8 % equal pairs, the second at least 1.19 m from the first.
"""

from __future__ import annotations

import numpy as np
import pytest

from tussock.poses import Pose
from tussock.scene.primitives import box, cylinder, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.wire.velodyne.encode import PacketEncoder

STEP = 0.002  # [m]


def pairs(payloads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[m] last and strongest returns, by the layout of the manual: blocks in pairs of one azimuth, last first."""
    blocks = np.ascontiguousarray(payloads[:, :1200]).reshape(-1, 12, 100)[:, :, 4:].reshape(-1, 12, 32, 3)
    distance = (blocks[..., 0].astype(int) | blocks[..., 1].astype(int) << 8) * STEP
    return distance[:, 0::2].ravel(), distance[:, 1::2].ravel()


def room() -> Scene:
    """Four walls and a floor, a few posts and boxes."""
    scene = Scene("room")
    scene.add(plane((20, 16)), name="floor")
    for k, (x, y, size) in enumerate(
        [(10, 0, (0.2, 16, 6)), (-10, 0, (0.2, 16, 6)), (0, 8, (20, 0.2, 6)), (0, -8, (20, 0.2, 6))]
    ):
        scene.add(box(size), name=f"wall {k}", position=(x, y, 3))
    for k, (x, y) in enumerate([(4, 2), (-5, 3), (3, -5), (-2, -4)]):
        scene.add(cylinder(0.1, 3.0), name=f"post {k}", position=(x, y, 1.5))
    return scene


@pytest.mark.parametrize("ground", [True, False], ids=["bare ground", "a room"])
def test_pairs_are_equal_but_for_edges(ground: bool) -> None:
    scene = room()
    if ground:
        scene = Scene("bare")
        scene.add(plane((80, 80)), name="ground")
    sensor = load_sensor("vlp-16").with_(**{"receiver.mode": "strongest+last"})
    frame = scan(scene, sensor, Pose.at(0.3, 0.2, 1.2), seed=3)
    last, strongest = pairs(PacketEncoder(sensor).encode(frame).payloads)
    np.testing.assert_array_equal(last > 0, strongest > 0)
    there = last > 0
    equal = (last == strongest)[there]
    assert equal.mean() > (0.995 if ground else 0.97)
    apart = np.abs(last - strongest)[there][~equal]
    # Pulses are some 6 ns long: nearer than 0.9 m (c·FWHM/2) two echoes are one.
    shortest = 299_792_458 * sensor.receiver.pulse_fwhm_ns * 1e-9 / 2
    assert not len(apart) or apart.min() > 0.9 * shortest
