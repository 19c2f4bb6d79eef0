"""Range noise by its law, and taken out of Gaussians as far as leaves them thick enough."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.range_noise import (
    NO_NOISE,
    NoiseSums,
    RangeNoise,
    constant_noise,
    noise_of,
    noise_of_model,
    noise_sums,
    told_noise,
    without_noise,
)
from tussock.scene.volumes import unpacked
from tussock.sensors.catalogue import load_sensor


def test_the_law_of_noise() -> None:
    """σ² = floor + shot/s + thermal/s² at s = scale·intensity/rⁿ, 1 at least."""
    law = RangeNoise(1e-4, 2e-3, 5e-3, 800.0, 2.5)
    bright, far = np.array([0.5, 0.1, 0.9]), np.array([4.0, 30.0, 0.0])
    s = [800 * 0.5 / 4**2.5, 1.0, 800 * 0.9 / 1e-3**2.5]
    assert law.variances(bright, far) == pytest.approx([1e-4 + 2e-3 / x + 5e-3 / x**2 for x in s])
    found = constant_noise(0.02).variances(bright, np.array([1.0, np.nan, 3.0]))
    assert found == pytest.approx([4e-4, np.nan, 4e-4], nan_ok=True)
    assert constant_noise(0.0) == RangeNoise()
    for sigma in (-1e-9, np.nan, np.inf):
        with pytest.raises(InputError, match="standard deviation from 0 on"):
            constant_noise(sigma)


def test_the_noise_of_a_model_is_that_of_its_sheet() -> None:
    sensor = load_sensor("vlp-16")
    assert noise_of_model("VLP-16") == noise_of(sensor) and noise_of_model("no such sensor") == NO_NOISE
    assert told_noise({"receiver": sensor.receiver.model_dump(), "noise": sensor.noise.model_dump()}) == noise_of(
        sensor
    )
    for told in (None, {}, {"receiver": 3, "noise": {}}, {"receiver": {"model": "??"}, "noise": {}}):
        assert told_noise(told) == NO_NOISE


def test_the_noise_of_labelled_returns() -> None:
    rng = np.random.default_rng(1)
    way = rng.normal(0, 1, (12, 3))
    variances, labels = rng.uniform(0.1, 1, 12), np.array([0, 2] * 6)
    found = noise_sums(way, variances, labels, 3)
    for i in (0, 2):
        own = labels == i
        full = (variances[own, None, None] * way[own, :, None] * way[own, None, :]).sum(0)
        assert found.total[i] == pytest.approx(full[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])
        assert (found.variance[i], found.counts[i]) == (pytest.approx(variances[own].mean()), 6)
    assert not found.total[1].any() and found.variance[1] == 0 and found.counts[1] == 1


@pytest.mark.parametrize(("along", "share"), [(0.5, 1.0), (0.06, None), (1e-4, 0.0)])
def test_as_much_is_taken_out_as_leaves_a_volume_thick_enough(along: float, share: float | None) -> None:
    """N = Σσ²ddᵀ·(n − 1)/n/(n + 1); what stays along the pulses is a millimetre at least, or a thousandth of the size."""
    n, sigma, size = 9, 0.1, 3.0
    noise = NoiseSums(np.array([[n * sigma**2, 0, 0, 0, 0, 0]]), np.array([sigma**2]), np.array([n]))
    part = sigma**2 * (n - 1) / (n + 1)
    least = (1e-3 * size) ** 2
    s = min(1.0, max((along**2 - least) / part, 0.0))
    assert share is None or s == share
    fitted = np.array([[along**2, 0, 0, 0.04, 0.01, 0.09]])
    found, held = without_noise(fitted, noise, np.array([size]))
    assert found[0] == pytest.approx([along**2 - s * part, 0, 0, 0.04, 0.01, 0.09], abs=2e-9)
    assert held[0] == pytest.approx(sigma**2 - s * part, abs=2e-9)
    small, _ = without_noise(fitted, noise, np.array([0.2]))
    assert small[0, 0] == pytest.approx(max(along**2 - part, min(1e-6, along**2)), abs=2e-9)
    none = NoiseSums(np.zeros((1, 6)), np.zeros(1), np.array([n]))
    same, held = without_noise(fitted, none, np.array([size]))
    assert same is fitted and held.tolist() == [0.0]


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_is_as_thick_as_asked_in_its_thinnest_direction(seed: int) -> None:
    """C − s·N has no eigenvalue below the floor, and would have one for any larger s; pulses go any way here."""
    rng = np.random.default_rng(seed)
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    fitted = turn @ np.diag([0.02, 0.05, 0.3]) ** 2 @ turn.T
    n, sigma, size = 9, 0.2, 10.0
    full = n * sigma**2 * np.outer(way, way)
    pairs = ([0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2])
    noise = NoiseSums(full[pairs][None], np.array([sigma**2]), np.array([n]))
    found, held = without_noise(fitted[pairs][None], noise, np.array([size]))
    part = full * (n - 1) / n / (n + 1)
    floor = (1e-3 * size) ** 2
    # det(C − f·I − s·N) = 0 for a noise of one direction: s = 1/(nᵀ(C − f·I)⁻¹n).
    s = 1 / (way @ np.linalg.solve(fitted - floor * np.eye(3), way)) / (sigma**2 * (n - 1) / (n + 1))
    assert s > 0.01
    s = min(s, 1.0)
    assert found[0] == pytest.approx((fitted - s * part)[pairs], abs=1e-8)
    left = np.linalg.eigvalsh(unpacked(found)[0])
    assert left[0] == pytest.approx(floor, rel=1e-3) or (s == 1 and left[0] > floor)
    assert held[0] == pytest.approx(sigma**2 * (1 - s * (n - 1) / (n + 1)), abs=1e-8)
