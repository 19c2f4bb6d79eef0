"""The same bits whatever instructions Embree uses, but for rays that pass within a rounding error of an edge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.formats import load_frame
from tussock.frames.frame import Frame
from tussock.plants.grass import grass_tile
from tussock.poses import Pose, Trajectory
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, plane, sphere
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.embree import Device, chosen_isa, host_isas
from tussock.trace.rays import trace_rays
from tussock.trace.world import World

BEST = host_isas()[-1] if host_isas() else ""


def things() -> Scene:
    """Baked, shared, mirrored, stretched and moving shapes."""
    scene = Scene()
    scene.add(ground((80, 80), cells=(57, 61), heights=lambda x, y: np.sin(x) * np.cos(1.3 * y)))
    turns = np.random.default_rng(4).normal(size=(40, 4))
    places = np.random.default_rng(5).uniform(-20, 20, (40, 3)) * [1, 1, 0.1]
    sizes = np.random.default_rng(6).uniform(0.3, 2.0, (40, 3)) * [1, -1, 1]
    scene.add(sphere(0.5, subdivisions=3), placements=Placements.of(places, quaternions=turns, scale=sizes))
    path = Trajectory.through([0.0, 0.1], [Pose.at(5, 0, 0), Pose.at(6, 3, 0.2, yaw=1.5)])
    scene.add(box((1, 2, 3)), motion=path)
    return scene


def frame_with(isa: str, scene: Scene, edges: str) -> Frame:
    sensor = load_sensor("vlp-16").with_(**{"beam.rays": 4})
    return scan(World(scene, device=Device(isa, edges)), sensor, Pose.at(0.3, 0.1, 3.0), seed=3)


@pytest.mark.parametrize("edges", ["embree", "own"])
@pytest.mark.parametrize("isa", [isa for isa in host_isas() if isa != BEST])
def test_frames_have_the_same_bits_under_every_instruction_set(isa: str, edges: str) -> None:
    scene = things()
    one, other = frame_with(isa, scene, edges), frame_with(BEST, scene, edges)
    assert one.meta["tracer"]["isa"] == isa
    assert one.meta["tracer"].get("edges", "embree") == edges
    if one.identical(other):
        return
    # Of some 115,000 rays at most one may pass so near to an edge that the sets disagree whose it is.
    pulses, a, b = np.intersect1d(one.pulse, other.pulse, return_indices=True)
    differ = sum(not np.array_equal(one.columns[c][a], other.columns[c][b], equal_nan=True) for c in ("true_range",))
    assert differ <= 1
    assert len(pulses) >= max(len(one), len(other)) - 1
    assert (one.true_range[a] != other.true_range[b]).sum() <= 1


def rays_at_edges(tile: Mesh, scene: Scene, rays: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rays aimed at the edges of all copies, as near to them as double precision is."""
    draw = np.random.default_rng(7)
    matrices = scene.objects[0].placements.matrices[draw.integers(0, len(scene.objects[0].placements), rays)]
    ends = tile.vertices[tile.triangles[draw.integers(0, len(tile.triangles), rays)]].astype(np.float64)
    k, share = draw.integers(0, 3, rays), draw.uniform(0, 1, (rays, 1))
    place = ends[np.arange(rays), k] * share + ends[np.arange(rays), (k + 1) % 3] * (1 - share)
    place = np.einsum("nij,nj->ni", matrices[:, :, :3], place) + matrices[:, :, 3]
    way = place - [0.3, 0.1, 1.7]
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    return np.broadcast_to([0.3, 0.1, 1.7], way.shape), way


@pytest.mark.parametrize("isa", [isa for isa in host_isas() if isa != BEST])
def test_rays_right_at_the_edges_of_blades_meet_the_same(isa: str) -> None:
    """Without fused products one ray in twenty met something else."""
    tile, scene, draw = grass_tile(seed=1), Scene(), np.random.default_rng(8)
    scene.add(tile, placements=Placements.of(draw.uniform(-25, 25, (200, 3)) * [1, 1, 0], yaw=draw.uniform(0, 6, 200)))
    scene.add(ground((80, 80), cells=(40, 40)))
    rays = rays_at_edges(tile, scene, 60_000)
    one, other = (trace_rays(World(scene, device=Device(name, "own")), *rays, 60.0, threads=1) for name in (isa, BEST))
    differ = (one != other) & ~(np.isnan(one) & np.isnan(other))
    assert differ.sum() <= 1  # surfaces that cross


@pytest.mark.parametrize("isa", host_isas())
@pytest.mark.parametrize("placed", ["once", "as copies", "mirrored", "of a large shape"])
def test_a_leaf_ends_a_band_before_its_edge(isa: str, placed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 20 m the band is 1 to 3 µm wide; a wall is behind."""
    if placed == "of a large shape":
        monkeypatch.setattr("tussock.trace.triangles._BY_CORNERS_UP_TO", 0)
    scene = Scene()
    places = [[0.0, 0.0, 0.0]] if placed == "once" else [[0.0, 0.0, 0.0], [0.0, 9.0, 0.0]]
    scale = np.array([[1.0, -1.0, 1.0]]) if placed == "mirrored" else np.ones((1, 3))
    scene.add(plane((0.1, 0.1)), placements=Placements.of(places, scale=np.repeat(scale, len(places), 0)))
    scene.add(plane((30, 30)), position=(0, 0, -1))
    inside = np.array([-1e-4, -1e-6, 0.0, 1e-6, 1e-4])
    start = np.stack([0.05 - inside, 0 * inside + 0.01, 0 * inside + 20.0], 1)
    ranges = trace_rays(
        World(scene, device=Device(isa, "own")), start, np.broadcast_to([0.0, 0.0, -1.0], start.shape), 60.0
    )
    assert ranges.tolist() == [21.0, 21.0, 21.0, 21.0, 20.0]


def test_the_instructions_can_be_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TUSSOCK_ISA", raising=False)
    assert chosen_isa() == chosen_isa("native") == BEST
    for isa in host_isas():
        monkeypatch.setenv("TUSSOCK_ISA", isa)
        assert Device().isa == isa
    monkeypatch.setenv("TUSSOCK_ISA", "mmx")
    with pytest.raises(InputError, match="TUSSOCK_ISA: must be one of those that this processor has"):
        Device()
    with pytest.raises(InputError, match="isa: must be one of"):
        Device("altivec")


def test_whose_word_holds_at_edges_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TUSSOCK_EDGES", raising=False)
    assert Device().edges == "embree"
    monkeypatch.setenv("TUSSOCK_EDGES", "own")
    assert Device().edges == "own"
    monkeypatch.setenv("TUSSOCK_EDGES", "mine")
    with pytest.raises(InputError, match="TUSSOCK_EDGES: must be embree or own"):
        Device()
    with pytest.raises(InputError, match="edges: must be embree or own"):
        Device(edges="sharp")


def test_the_command_line_pins_too(tussock: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUSSOCK_ISA", "")  # put back what the commands set
    monkeypatch.setenv("TUSSOCK_EDGES", "")
    words = ["scan", "rods", "--sensor", "vlp-16", "--rays", "1", "--out"]
    status, _, said = tussock("--isa", host_isas()[0], "--edges", "own", *words, "pinned.npz")
    assert status == 0, said
    told = load_frame("pinned.npz").meta["tracer"]
    assert (told["isa"], told["edges"]) == (host_isas()[0], "own")
    for option, rule in (("--isa", "isa: must be one of those that"), ("--edges", "edges: must be embree or own")):
        status, _, said = tussock(option, "mine", *words, "other.npz")
        assert status == 2
        assert said.startswith(f"error: {rule}")
        assert said.count("\n") == 1
