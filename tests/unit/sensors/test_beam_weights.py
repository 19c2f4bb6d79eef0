from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tussock.sensors.beam import Beam

SHAPES = ["circle", "rectangle", "ellipse"]


@given(
    st.sampled_from(SHAPES), st.sampled_from(["flat", "gaussian"]), st.integers(1, 64),
    st.sampled_from(["stencil", "full", "sequence"]), st.floats(0.0, 0.5),
)  # fmt: skip
def test_weights_make_one(shape: str, profile: str, rays: int, sampling: str, halo: float) -> None:
    beam = Beam(shape=shape, profile=profile, rays=rays, sampling=sampling, halo_share=halo)
    weights = beam.weights()
    assert weights.shape == (beam.all_rays,) == beam.stencil().shape[:1]
    assert weights.sum() == pytest.approx(1.0, abs=1e-5)
    assert (weights >= 0).all()
    assert weights[rays:].sum() == pytest.approx(halo if halo > 0 else 0.0, abs=1e-5)


def test_a_gaussian_spot_has_an_eighth_of_its_axis_at_the_edge() -> None:
    beam = Beam(profile="gaussian", rays=9, sampling="full", divergence_horizontal_mrad=3, divergence_vertical_mrad=3)
    weights = beam.weights()
    assert weights[1:] / weights[0] == pytest.approx(np.full(8, np.exp(-2)), rel=1e-4)


@pytest.mark.parametrize("shape", ["circle", "rectangle"])
def test_drawn_spots_weigh_one_on_average(shape: str) -> None:
    beam = Beam(profile="gaussian", rays=7, sampling="random", shape=shape)
    rng = np.random.default_rng(4)
    places = 2 * rng.random((200_000, 2)) - 1
    far = rng.random(200_000) if shape == "circle" else (places**2).sum(1)
    assert 7 * beam.weights()[0] * np.exp(-2 * far).mean() == pytest.approx(1.0, abs=5e-3)
