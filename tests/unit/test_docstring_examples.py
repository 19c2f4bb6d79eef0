"""Every public name has an example in its docstring, and the examples do what they say."""

from __future__ import annotations

import doctest
import warnings
from pathlib import Path

import numpy as np
import pytest

import tussock

CONSTANTS = {"LABELS", "SURFACES"}
"""tables, whose docstrings stand beside them"""
FLAGS = doctest.NORMALIZE_WHITESPACE


def example_of(name: str) -> doctest.DocTest:
    value = getattr(tussock, name)
    return doctest.DocTestParser().get_doctest(
        value.__doc__ or "", {"tussock": tussock, "np": np}, name, value.__module__, 0
    )


@pytest.mark.parametrize("name", sorted(set(tussock.__all__) - CONSTANTS))
def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder, with `tussock` and `np`; what takes long or needs a file of yours is shown and not run."""
    test = example_of(name)
    assert test.examples, f"tussock.{name}: its docstring has no example"
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed, _ = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=told.append)
    assert failed == 0, "".join(told)


def test_most_examples_run() -> None:
    names = set(tussock.__all__) - CONSTANTS
    shown = {name for name in names if all(doctest.SKIP in one.options for one in example_of(name).examples)}
    assert len(shown) <= 45, sorted(shown)
