from __future__ import annotations

import numpy as np

from tussock.return_modes import KINDS
from tussock.wire.dual_returns import kinds_of_places


def test_the_second_strongest_takes_the_place_of_a_strongest_that_is_the_last() -> None:
    kinds = [KINDS.index(k) for k in ("strongest", "last", "strongest", "second", "strongest", "last")]
    given = np.array(kinds, np.uint8)
    places = [KINDS[k] for k in kinds_of_places(given)]
    assert places == ["strongest", "last", "last", "strongest", "strongest", "last"]
    assert given.tolist() == kinds, "the frame is left as it was"
    assert kinds_of_places(given[:2]) is not None
