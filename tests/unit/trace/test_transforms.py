"""How finely a motion is cut into the straight pieces that Embree moves along."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box
from tussock.scene.scene import Scene, SceneObject
from tussock.trace.embree import MAX_TIME_STEPS
from tussock.trace.transforms import time_steps
from tussock.trace.world import World


def moved(path: Trajectory) -> SceneObject:
    return Scene().add(box((2, 1, 1)), motion=path)


def spinning(turns: float) -> Trajectory:
    times = np.linspace(0, 1, 4001)
    turned = Rotation.from_euler("z", 2 * np.pi * turns * times[:, None]).as_quat()
    return Trajectory(times, np.zeros((len(times), 3)), turned)


def test_a_straight_way_is_one_piece() -> None:
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0), Pose.at(10, 5, 1)])
    steps = time_steps(moved(path), 0.0, 1.0, np.zeros(3))
    assert steps.shape == (2, 1, 12)
    np.testing.assert_allclose(steps[:, 0, 9:], [[0, 0, 0], [10, 5, 1]], atol=1e-6)


@pytest.mark.parametrize(("turns", "steps"), [(0.02, 9), (100.0, 129)])
def test_a_turn_is_as_many_as_keep_it_on_its_way(turns: float, steps: int) -> None:
    """A chord is r(Δφ)²/8 off its arc, here 0.1 mm for 4.4 pieces of 0.02 turns, so 8 of them; and never more than 129 steps,

    which is all that Embree takes (RTC_MAX_TIME_STEP_COUNT).
    """
    assert MAX_TIME_STEPS == 129
    assert len(time_steps(moved(spinning(turns)), 0.0, 1.0, np.zeros(3))) == steps


def test_the_most_steps_can_be_traced() -> None:
    scene = Scene()
    scene.add(box((2, 1, 1)), motion=spinning(100.0))
    assert World(scene).moving(0.0, 1.0) is not None
