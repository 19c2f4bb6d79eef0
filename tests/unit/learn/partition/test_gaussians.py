"""Gaussians of labelled points: the plain estimate with a little prior, by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.partition.gaussians import fit_gaussians, inverse
from tussock.scene.volumes import unpacked


def test_they_are_the_moments_with_one_small_round_point_more() -> None:
    """(S + (0.16·v)² I) / (n + 1) + (1 mm)² I, about the mean, far from zero too."""
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0, 2], [9, 1, 5])
    points = rng.normal(0, [0.3, 0.1, 0.02], (15, 3)) + np.array([3000.0, -50.0, 7.0])
    means, covariances = fit_gaussians(points, labels, 3, 0.5)
    for i in range(3):
        own = points[labels == i]
        off = own - own.mean(0)
        wanted = (off.T @ off + (0.16 * 0.5) ** 2 * np.eye(3)) / (len(own) + 1) + 1e-6 * np.eye(3)
        assert means[i] == pytest.approx(own.mean(0), rel=1e-12)
        assert unpacked(covariances[i][None])[0] == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    assert unpacked(inverse(covariances)) == pytest.approx(np.linalg.inv(unpacked(covariances)), rel=1e-6)
