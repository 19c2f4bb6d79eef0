"""The table of where tips are: the same numbers as plant by plant, however many plants are taken together."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.scene.wind import Wind
from tussock.trace.wind.sway import LAID, tip_at
from tussock.trace.wind.tips import fill_tips
from tussock.trace.world import World


@pytest.mark.parametrize("count", [1, 64, 150])
def test_tips_of_many_plants_are_bit_for_bit_those_of_each(count: int) -> None:
    rng, scene = np.random.default_rng(count), Scene("posts")
    for name, high in (("low", 0.5), ("high", 2.0)):
        where = Placements.of(rng.uniform(-60, 60, (count, 3)), yaw=rng.uniform(0, 6, count))
        scene.add(box((0.1, 0.1, high)), name=name, label="grass", placements=where)
    scene.wind = Wind(speed_m_s=9.0, from_deg=130.0, gusts=0.8, seed=7)
    sway = World(scene).moving(3.0, 3.1).tables.sway
    sway.plants[::3, LAID] = 0.4
    steps = sway.tips.shape[1]
    tips = np.full((2 * count, steps, 3), np.nan, np.float32)
    for worker in range(3):
        fill_tips(worker, 3, sway, tips)
    for geometry in range(2):
        for copy in range(count):
            row = sway.first[geometry] + copy
            for k in range(steps):
                time = sway.moment[0] + sway.moment[1] * k / (steps - 1)
                one = tip_at(sway.shapes[geometry], sway.plants[row], sway.waves, time)
                assert tips[row, k].tolist() == np.array(one).astype(np.float32).tolist()
