"""Adding an object takes as long in a large scene as in a small one: 100,000 took hours."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from tussock.scene.primitives import box
from tussock.scene.scene import Scene


def lines_of(count: int) -> int:
    """Lines of Python that are run to add the last hundred of ``count`` objects."""
    scene, shape, ran = Scene("many"), box(), 0
    for number in range(count - 100):
        scene.add(shape, position=(number, 0, 0))

    def note(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal ran
        ran += event == "line"
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        for number in range(100):
            scene.add(shape, position=(number, 1, 0))
    finally:
        sys.settrace(before)
    return ran


def test_the_work_does_not_grow_with_the_scene():
    few, many = lines_of(200), lines_of(3000)
    assert few > 1000  # something was counted
    assert many < 1.02 * few
