"""Plants in wind against closed forms: a cantilever beam, a damped oscillator, and a mesh bent vertex by vertex.

The twin here is written from the formulas alone, in plain NumPy: it shares no code with the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import tussock
from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look
from tussock.plants.grass import grass_tile
from tussock.poses import Pose
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.scene.stems import Stem
from tussock.scene.wind import Wind, speed_at, waves
from tussock.sensors.catalogue import load_sensor
from tussock.trace.rays import trace_rays
from tussock.trace.world import World

AIR = 1.225
HEIGHT, STIFFNESS, MASS, DRAG, DAMPING = 1.0, 2.0, 0.05, 0.02, 0.1
BEAM = Stem.beam(HEIGHT, STIFFNESS, MASS, DRAG, DAMPING)


def board(height: float = HEIGHT, width: float = 0.2, rows: int = 50) -> Mesh:
    """An upright strip in the y-z plane that faces x, rooted at z = 0."""
    z = np.linspace(0, height, rows + 1)
    sides = [np.stack([0 * z, np.full_like(z, y), z], 1) for y in (-width / 2, width / 2)]
    k = np.arange(rows)
    first = np.stack([k, k + rows + 1, k + rows + 2], 1)
    second = np.stack([k, k + rows + 2, k + 1], 1)
    return Mesh.of(np.concatenate(sides), np.concatenate([first, second]))


def boards(places: Any, wind: Wind) -> Scene:
    scene = Scene("boards")
    scene.add(board(), name="board", label="stem", placements=Placements.of(places))
    scene.wind = wind
    return scene


def blowing(gusts: float = 0.0, speed: float = 6.0, **more: Any) -> Wind:
    """From the west: along x."""
    return Wind(speed_m_s=speed, from_deg=270.0, gusts=gusts, stems={"board": BEAM}, **more)


@dataclass
class At:
    """A world at one moment, for `trace_rays`."""

    still: Any
    origin: NDArray[np.float64]


def at(world: World, time: float) -> Any:
    return At(world.moving(time, time), world.origin)


def heights_hit(world: Any, z: NDArray[np.float64], x: float = 0.0, y: float = 0.0) -> NDArray[np.float64]:
    """Where level rays along x meet what is before them."""
    start = np.stack([np.full_like(z, x), np.full_like(z, y), z], 1)
    return x + trace_rays(world, start, np.tile([1.0, 0.0, 0.0], (len(z), 1)), 100.0, threads=1).astype(float)


def shape(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The line of a cantilever under an even load (Gere and Timoshenko, Mechanics of Materials, app. G, case 1)."""
    z = np.clip(share, 0, 1)
    return np.asarray((z**4 - 4 * z**3 + 6 * z**2) / 3)


def steady_tip(speed: float) -> float:
    """q h⁴ / 8 EI, with the load of the wind at the tip's height."""
    here = speed * np.log(HEIGHT / 0.03) / np.log(10 / 0.03)
    return float(0.5 * AIR * here**2 * DRAG * HEIGHT**4 / (8 * STIFFNESS))


@pytest.mark.parametrize("speed", [1.0, 3.0, 6.0])
def test_a_steady_wind_bends_a_beam_as_the_closed_form_says(speed):
    z = np.linspace(0.02, 0.98, 33)
    met = heights_hit(World(boards([[5.0, 0, 0]], blowing(speed=speed))), z)
    tip = steady_tip(speed)
    # What is left of the linear theory: the tip turns out of the wind by ½ (u / 0.6 h)², and sinks by as little.
    assert met == pytest.approx(5 + tip * shape(z), abs=2e-6 + 3e-3 * tip)


def test_the_first_frequency_is_that_of_the_beam():
    assert BEAM.frequency_hz == pytest.approx(
        1.8751**2 / (2 * np.pi) * np.sqrt(STIFFNESS / (MASS * HEIGHT**4)), rel=1e-4
    )
    world = World(boards([[5.0, 0, 0]], blowing(gusts=0.3, seed=3)))
    times = np.arange(0, 20, 0.05)
    way = np.array([heights_hit(at(world, t), np.array([0.9]))[0] for t in times])
    power = np.abs(np.fft.rfft((way - way.mean()) * np.hanning(len(way)))) ** 2
    frequency = np.fft.rfftfreq(len(way), 0.05)
    fast = frequency > 2.0  # above all gusts
    # Copies differ by chance within ±15 %, and beat within the damping.
    assert frequency[fast][power[fast].argmax()] == pytest.approx(BEAM.frequency_hz, rel=0.15 + DAMPING)


def gust(wind: Wind, x: float, t: Any) -> Any:
    """The speed over its mean, less 1, over the gusts."""
    w = waves(wind)
    return sum(
        a * np.cos(2 * np.pi * (k[0] * x - f * t + p))
        for a, k, f, p in zip(w.amplitude, w.turns, w.frequency, w.phase, strict=True)
    )


def test_the_answer_to_gusts_is_that_of_a_damped_oscillator():
    """u'' + 2ζω u' + ω² u = ω² u₀ (1 + 2 g n(t)), integrated in steps, once its beginning is forgotten."""
    wind, x = blowing(gusts=0.2, speed=4.0, seed=5), 5.0
    omega, tip = 2 * np.pi * BEAM.frequency_hz, steady_tip(4.0)

    def push(t, state):
        u, v = state
        return v, omega**2 * (tip * (1 + 0.4 * gust(wind, x, t)) - u) - 2 * DAMPING * omega * v

    times = np.arange(6.0, 9.0, 0.05)
    exact = solve_ivp(push, (0, 9.0), (tip, 0.0), t_eval=times, rtol=1e-8, atol=1e-12).y[0]
    world = World(boards([[x, 0, 0]], wind))
    copies = next(iter(world._swaying.values()))
    copies.plants[:, 4:6] = 0.0  # without its own sway, which turbulence that is no wave of the gusts makes
    met = np.array([heights_hit(at(world, t), np.array([0.9]))[0] for t in times]) - x
    assert met == pytest.approx(exact * shape(np.array(0.9)), abs=0.01 * tip)


def test_gusts_travel_with_the_wind():
    wind = Wind(speed_m_s=8.0, from_deg=200.0, gusts=0.5, seed=9)
    w, (x, y) = waves(wind), wind.towards
    rng = np.random.default_rng(0)
    places, times, later = rng.uniform(-50, 50, (40, 2)), rng.uniform(0, 100, 40), 3.0

    def speeds(places, times):
        turns = places @ w.turns.T - times[:, None] * w.frequency + w.phase
        return (w.amplitude * np.cos(2 * np.pi * turns)).sum(1)

    moved = places + later * 8.0 * np.array([x, y])
    assert speeds(moved, times + later) == pytest.approx(speeds(places, times), abs=1e-9)
    many = speeds(rng.uniform(-1e4, 1e4, (20_000, 2)), np.zeros(20_000))
    assert many.std() == pytest.approx(1.0, rel=0.03)
    assert abs(many.mean()) < 0.03


@pytest.mark.parametrize(("bearing", "way"), [(270, (1, 0)), (180, (0, 1)), (90, (-1, 0)), (240, (0.8660254, 0.5))])
def test_a_bearing_is_where_the_wind_comes_from(bearing, way):
    assert Wind(speed_m_s=1.0, from_deg=bearing).towards == pytest.approx(way, abs=1e-7)


def bent_vertices(world: World, number: int, copy: int, time: float) -> NDArray[np.float64]:
    """The vertices of a copy in the world, each taken where the formulas say, from the world's own table of plants."""
    copies, thing = world._swaying[number], world.geometries[number]
    base, height, damping = copies.shape[:3]
    gains, lags = copies.shape[7::2], copies.shape[8::2]
    x, y, lean, f, own, across, p1, p2, p3, ax, ay, bx, by, tall, _ = copies.plants[copy].astype(float)
    kx, ky, frequency, phase = copies.waves.reshape(-1, 4).T
    gusts = (gains * np.cos(2 * np.pi * (kx * x + ky * y - frequency * time + phase + lags))).sum()
    beat = np.cos(2 * np.pi * (f * (1 - damping) * time + p1)) + np.cos(2 * np.pi * (f * (1 + damping) * time + p2))
    gusts = np.clip(gusts, -copies.shape[5], copies.shape[5])
    tip = np.array([lean * (1 + gusts) + own * beat, across * np.cos(2 * np.pi * (f * time + p3))])
    tip /= np.sqrt(1 + (tip @ tip) / (0.6 * tall) ** 2)
    v = thing.mesh.vertices.astype(float)
    up = v[:, 2] - base
    way = shape(up / height)[:, None] * (tip @ np.array([[ax, ay], [bx, by]]))
    z = base + np.where(up > 0, up * (1 - 4 / 7 * (tip @ tip) / tall**2), up)
    matrix = thing.placements.matrices[copy]
    return np.concatenate([v[:, :2] + way, z[:, None]], 1) @ matrix[:, :3].T + matrix[:, 3]


@pytest.mark.parametrize("seed", range(3))
def test_rays_meet_the_mesh_that_is_bent_vertex_by_vertex(seed):
    """Level and steep rays through turned, sloping, tall and small copies: as if every copy had a mesh of its own."""
    rng = np.random.default_rng(seed)
    places = Placements.of(
        rng.uniform([4, -1, -0.1], [7, 1, 0.1], (6, 3)), yaw=rng.uniform(0, 6, 6), scale=rng.uniform(0.7, 1.4, 6)
    )
    sloping = places.matrices.copy()
    sloping[:, 2, :2] += rng.uniform(-0.2, 0.2, (6, 2))
    scene = Scene("tiles")
    scene.add(grass_tile(blades=60, width=0.02, seed=seed), name="grass", label="grass", placements=Placements(sloping))
    scene.wind = Wind(speed_m_s=7.0, from_deg=float(rng.uniform(0, 360)), gusts=0.4, seed=seed)
    world, time = World(scene), float(rng.uniform(0, 100))
    twin = Scene("bent")
    for copy in range(6):
        twin.add(Mesh.of(bent_vertices(world, 0, copy, time), scene.objects[0].mesh.triangles))
    count = 4000
    start = np.concatenate(
        [rng.uniform([0, -2, 0.3], [0, 2, 1.0], (count, 3)), rng.uniform([4, -1, 2], [7, 1, 3], (count, 3))]
    )
    end = rng.uniform([4, -1, 0], [7, 1, 0.3], (2 * count, 3))
    way = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
    got = trace_rays(at(world, time), start, way, 50.0, threads=1)
    aside = np.cross(way, [0.0, 0.0, 1.0])
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    over = np.cross(way, aside)
    bent = World(twin)

    def agree(seen, off):
        """Rays that see what a ray at most ``off`` [m] beside them sees of the bent meshes, to 2 mm."""
        found = np.zeros(len(start), bool)
        for a, b in ((0, 0), (off, 0), (-off, 0), (0, off), (0, -off)):
            want = trace_rays(bent, start + a * aside + b * over, way, 50.0, threads=1)
            found |= (np.abs(seen - want) < 2e-3) | (np.isnan(seen) & np.isnan(want))
        return found

    still = trace_rays(World(_still(scene)), start, way, 50.0, threads=1)
    level, steep = slice(0, count), slice(count, None)
    same, near = agree(got, 0.0), agree(got, 3e-3)
    assert same[level].mean() > 0.93 and same[steep].mean() > 0.85
    # A blade is 2 cm wide: an edge that is off by 1 mm is a tenth of all rays that meet it.
    assert near[level].mean() > 0.97 and near[steep].mean() > 0.93
    assert agree(still, 3e-3)[level].mean() < 0.9  # the wind is no small thing here


def _still(scene: Scene) -> Scene:
    calm = Scene("calm")
    calm.objects = scene.objects
    return calm


def test_each_pulse_meets_a_blade_where_it_is_at_its_own_time():
    """A scan of a board that sways fast: every point lies on the board of its own moment, not of another one."""
    stem = Stem(frequency_hz=2.0, mass_kg_m=0.01, drag_width_m=0.02, damping=0.1)
    scene = Scene("board")
    scene.add(board(width=3.0), name="board", label="stem", position=(5.0, 0, 0))
    scene.wind = Wind(speed_m_s=9.0, from_deg=270.0, gusts=1.0, seed=1, stems={"board": stem})
    world, sensor = World(scene), load_sensor("hdl-32e").with_(**{"noise.ray_sigma_m": 0.0, "beam.rays": 1})
    worst, moved = 0.0, 0.0
    for frame in range(2):
        got = tussock.scan(world, sensor, Pose.at(0, 0, 0.5), frame=frame)
        got = got.select(got.hit)
        points = got.true_xyz.astype(float) + np.array([0, 0, 0.5])
        for pick in np.linspace(0, len(got) - 1, 12).astype(int):
            for time, keep in ((got.time[pick], True), (got.time[pick] + 0.02, False)):
                vertices = bent_vertices(world, 0, 0, float(time))[:51]
                off = points[pick, 0] - np.interp(points[pick, 2], vertices[:, 2], vertices[:, 0])
                worst, moved = (max(worst, abs(off)), moved) if keep else (worst, max(moved, abs(off)))
    assert worst < 1e-4
    assert moved > 5e-3


def test_the_radial_speed_is_how_fast_the_range_changes():
    world = World(boards([[5.0, 0, 0]], blowing(gusts=0.5, seed=2)))
    sensor = load_sensor("hdl-32e").with_(**{"noise.ray_sigma_m": 0.0, "beam.rays": 1})
    got = tussock.scan(world, sensor, Pose.at(0, 0, 0.5), frame=7)
    rows = np.flatnonzero(got.hit & (got.true_xyz[:, 2] > 0))
    assert len(rows) > 10
    for row in rows[:: max(1, len(rows) // 8)]:
        time, z = float(got.time[row]), float(got.true_xyz[row, 2]) + 0.5
        before, now, after = (bent_vertices(world, 0, 0, time + d)[:51] for d in (-1e-3, 0.0, 1e-3))
        share = np.interp(z, now[:, 2], np.arange(51.0))
        (x0, z0), (x1, z1) = ([np.interp(share, np.arange(51.0), v[:, c]) for c in (0, 2)] for v in (before, after))
        way = got.true_xyz[row] / np.linalg.norm(got.true_xyz[row])
        rate = ((x1 - x0) * way[0] + (z1 - z0) * way[2]) / 2e-3
        assert got.true_speed[row] == pytest.approx(rate, abs=2e-3)
    assert np.abs(got.true_speed[rows]).max() > 0.02


def test_a_camera_sees_the_plant_of_its_moment():
    world = World(boards([[5.0, 0, 0]], blowing(gusts=0.5, seed=2)))
    camera = Camera(width=64, height=48, lens=Pinhole(fx=60.0))
    depths = []
    for time in (0.0, 0.13, 3.7):
        view = look(world, camera, Pose.at(0, 0, 0.5), time=time)
        depth = float(view.depth[18, 31])
        vertices = bent_vertices(world, 0, 0, time)[:51]
        there = np.interp(0.5 + (23.5 - 18) / 60.0 * depth, vertices[:, 2], vertices[:, 0])
        assert depth == pytest.approx(there, abs=1e-4)
        depths.append(depth)
    assert np.ptp(depths) > 1e-3


def test_no_wind_is_the_frame_without_wind_to_the_bit():
    sensor, place = load_sensor("vlp-16"), Pose.at(0, 0, 1.0)
    scene = Scene("tiles")
    scene.add(grass_tile(blades=40), name="grass", label="grass", placements=Placements.of([[4, 0, 0], [5, 0, 0]]))
    calm = tussock.scan(scene, sensor, place, seed=4)
    scene.wind = Wind(speed_m_s=0.0, from_deg=10.0, gusts=1.0)
    zero = tussock.scan(scene, sensor, place, seed=4)
    scene.wind = Wind(speed_m_s=5.0, still=("grass",))
    held = tussock.scan(scene, sensor, place, seed=4)
    assert len(calm) > 50
    for name, column in calm.columns.items():
        assert zero.columns[name].tobytes() == column.tobytes(), name
        assert held.columns[name].tobytes() == column.tobytes(), name


def test_the_same_seed_gives_the_same_bytes():
    sensor, place = load_sensor("vlp-16"), Pose.at(0, 0, 1.0)

    def frame(threads: int, seed: int = 0) -> dict[str, bytes]:
        scene = Scene("tiles")
        scene.add(grass_tile(blades=40), name="grass", label="grass", placements=Placements.of([[4, 0, 0], [5, 0, 0]]))
        scene.wind = Wind(speed_m_s=6.0, gusts=0.5, seed=seed)
        got = tussock.scan(scene, sensor, place, seed=4, frame=3, threads=threads, block=16 if threads > 1 else 1024)
        return {name: column.tobytes() for name, column in got.columns.items()}

    assert frame(1) == frame(2)
    assert frame(1)["range"] != frame(1, seed=1)["range"]


def test_speed_grows_with_height():
    assert speed_at(6.0, 10.0) == pytest.approx(6.0)
    assert speed_at(6.0, 1.0) == pytest.approx(6.0 * np.log(1 / 0.03) / np.log(10 / 0.03))
    assert speed_at(6.0, 0.0) > 0
