"""Packets that came twice, mixed up, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.wire.hesai.firings import _in_order


@dataclass
class Stamped:
    """What the order of packets is found by."""

    stamp_us: NDArray[np.int64]
    damaged: int = 0
    sequence: None = None

    def select(self, rows: NDArray[np.int64]) -> Stamped:
        return Stamped(self.stamp_us[rows])


@pytest.mark.parametrize(
    ("came", "left", "told"),
    [
        ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], []),
        ([0, 1, 1, 2, 3, 4], [0, 1, 2, 3, 4], ["run: 1 data packets came twice"]),
        ([0, 2, 1, 3, 4, 5], [0, 1, 2, 3, 4, 5], ["run: 1 data packets came in another order than they were sent"]),
        ([0, 1, 2, 4, 5, 6], [0, 1, 2, 4, 5, 6], ["run: 1 data packets are missing"]),
    ],
)
def test_they_are_put_in_order_and_it_is_said(came: list[int], left: list[int], told: list[str]) -> None:
    numbers = np.array(came)
    raw = np.repeat(numbers[:, None], 4, 1).astype(np.uint8)
    said: list[str] = []
    found = SimpleNamespace(path="run")
    packets, recorded, rows = _in_order(Stamped(1000 * numbers), numbers * 0.001, raw, found, said.append)  # type: ignore[arg-type]
    assert (packets.stamp_us // 1000).tolist() == rows[:, 0].tolist() == left
    np.testing.assert_allclose(recorded, np.array(left) * 0.001)
    assert said == told
