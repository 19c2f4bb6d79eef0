"""Places as messages name them: to the millimetre, and without the exponents that coordinates of a national grid would get."""

from __future__ import annotations

import numpy as np

__all__ = ["told"]


def told(*coordinates: float, digits: int = 3) -> str:
    """Coordinates [m] to be read, ``x,y``; what is no place on Earth may have an exponent."""
    return ",".join(
        np.format_float_positional(round(v, digits), trim="-") if abs(v) < 1e9 else f"{v:g}" for v in coordinates
    )
