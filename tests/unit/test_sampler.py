"""Numbers by chance for what is built: right in their law, and the same for good."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tussock
from tussock.errors import InputError
from tussock.randomness import Purpose
from tussock.sampler import Sampler
from tussock.scene.sizes import chance


def test_the_numbers_are_these_for_good() -> None:
    """The uniform ones were made by hand from Philox4x32-10. Who changes them changes every scene that grows."""
    one = Sampler("grass", 7)
    assert one.uniform(0, 1, 3).tolist() == [0.40526936896708265, 0.22101022305863616, 0.9274637560366549]
    assert one.standard_normal(2).tolist() == [-0.7519171833992004, 1.4201353788375854]
    assert one.integers(0, 10, 6).tolist() == [6, 6, 6, 6, 4, 8]
    assert one.permutation(6).tolist() == [1, 4, 3, 2, 0, 5]


def test_laws() -> None:
    one = Sampler("laws", 1)
    assert stats.kstest(one.uniform(-2, 3, 20_000), "uniform", (-2, 5)).pvalue > 0.01
    assert stats.kstest(one.standard_normal(20_000), "norm").pvalue > 0.01
    assert stats.kstest(one.normal(3.0, 0.5, 20_000), "norm", (3.0, 0.5)).pvalue > 0.01
    counts = np.bincount(one.integers(2, 9, 70_000))
    assert len(counts) == 9 and counts[:2].sum() == 0 and stats.chisquare(counts[2:]).pvalue > 0.01
    orders = np.array([one.permutation(4) for _ in range(6000)])
    assert (np.sort(orders, 1) == np.arange(4)).all()
    seen = np.unique(orders, axis=0, return_counts=True)[1]
    assert len(seen) == 24 and stats.chisquare(seen).pvalue > 0.01


def test_streams_share_nothing() -> None:
    values = [
        Sampler(name, seed, purpose=purpose).uniform(0, 1, 500)
        for name in ("grass", "tree") for seed in (0, 1, 2**32, 2**64 - 1) for purpose in (Purpose.PLANT, Purpose.SITE)
    ]  # fmt: skip
    values += [twice for one in [Sampler("grass", 5)] for twice in (one.uniform(0, 1, 500), one.uniform(0, 1, 500))]
    assert len(np.unique(np.concatenate(values))) == 500 * len(values)
    correlation = np.corrcoef(values) - np.eye(len(values))
    assert np.abs(correlation).max() < 0.2


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**31))
def test_numbers_stay_in_their_span(seed: int, high: int) -> None:
    one = Sampler("span", seed)
    whole = one.integers(0, high, 20)
    assert whole.min() >= 0 and whole.max() < high
    part = one.uniform(0.0, 1.0, 20)
    assert part.min() >= 0.0 and part.max() < 1.0
    assert one.uniform(0, 1, (2, 3)).shape == (2, 3) and one.uniform(0, 1, 0).shape == (0,)
    assert one.standard_normal((4, 3)).shape == (4, 3)


def test_given_things_come_back_in_another_order() -> None:
    items = np.array(["a", "b", "c", "d", "e"])
    assert sorted(Sampler("items", 3).permutation(items)) == sorted(items)


def test_a_seed_is_a_whole_number_of_64_bits() -> None:
    assert chance("grass", 2**64 - 1).uniform(0, 1, 1) != chance("grass", 2**64 - 2).uniform(0, 1, 1)
    for bad in (-1, 2**64, 0.5):
        with pytest.raises(InputError, match="grass seed: must be"):
            chance("grass", bad)  # type: ignore[arg-type]


def test_nothing_samples_from_numpy() -> None:
    """Examples in docstrings may: they are no part of what a seed makes."""
    package = Path(tussock.__file__).parent
    assert [file for file in package.rglob("*.py") if "np.random" in _code(file)] == []


def _code(file: Path) -> str:
    """What stands in a file without its docstrings and comments."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return " ".join(ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
