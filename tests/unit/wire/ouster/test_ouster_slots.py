"""Which of a pixel's two places a kind of return goes to."""

from __future__ import annotations

import pytest

from tussock.return_modes import KINDS
from tussock.wire.ouster.encode import _slots


def test_of_two_the_strongest_comes_first() -> None:
    places = dict(zip(KINDS, _slots(2, "strongest+second").tolist(), strict=True))
    assert (places["strongest"], places["last"], places["second"]) == (0, 1, 1)
    assert {places["none"], places["first"], places["echo"]} == {255}


@pytest.mark.parametrize("mode", ["strongest", "last", "first"])
def test_a_single_one_has_the_only_place(mode: str) -> None:
    places = dict(zip(KINDS, _slots(1, mode).tolist(), strict=True))
    assert places.pop(mode) == 0
    assert set(places.values()) == {255}
