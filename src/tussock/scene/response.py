"""Vegetation without vegetation geometry: a coarse shape whose ranges spread like a plant's.

Mattes and Pace (Neya Systems, 2021), section 3.1: objects that are tagged as vegetation get Gaussian range error.
Which surfaces respond is settled here, once, from what the scene says, in this order:

- the material's own response;
- the object's own response;
- the tag `vegetation` alone: mean 0 and σ 1 m, as in the paper, except for materials that are labelled as a part of a
  plant (a leaf, a blade, a branch): there the geometry itself spreads the ranges.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from tussock.settings import Settings

__all__ = ["PLANT_PARTS", "VEGETATION", "VegetationResponse", "effective_response"]

VEGETATION = "vegetation"
"""the tag"""
PLANT_PARTS = frozenset({"grass", "leaf", "branch", "stem", "trunk", "root"})
"""labels of materials that are vegetation geometry"""


class VegetationResponse(Settings):
    """The range error of a pulse that meets vegetation, sampled anew for each pulse and frame.

    >>> tussock.VegetationResponse(sigma_m=0.3).hard
    False
    """

    mean_m: Annotated[float, Field(ge=-1000.0, le=1000.0)] = 0.0
    sigma_m: Annotated[float, Field(ge=0.0, le=1000.0)] = 1.0
    """standard deviation; with a mean of 0 as well, the surface is as hard as any other"""

    @property
    def hard(self) -> bool:
        return self.mean_m == 0.0 and self.sigma_m == 0.0


_BY_TAG = VegetationResponse()


def effective_response(
    own: VegetationResponse | None, label: str | None, of_object: VegetationResponse | None, tags: Iterable[str]
) -> VegetationResponse | None:
    """The response of one material (its ``own``, its ``label``) on one object; None: a hard surface."""
    if own is not None:
        chosen: VegetationResponse | None = own
    elif of_object is not None:
        chosen = of_object
    else:
        chosen = _BY_TAG if VEGETATION in tags and label not in PLANT_PARTS else None
    return None if chosen is None or chosen.hard else chosen
