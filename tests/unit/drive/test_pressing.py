"""What a vehicle has passed over lies down, in the world that its sensors see."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.drive.settings import DriveSettings
from tussock.drive.simulation import Simulation
from tussock.drive.site.pressing import Pressing
from tussock.drive.stage import Stage
from tussock.plants.grass import grass_tile
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.wind import Wind
from tussock.sensors.catalogue import load_sensor
from tussock.trace.rays import trace_rays
from tussock.trace.world import World

SIDE = 12


def lawn(speed: float | None = None) -> Scene:
    """Tiles of 1 m of grass 0.4 m high over flat ground, and a post."""
    scene = Scene("lawn")
    scene.add(plane((40, 40)), name="ground", label="terrain")
    x, y = (v.ravel() for v in np.meshgrid(np.arange(SIDE) - 5.5, np.arange(SIDE) - 5.5, indexing="ij"))
    tile = grass_tile(blades=300, height=0.4, width=0.02)
    places = Placements.of(np.stack([x, y, 0 * x], 1))
    scene.add(tile, name="grass", label="grass", tags=["vegetation"], placements=places)
    scene.add(box((0.3, 0.3, 5)), name="post", label="pole", position=(15, 15, 2.5))
    scene.wind = None if speed is None else Wind(speed_m_s=speed, gusts=0.2)
    return scene


def heights(world: World) -> np.ndarray:
    """Mean height of what is met from above, shape (tiles, tiles)."""
    rng = np.random.default_rng(0)
    spots = rng.uniform(-6, 6, (60_000, 2))
    start = np.concatenate([spots, np.full((len(spots), 1), 3.0)], 1)
    met = 3.0 - trace_rays(world, start, np.tile([0.0, 0, -1], (len(spots), 1)), 9.0, threads=1)
    tile = np.floor(spots + 6).astype(int)
    return np.array([[met[(tile == (i, j)).all(1)].mean() for j in range(SIDE)] for i in range(SIDE)])


@pytest.mark.parametrize("speed", [None, 1.0])
def test_copies_are_laid_down_and_stand_up_again(speed):
    world = World(lawn(speed))
    grass = next(thing for thing in world.objects if thing.name == "grass")
    before = heights(world)
    laid = np.array([0, 13, 77])
    world.lay_down(grass.id, laid, np.array([0.2, 0.5, 0.2]))
    if speed is not None:
        world._still = world._with(None, world._at(world._still.tables, 0.0, 0.0))  # the next frame
    after = heights(world).ravel()
    # Tips of neighbours hang over a tile, so its own height is a bound and not a figure.
    assert (after[laid] < 0.8 * before.ravel()[laid]).all()
    others = np.setdiff1d(np.arange(SIDE**2), laid)
    assert np.median(np.abs(after[others] / before.ravel()[others] - 1)) < 0.01
    world.stand_up()
    if speed is not None:
        world._still = world._with(None, world._at(world._still.tables, 0.0, 0.0))
    assert heights(world) == pytest.approx(before)


def test_a_drive_leaves_a_track():
    settings = DriveSettings()
    stage = Stage(lawn(), settings.vehicle)
    before = heights(stage.world)
    drive = Simulation(stage, load_sensor("vlp-16"), (-5.0, 0.5, 0.0))
    for _ in range(30):
        drive.step(2.0, 0.0)
    pressed = drive.vehicle.site.plants.pressed
    assert pressed.any()
    after = heights(stage.world)
    at = drive.vehicle.motion.x
    track = after[: int(at + 5), 6] / before[: int(at + 5), 6]
    assert np.median(track) < 0.6
    assert np.median(after[:, [0, 1, 10, 11]] / before[:, [0, 1, 10, 11]]) == pytest.approx(1.0, abs=0.01)
    # Another drive on the same stage starts on grass that stands, and the first one finds its own again.
    other = Simulation(stage, load_sensor("vlp-16"), (-5.0, 4.5, 0.0))
    other.step(0.0, 0.0)
    assert np.median(np.abs(heights(stage.world) / before - 1)) < 0.01
    drive.step(0.0, 0.0)
    assert np.median(heights(stage.world)[: int(at + 5), 6] / before[: int(at + 5), 6]) < 0.6


def test_shares_follow_the_cells():
    stage = Stage(lawn(), DriveSettings().vehicle)
    pressing, plants = stage.pressing(), stage.site().plants
    assert isinstance(pressing, Pressing)
    told = []
    stage.world.lay_down = lambda number, copies, left: told.append((copies.tolist(), left.tolist()))  # type: ignore[method-assign]
    one = pressing._things[0]
    cells = one.cells[20]
    assert len(np.unique(cells)) == 4
    plants.pressed.ravel()[cells[:2]] = 1
    pressing.show(plants.pressed)
    ((copies, left),) = told
    assert dict(zip(copies, left, strict=True))[20] == pytest.approx(1 - 0.8 * 0.5)
    told.clear()
    pressing.show(plants.pressed)
    assert told == []
    plants.pressed.ravel()[cells] = 1
    pressing.show(plants.pressed)
    assert dict(zip(*told[0], strict=True))[20] == pytest.approx(0.2)
