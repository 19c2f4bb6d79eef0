"""Which surfaces respond as vegetation, in which order the scene is asked."""

from __future__ import annotations

import pytest

from tussock.errors import InputError
from tussock.scene.response import VegetationResponse, effective_response

OWN, OBJECTS = VegetationResponse(sigma_m=0.2), VegetationResponse(mean_m=0.1, sigma_m=0.5)


@pytest.mark.parametrize(
    ("own", "label", "of_object", "tags", "wanted"),
    [
        (None, None, None, (), None),
        (None, None, None, ("vegetation",), VegetationResponse(mean_m=0.0, sigma_m=1.0)),
        (None, "wall", None, ("vegetation",), VegetationResponse()),
        (None, "leaf", None, ("vegetation",), None),  # the geometry itself spreads the range
        (None, "leaf", OBJECTS, (), OBJECTS),  # said so, all the same
        (None, None, OBJECTS, ("vegetation",), OBJECTS),
        (OWN, "leaf", OBJECTS, ("vegetation",), OWN),
        (VegetationResponse(sigma_m=0), None, OBJECTS, ("vegetation",), None),
        (None, None, VegetationResponse(sigma_m=0), ("vegetation",), None),
    ],
)
def test_the_nearest_word_counts(own, label, of_object, tags, wanted) -> None:
    assert effective_response(own, label, of_object, tags) == wanted


@pytest.mark.parametrize(
    "wrong", [{"sigma_m": -0.1}, {"sigma_m": float("nan")}, {"mean_m": float("inf")}, {"sigma": 1}]
)
def test_figures_that_are_none_are_refused(wrong) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        VegetationResponse(**wrong)
