"""Colours of points and their legends."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.plots.legend_html import legend_html
from tussock.plots.point_colors import POINT_COLORS, paint_points
from tussock.poses import Pose
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan


@pytest.fixture(scope="module")
def frame():
    scene = Scene("yard", labels={"<b>odd</b>": 700})
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 2.0)), name="crate", label="<b>odd</b>", position=(6, 2, 1))
    return scan(scene, load_sensor("vlp-16"), Pose.at(0, 0, 2))


@pytest.mark.parametrize("color", POINT_COLORS)
def test_every_colouring_has_a_colour_a_point_and_a_legend(frame, color):
    colors, legend = paint_points(frame, color)
    assert colors.shape == (len(frame), 3) and colors.dtype == np.uint8
    if color in ("label", "return"):
        assert sum(entry.points for entry in legend.entries) == len(frame)
        for entry in legend.entries:
            rgb = [int(entry.color[k : k + 2], 16) for k in (1, 3, 5)]
            assert (colors == rgb).all(1).sum() == entry.points
    else:
        assert legend.low < legend.high and len(legend.ramp) == 9
    empty = paint_points(frame.select(frame.hit & False), color)
    assert empty.colors.shape == (0, 3)


def test_errors_are_blue_too_near_and_red_too_far(frame):
    colors, legend = paint_points(frame, "error")
    error = frame.range - frame.true_range
    far, near = colors[np.argmax(error)].astype(int), colors[np.argmin(error)].astype(int)
    assert far[0] > far[2] and near[2] > near[0] and legend.low == -legend.high


def test_a_legend_is_safe_html_with_counts(frame):
    html = legend_html(paint_points(frame, "label").legend)
    assert "&lt;b&gt;odd" in html and "<b>" not in html and f"{int((frame.label == 72).sum()):,}" in html
    assert "linear-gradient" in legend_html(paint_points(frame, "range").legend)


def test_an_unknown_colouring_is_refused(frame):
    with pytest.raises(InputError, match="no such colouring"):
        paint_points(frame, "smell")
