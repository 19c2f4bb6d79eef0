"""The sizes that shapes are made from: checked once, with one wording."""

from __future__ import annotations

import math
import operator

import numpy as np

from tussock.errors import InputError

__all__ = ["between", "chance", "positive", "whole"]


def positive(name: str, value: float) -> float:
    """A finite number above zero."""
    return between(name, value, 0.0, math.inf, above=True)


def between(name: str, value: float, low: float, high: float, *, above: bool = False) -> float:
    """A finite number from ``low`` to ``high``; ``above``: not ``low`` itself."""
    number = float(value)
    if not math.isfinite(number) or number < low or number > high or (above and number == low):
        rule = f"must be {'above' if above else 'at least'} {low:g}"
        raise InputError.of(name, rule if math.isinf(high) else f"{rule} and at most {high:g}", value)
    return number


def whole(name: str, value: int, least: int) -> int:
    """A whole number of at least ``least``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError.of(name, "must be a whole number", value) from None
    if number < least:
        raise InputError.of(name, f"must be at least {least}", value)
    return number


def chance(name: str, seed: int) -> np.random.Generator:
    """What a shape draws from: the same for the same seed."""
    return np.random.Generator(np.random.Philox(whole(f"{name} seed", seed, 0)))
