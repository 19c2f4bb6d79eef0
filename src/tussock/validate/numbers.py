"""Numbers as people read them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["number"]


def number(value: Any) -> str:
    """A cell as people read it: four digits, thousands apart."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value != value:  # nothing, or not a number: left out
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if math.isinf(value):  # what was to be measured is not there
            return "∞" if value > 0 else "−∞"
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}"
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        return f"{value:.4g}" if abs(value) >= 1e-3 else f"{value:.2g}"
    return str(value)
