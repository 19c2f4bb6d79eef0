"""Range noise is in a learned place once: the sensor that measured it gets its own spread back, a better one sees less."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.learn_volumes import learn_volumes
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.learn.range_noise import NoiseSums, constant_noise, noise_of, noise_sums, without_noise
from tussock.learn.scan_volumes import simulate_volumes
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.scene import Scene, SceneObject
from tussock.scene.volumes import HELD_STEP, unpacked
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

SIGMA = 0.03
GREY = Material(name="grey", reflectance=0.5)


@pytest.fixture(scope="module")
def noisy(pencil: Callable[..., Sensor]) -> Callable[..., Sensor]:
    def make(sigma: float, **more: object) -> Sensor:
        angles = np.linspace(-6, 6, 80).tolist()
        return pencil(azimuth_deg=angles, elevation_deg=angles, **{"noise.ray_sigma_m": sigma} | more)

    return make


@pytest.mark.parametrize("model", ["echoes", "hits"])
@pytest.mark.parametrize(("voxel", "at"), [(0.05, 10.0), (0.1, 10.03), (0.5, 10.0), (0.5, 10.2)])
def test_a_learned_wall_is_as_thick_as_it_was_recorded(
    model: str, voxel: float, at: float, noisy: Callable[..., Sensor], add_wall: Callable[..., SceneObject]
) -> None:
    """σ√2 before: 4.2 cm for 3.0; voxels that cut the wall through its noise (10.0) among them."""
    wall, learned = Scene("wall"), Scene("learned")
    add_wall(wall, (at, 0.0, 0.0), (-1.0, 0.0, 0.0), material=GREY, size=8.0)
    sensor = noisy(SIGMA, **{"receiver.model": model})
    frames = [scan(World(wall), sensor, Pose.at(), seed=s, keep_misses=True) for s in range(3)]
    volumes = fit_volumes(join_pulses([measured_pulses(frame) for frame in frames]), voxel=voxel)
    learned.add_volumes(volumes, name="wall")

    def spread(scene: Scene, sensor: Sensor) -> float:
        frame = scan(World(scene), sensor, Pose.at(), seed=9)
        across = frame.xyz[:, 0]
        return float(across[np.abs(across - at) < 0.2].std())

    recorded = spread(wall, sensor)
    assert recorded == pytest.approx(SIGMA, rel=0.03)
    assert spread(learned, sensor) == pytest.approx(recorded, rel=0.06 if voxel > 0.05 else 0.1)
    if voxel == 0.5 and at != 10.0:
        assert spread(learned, noisy(0.0)) < 0.3 * recorded, "a sensor without noise sees a flat wall"


def test_what_is_taken_out_is_what_sherman_and_morrison_say() -> None:
    """Along the pulses σ² less, across them nothing; what few returns do not hold is not taken."""
    rng = np.random.default_rng(1)
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    a = rng.normal(size=(3, 3))
    covariance = a @ a.T * 0.01 + 0.02 * np.eye(3)
    n = 1000
    packed = covariance[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]][None]
    returns = noise_sums(np.tile(way, (n, 1)), np.full(n, SIGMA**2), np.zeros(n, np.int64), 1)
    less, held = without_noise(packed, returns, np.ones(1))
    taken = SIGMA**2 * (n - 1) / (n + 1)
    before, after = (1 / (way @ np.linalg.inv(unpacked(c)[0]) @ way) for c in (packed, less))
    assert before - after == pytest.approx(taken, rel=1e-9)
    assert held[0] == pytest.approx(SIGMA**2 - taken, rel=1e-6)
    one = NoiseSums(returns.total / n, returns.variance, np.ones(1))
    lone, all_held = without_noise(packed, one, np.ones(1))
    assert np.array_equal(lone, packed) and all_held[0] == pytest.approx(SIGMA**2)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**31), st.floats(1e-4, 1.0), st.floats(1e-3, 5.0))
def test_no_volume_becomes_thinner_than_a_millimetre(seed: int, sigma: float, size: float) -> None:
    rng = np.random.default_rng(seed)
    n, volumes = 60, 7
    labels = np.concatenate([np.arange(volumes), rng.integers(0, volumes, n - volumes)])
    way = rng.normal(size=(n, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    a = rng.normal(size=(volumes, 3, 3)) * size * rng.uniform(0.01, 0.5, (volumes, 1, 3))
    covariance = a @ a.transpose(0, 2, 1) + 1e-6 * np.eye(3)
    packed = covariance[:, [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    noise = noise_sums(way, np.full(n, sigma**2), labels, volumes)
    less, held = without_noise(packed, noise, np.full(volumes, size))
    floor = min(max(1e-3, 1e-3 * size), 1.0)
    thinnest, was = np.linalg.eigvalsh(unpacked(less))[:, 0], np.linalg.eigvalsh(covariance)[:, 0]
    assert (thinnest >= np.minimum(0.99 * floor**2, 0.99 * was)).all()
    assert ((held >= 0) & (held <= sigma**2 * (1 + 1e-9))).all()
    trace = (packed - less)[:, [0, 3, 5]].sum(1)
    assert np.allclose(trace + held, sigma**2, rtol=1e-6, atol=1e-12), "taken out or held, none is lost"


def test_the_noise_of_a_sheet_grows_as_the_signal_falls() -> None:
    law = noise_of(load_sensor("vlp-16"))
    near, far = np.sqrt(law.variances(np.array([0.8, 0.1]), np.array([5.0, 80.0])))
    assert near < far
    hdl = load_sensor("hdl-32e")
    stated = hdl.noise.stated_at
    assert stated is not None
    at = noise_of(hdl).variances(np.array([stated.reflectivity]), np.array([stated.distance_m]))
    assert np.sqrt(at)[0] == pytest.approx(hdl.noise.ray_sigma_m, rel=1e-6)


def test_frames_tell_their_noise_and_foretelling_adds_it_back(noisy: Callable[..., Sensor]) -> None:
    rng = np.random.default_rng(2)
    n = 40_000
    way = np.stack([np.ones(n), rng.uniform(-0.1, 0.1, n), rng.uniform(-0.1, 0.1, n)], 1)
    length = np.linalg.norm(way, axis=1)
    pulses = MeasuredPulses.of(
        np.zeros(3), way, 10.2 * length + rng.normal(0, SIGMA, n), reach=30, noise=constant_noise(SIGMA)
    )
    volumes, with_noise = (
        fit_volumes(pulses, voxel=0.5),
        fit_volumes(replace(pulses, noise=constant_noise(0)), voxel=0.5),
    )
    again = simulate_volumes(volumes, pulses, seed=3)
    assert np.std(again.ranges[again.hit] - 10.2 * length[again.hit]) == pytest.approx(SIGMA, rel=0.05)
    assert log_likelihood(volumes, pulses) > log_likelihood(with_noise, pulses) - 0.02
    assert volumes.meta["range_noise_m"] == pytest.approx(SIGMA)
    assert np.median(volumes.held) * HELD_STEP < 0.4 * SIGMA
    assert learn_volumes(pulses, voxel=0.5, range_noise=0.01).meta["range_noise_m"] == pytest.approx(0.01)
