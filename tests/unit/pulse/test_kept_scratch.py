"""What one scan leaves in a worker's memory does not matter to the next."""

from __future__ import annotations

import numpy as np
import pytest
from test_kept_frames import CASES
from test_kept_frames import sensor as made_sensor

import tussock
from tussock.poses import Pose, Trajectory
from tussock.pulse import kept_scratch
from tussock.pulse.tables import Hits, Scratch
from tussock.scene.material import Material
from tussock.scene.response import VegetationResponse
from tussock.simulate import prepare, scan
from tussock.trace.packets import Packet
from tussock.trace.world import World

LEFT = {(Hits, "used"), (Hits, "energies")}
"""what every group leaves as it found it"""


def spoiled(part: object) -> int:
    """Write what makes no sense into all arrays; how many there are."""
    if isinstance(part, Packet):  # half of it is the tracer's own
        return 0
    if isinstance(part, tuple):
        return sum(spoiled(it) for name, it in zip(part._fields, part, strict=True) if (type(part), name) not in LEFT)
    assert isinstance(part, np.ndarray)
    part[...] = np.nan if part.dtype.kind == "f" else 1
    return 1


def on_shelves() -> list[Scratch]:
    return [kept.scratch for shelf in kept_scratch._shelves.values() for kept in shelf.kept]


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_read_that_the_scan_has_not_written(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_scratch, "_shelves", {})
    scene, settings, options = CASES[case]
    made = {name: settings[name] for name in ("lasers", "steps") if name in settings}
    small = made_sensor(**made, **{name: value for name, value in settings.items() if name not in made})
    world = World(scene())
    frames = []
    for _ in range(2):
        frames.append(scan(world, small, threads=1, **options))
        (scratch,) = on_shelves()
        assert spoiled(scratch) > 30
        rays = small.beam.rays + (small.beam.halo_rays if small.beam.halo_share else 0)
        assert (scratch.hits.used == rays).all()
        assert not scratch.hits.energies[rays:].any()
    first, again = frames
    for name, column in first.columns.items():
        np.testing.assert_array_equal(again.columns[name].view(np.uint8), column.view(np.uint8), err_msg=name)
    if first.waveforms is not None:
        np.testing.assert_array_equal(again.waveforms.samples, first.waveforms.samples)


def test_memory_is_kept_for_as_much_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_scratch, "_shelves", {})
    scene = tussock.Scene("wall")
    scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    world, sensor = World(scene), made_sensor(lasers=1, steps=16)
    scan(world, sensor, threads=1)
    (kept,) = on_shelves()
    scan(world, sensor, seed=2, threads=1)
    (again,) = on_shelves()
    assert again is kept
    for rays in range(1, 20):
        scan(world, sensor.with_(**{"beam.rays": rays}), threads=1)
    assert len(kept_scratch._shelves) == 8
    assert len(on_shelves()) == 8
    assert not any(scratch is kept for scratch in on_shelves())


def test_what_needs_more_memory_has_a_shelf_of_its_own() -> None:
    """One thing of one material, in still air: a scan that hears what responds, or that light goes on in, needs more rows."""
    leaf = Material(name="leaf", reflectance=0.4)
    shelves = []
    for shape, changes, tags in (
        (leaf, {}, ()), (leaf, {}, ("vegetation",)), (leaf.changed(mirror=0.5), {}, ()), (leaf, {"beam.rays": 7}, ()),
        (leaf, {"receiver.mode": "strongest+last"}, ()), (leaf, {"receiver.mode": "strongest+last"}, ("vegetation",)),
    ):  # fmt: skip
        scene = tussock.Scene("bush")
        response = VegetationResponse(sigma_m=1.0) if tags else None
        scene.add(tussock.box((1, 1, 2), material=shape), name="bush", tags=tags, response=response, position=(4, 0, 0))
        world = World(scene)
        shot = prepare(world, made_sensor(lasers=1, steps=4, **changes), Trajectory.standing(Pose.at()), 3, 0)
        shelves.append((kept_scratch.shelf_for(shot.scanning, shot.slots), world))
    assert len({id(shelf) for shelf, _ in shelves}) == 6
