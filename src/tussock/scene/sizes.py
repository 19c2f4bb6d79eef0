"""The sizes that shapes are made from: checked once, with one wording."""

from __future__ import annotations

import math
import operator

from tussock.errors import InputError
from tussock.sampler import Sampler

__all__ = ["between", "chance", "positive", "whole"]


_LEAST, _MOST = 1e-9, 1e9
"""of any size: beyond them single precision has no room for what is made"""


def positive(name: str, value: float) -> float:
    """A number above zero, from a billionth to a billion."""
    number = between(name, value, 0.0, math.inf, above=True)
    if number < _LEAST:
        raise InputError.of(name, f"must be at least {_LEAST:g}", value)
    if number > _MOST:
        raise InputError.of(name, f"must be at most {_MOST:g}", value)
    return number


def between(name: str, value: float, low: float, high: float, *, above: bool = False) -> float:
    """A finite number from ``low`` to ``high``; ``above``: not ``low`` itself."""
    number = float(value)
    if not math.isfinite(number) or number < low or number > high or (above and number == low):
        rule = f"must be {'above' if above else 'at least'} {low:g}"
        raise InputError.of(name, rule if math.isinf(high) else f"{rule} and at most {high:g}", value)
    return number


def whole(name: str, value: int, least: int, most: int = 10_000_000) -> int:
    """A whole number from ``least`` to ``most``: how many of something are made."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError.of(name, "must be a whole number", value) from None
    if number < least:
        raise InputError.of(name, f"must be at least {least}", value)
    if number > most:
        raise InputError.of(name, f"must be at most {most}", value)
    return number


def chance(name: str, seed: int) -> Sampler:
    """What a shape samples from: the same for the same name and seed."""
    return Sampler(name, whole(f"{name} seed", seed, 0, 2**64 - 1))
