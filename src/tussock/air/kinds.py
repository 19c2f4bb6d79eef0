"""What the air can hold, numbered, and the labels of what it sends back."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["AIR_LABELS", "Kind"]


class Kind(IntEnum):
    """What scatters."""

    RAIN = 0
    SNOW = 1
    FOG = 2
    DUST = 3


AIR_LABELS = tuple(kind.name.lower() for kind in Kind)
"""labels of returns of the air, by the number of their kind"""
