from __future__ import annotations

from typing import Any

import numpy as np

from tussock.elementary import cosine_of_turns, exponential, logarithm
from tussock.kernels import kernel


@kernel
def _logarithms(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = logarithm(x[i])


@kernel
def _cosines(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = cosine_of_turns(x[i])


@kernel
def _exponentials(x: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = exponential(x[i])


def test_exponential() -> None:
    x = np.linspace(-87.0, 80.0, 400_001).astype(np.float32)
    out = np.empty_like(x)
    _exponentials(x, out)
    exact = np.exp(x.astype(np.float64))
    assert (np.abs(out - exact) / exact).max() < 2e-7
    assert exponential(np.float32(0.0)) == 1.0
    assert 0.0 <= exponential(np.float32(-1e30)) < 1e-37, "far off there is nothing, and nothing breaks"


def test_logarithm() -> None:
    x = np.concatenate([np.logspace(-37, 37, 100_001), np.linspace(0.5, 2.0, 100_001)]).astype(np.float32)
    out = np.empty_like(x)
    _logarithms(x, out)
    exact = np.log(x.astype(np.float64))
    assert np.abs(out - exact).max() < 1e-5, "at ln 1e37 a float32 resolves 8e-6"
    near = np.abs(exact) < 1.0
    assert np.abs(out - exact)[near].max() < 2e-7
    assert logarithm(np.float32(1.0)) == 0.0


def test_cosine_of_turns() -> None:
    x = np.linspace(0.0, 1.0, 400_001).astype(np.float32)
    out = np.empty_like(x)
    _cosines(x, out)
    assert np.abs(out - np.cos(2 * np.pi * x.astype(np.float64))).max() < 2e-7
    assert np.abs(out).max() <= 1.0 + 2e-7
