"""The spot of a pulse, felt out with the edge of a wall: how much comes back says which sub-rays fall on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene
from tussock.sensors.beam import Beam
from tussock.simulate import scan

WHITE = Material(reflectance=1.0)
ACROSS, UP = 40.0, 16.0  # full angles [mrad]
HALF = np.tan(np.array([ACROSS, UP]) * 5e-4)
"""half the spot, one metre ahead [m]"""
RING = np.sqrt(2) / 4
CORNER = np.sqrt(0.5)


def wall_beyond(edge: float, axis: int) -> Scene:
    """A wall one metre ahead that begins at y = ``edge`` (axis 0) or z = ``edge`` (axis 1) and goes on to 5 m."""
    low, high = np.array([-5.0, -5.0]), np.array([5.0, 5.0])
    low[axis] = edge
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    scene = Scene()
    scene.add(Mesh.of([(1.0, y, z) for y, z in corners], [(0, 2, 1), (0, 3, 2)], (WHITE,)))
    return scene


def share_beyond(edge: float, axis: int, pencil: Callable, pulses: int = 1, **beam: object) -> float:
    """Share of the sub-rays that pass above or to the left of an edge, by the intensity of the echo."""
    settings = {
        "beam.divergence_horizontal_mrad": ACROSS, "beam.divergence_vertical_mrad": UP, "receiver.mode": "all",
        **{f"beam.{key}": value for key, value in beam.items()},
    }  # fmt: skip
    frame = scan(wall_beyond(edge, axis), pencil([0.0] * pulses, **settings))
    return float(frame.intensity.astype(float).sum() / pulses)


# offsets across (in half widths) and up (in half heights) of nine rays, and how many rays are there
OVAL = {-1.0: 1, -CORNER: 2, 0.0: 3, CORNER: 2, 1.0: 1}
SQUARE = {-1.0: 3, 0.0: 3, 1.0: 3}


@pytest.mark.parametrize(
    ("shape", "sampling", "reach", "places"),
    [
        ("circle", "stencil", RING, OVAL),
        ("circle", "full", 1.0, OVAL),
        ("ellipse", "stencil", RING, OVAL),
        ("ellipse", "full", 1.0, OVAL),
        ("rectangle", "stencil", RING, SQUARE),
        ("rectangle", "full", 1.0, SQUARE),
    ],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_nine_rays_stand_where_the_paper_puts_them(
    shape: str, sampling: str, reach: float, places: dict, axis: int, pencil: Callable
) -> None:
    """Edges 1 % of the spot to either side of every place: the rays of that place leave the wall in between."""
    for place, count in places.items():
        at = place * reach * HALF[axis]
        little = 0.01 * HALF[axis]
        before, after = (
            share_beyond(at + side * little, axis, pencil, shape=shape, sampling=sampling, rays=9) for side in (-1, 1)
        )
        assert before - after == pytest.approx(count / 9, abs=1e-3)
    assert share_beyond(-1.01 * HALF[axis], axis, pencil, shape=shape, sampling=sampling, rays=9) > 0.999
    assert share_beyond(1.01 * HALF[axis], axis, pencil, shape=shape, sampling=sampling, rays=9) == 0


def test_the_ring_of_mavs() -> None:
    """Goodin et al. (2018): √2·tan(γ/2)/4 one metre ahead."""
    for mrad in (0.5, 3.0, 12.9, 100.0):
        beam = Beam(divergence_horizontal_mrad=mrad, divergence_vertical_mrad=mrad, rays=9)
        radius = np.hypot(*beam.stencil().T.astype(float))
        assert radius[0] == 0
        assert radius[1:] == pytest.approx(np.sqrt(2) * np.tan(mrad * 5e-4) / 4, rel=1e-6)
        full = Beam(divergence_horizontal_mrad=mrad, divergence_vertical_mrad=mrad, rays=9, sampling="full")
        assert np.hypot(*full.stencil().T.astype(float))[1:] == pytest.approx(np.tan(mrad * 5e-4), rel=1e-6)


def area_beyond(shape: str, edge: float) -> float:
    """Share of the unit spot beyond an edge at −1 to 1."""
    if shape == "rectangle":
        return (1 - edge) / 2
    return (np.arccos(edge) - edge * np.sqrt(1 - edge**2)) / np.pi


@pytest.mark.parametrize("shape", ["circle", "ellipse", "rectangle"])
@pytest.mark.parametrize(
    ("sampling", "rays", "pulses"), [("sequence", 400, 1), ("random", 9, 4000), ("random", 1, 30_000)]
)
@pytest.mark.parametrize("axis", [0, 1])
def test_many_rays_cover_the_spot_evenly(
    shape: str, sampling: str, rays: int, pulses: int, axis: int, pencil: Callable
) -> None:
    for edge in (-0.9, -0.5, 0.0, 0.3, 0.8):
        share = share_beyond(edge * HALF[axis], axis, pencil, pulses, shape=shape, sampling=sampling, rays=rays)
        assert share == pytest.approx(area_beyond(shape, edge), abs=0.012)
    # the wall begins a ten-thousandth beyond the rim: watertight triangles own their edges, and rays of the rim are rounded
    rim = 1.0001 * HALF[axis]
    assert share_beyond(rim, axis, pencil, pulses, shape=shape, sampling=sampling, rays=rays) == 0


def test_random_rays_are_new_for_every_pulse_and_frame_and_the_same_for_the_seed(pencil: Callable) -> None:
    sensor = pencil(
        [0.0] * 200,
        **{"beam.sampling": "random", "beam.rays": 4, "beam.divergence_horizontal_mrad": ACROSS,
           "beam.divergence_vertical_mrad": UP, "receiver.mode": "all"},
    )  # fmt: skip
    scene = wall_beyond(0.0, 0)

    def counts(**options: int) -> np.ndarray:
        return np.round(4 * scan(scene, sensor, keep_misses=True, **options).intensity)

    one = counts(seed=1)
    assert set(one) == {0, 1, 2, 3, 4}
    assert np.array_equal(one, counts(seed=1))
    assert (one != counts(seed=2)).mean() > 0.4
    assert (one != counts(seed=1, frame=1)).mean() > 0.4


@pytest.mark.parametrize("mode", ["strongest", "last", "first", "strongest+last", "all"])
def test_a_pulse_counts_even_if_its_centre_ray_misses(mode: str, pencil: Callable) -> None:
    """The wall begins left of the axis, within the ring: one ray is enough."""
    beam = {"beam.divergence_horizontal_mrad": ACROSS, "beam.divergence_vertical_mrad": ACROSS, "receiver.mode": mode}
    edge = 0.9 * RING * HALF[0]
    frame = scan(wall_beyond(edge, 0), pencil(**beam, **{"beam.rays": 9}))
    assert len(frame) == (2 if mode == "strongest+last" else 1)
    assert frame.true_range == pytest.approx(np.hypot(1, RING * HALF[0]), abs=1e-6)
    assert (frame.true_xyz[:, 1] == 0).all(), "the point is reported along the axis"
    assert len(scan(wall_beyond(edge, 0), pencil(**beam, **{"beam.rays": 1}))) == 0


@pytest.mark.parametrize("elevation", [90.0, -90.0, 60.0])
def test_the_spot_keeps_its_size_at_any_elevation(elevation: float, pencil: Callable) -> None:
    """A round spot on a ceiling: all nine rays at 1/cos of their angle off the axis where the beam is upright."""
    scene = Scene()
    s = np.sign(elevation)
    scene.add(Mesh.of([(-9, -9, s), (9, -9, s), (9, 9, s), (-9, 9, s)], [(0, 1, 2), (0, 2, 3)], (WHITE,)))
    beam = {"beam.divergence_horizontal_mrad": ACROSS, "beam.divergence_vertical_mrad": ACROSS, "beam.rays": 9}
    frame = scan(
        scene,
        pencil(
            (30.0,),
            (elevation,),
            **beam,
            **{"receiver.model": "hits", "receiver.mode": "last", "beam.sampling": "full"},
        ),
    )
    half = ACROSS * 5e-4
    e = np.deg2rad(abs(elevation))
    expected = 1 / np.cos(half) if abs(elevation) == 90 else 1 / np.sin(e - half)
    assert frame.true_range == pytest.approx(expected, abs=1e-5)
