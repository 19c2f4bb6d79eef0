"""Light through leaves: stacks against τ²ⁿ, the way back from behind against the integral, defaults by wavelength."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import j1, k1

from tussock.frames.frame import Frame
from tussock.scene.material import Material
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SPECTRA_SOURCES, SURFACES
from tussock.sensors.sensor import Sensor
from tussock.signal.leaves import depth_of_light, share_behind_leaf
from tussock.simulate import scan

f = np.float32
MRAD = 20.0
AWAY = 10.0
SPOT = AWAY * np.tan(MRAD * 5e-4)
"""[m] radius of the spot on the first leaf"""


def beam(**changes: object) -> Sensor:
    """One pulse straight ahead, 64 sub-rays, no noise."""
    pattern = {"kind": "grid", "azimuth_deg": [0.0], "elevation_deg": [0.0], "frame_hz": 10.0}
    wide = {"beam.divergence_horizontal_mrad": MRAD, "beam.divergence_vertical_mrad": MRAD, "beam.rays": 64}
    return Sensor(name="beam", pattern=pattern).with_(
        **(wide | {"beam.sampling": "sequence", "receiver.mode": "all"} | changes)
    )


def stack(leaves: int, *, gap: float = 1e-3, tau: float = 0.9, rho: float = 0.0, wall: float = 0.8) -> Scene:
    """Sheets across the way from 10 m on, one ``gap`` [m] behind the other, and a wall behind the last."""
    scene = Scene("stack")
    leaf = Material(name="leaf", reflectance=rho, leaf_transmission=tau)
    sheet = _sheet(leaf)
    for n in range(leaves):
        scene.add(sheet, name=f"leaf {n}", position=(AWAY + n * gap, 0, 0))
    if wall:
        white = Material(name="wall", reflectance=wall)
        scene.add(box((0.1, 4.0, 4.0), material=white), name="wall", position=(AWAY + leaves * gap + 0.05, 0, 0))
    return scene


def _sheet(material: Material) -> object:
    from tussock.scene.mesh import Mesh

    corners = np.array([[0, -2, -2], [0, 2, -2], [0, 2, 2], [0, -2, 2]], float)
    return Mesh.of(corners, [[0, 1, 2], [0, 2, 3]], (material,))


def energy(frame: Frame) -> float:
    return float(frame.intensity.sum())


@pytest.mark.parametrize("leaves", [0, 1, 2, 3, 5])
def test_a_stack_of_touching_leaves_passes_the_share_squared_of_each(leaves: int) -> None:
    """τ²ⁿ·ρ, the little that a millimetre between them spreads taken into account: 1 % of the spot a leaf."""
    got = energy(scan(stack(leaves), beam()))
    spread = share_behind_leaf(f(leaves * 1e-3), f(SPOT)) if leaves else 1.0
    assert got == pytest.approx(0.8 * 0.9 ** (2 * leaves) * spread, rel=2e-3)
    assert spread > 0.95


def test_the_leaves_of_a_stack_are_seen_too() -> None:
    """ρ(1 + τ² + τ⁴ + …) of n leaves: a geometric sum, in one echo."""
    tau, rho, n = 0.8, 0.15, 4
    got = energy(scan(stack(n, gap=2e-4, tau=tau, rho=rho, wall=0.0), beam()))
    assert got == pytest.approx(rho * (1 - tau ** (2 * n)) / (1 - tau**2), rel=0.01)


def found_back(depth: float) -> float:
    """A·∫E² for a disc of radius 1 and a plane behind it, by the Fourier transforms of disc and Lambert's kernel.

    E is the disc, 2J₁(k)/k, folded with s²/π(s² + x²)², whose transform is ks·K₁(ks).
    """
    k = np.linspace(1e-6, min(60 / depth, 3000.0), 600_001)
    return float(np.trapezoid((2 * j1(k) / k) ** 2 * (k * depth * k1(k * depth)) ** 2 * k, k)) / 2


@pytest.mark.parametrize("depth", [0.02, 0.1, 0.3, 0.6, 1.0, 2.0, 5.0])
def test_what_finds_back_is_the_integral(depth: float) -> None:
    assert float(share_behind_leaf(f(depth), f(1.0))) == pytest.approx(found_back(depth), rel=0.08)


def test_the_integral_is_that_of_light_sent_at_random() -> None:
    """Points of the disc, directions by Lambert: the mean of E over where light arrives is ∫E²."""
    rng, depth, n = np.random.default_rng(4), 0.8, 400_000

    def arrivals(count: int) -> np.ndarray:
        radius, turn = np.sqrt(rng.random(count)), 2 * np.pi * rng.random(count)
        sine = np.sqrt(rng.random(count))
        away, way = depth * sine / np.sqrt(1 - sine**2), 2 * np.pi * rng.random(count)
        x, y = radius * np.cos(turn) + away * np.cos(way), radius * np.sin(turn) + away * np.sin(way)
        return np.stack([x, y], 1)

    near = np.hypot(*(arrivals(n) - arrivals(n)).T) < 0.15  # two lights that land at the same place
    assert near.mean() / 0.15**2 == pytest.approx(found_back(depth), rel=0.05)


@pytest.mark.parametrize("depth", [0.02, 0.05, 0.1, 0.2])
def test_a_wall_behind_a_leaf_fades_with_its_distance(depth: float) -> None:
    got = energy(scan(stack(1, gap=depth, tau=1.0), beam()))
    assert got == pytest.approx(0.8 * float(share_behind_leaf(f(depth), f(SPOT))), rel=0.01)


def test_nothing_finds_back_from_far_behind() -> None:
    """Half a metre behind a spot of 10 cm it is 1.2 %, and not looked for; a pane in its stead lets see it."""
    depth = float(depth_of_light(f(1.0), f(SPOT), f(1 / 64)))
    assert 0.4 < depth < 0.5
    assert energy(scan(stack(1, gap=depth + 0.02, tau=1.0), beam())) == 0.0
    assert energy(scan(stack(1, gap=depth - 0.02, tau=1.0), beam())) > 0.0
    pane = Scene()
    pane.add(_sheet(Material(reflectance=0.0, transmission=0.7)), position=(AWAY, 0, 0))
    pane.add(box((0.1, 4.0, 4.0), material=Material(reflectance=0.8)), position=(AWAY + 1.05, 0, 0))
    assert energy(scan(pane, beam())) == pytest.approx(0.8 * 0.49, rel=1e-3)


def test_who_looks_at_hits_or_along_a_line_sees_no_light_through_leaves() -> None:
    for changes in (
        {"receiver.model": "hits"},
        {"beam.divergence_horizontal_mrad": 0.0},
        {"receiver.max_bounces": 0},
        {"beam.rays": 1},
    ):
        assert energy(scan(stack(1), beam(**changes))) == 0.0


def test_a_leaf_is_brighter_with_others_behind_it_and_never_more_than_white() -> None:
    """Grass as it comes: ρ 0.45, τ 0.48 at 905 nm; a hundred blades on top of each other reflect ρ/(1 − τ²)."""
    for wavelength in (905.0, 1064.0, 1550.0):
        grass = SURFACES["grass"].at(wavelength)
        scene = Scene()
        for n in range(8):
            scene.add(_sheet(SURFACES["grass"]), name=str(n), position=(AWAY + n * 2e-4, 0, 0))
        got = energy(scan(scene, beam(**{"receiver.max_bounces": 16}).with_(wavelength_nm=wavelength)))
        # Light is followed down to 1/64 of the pulse: three leaves deep, two at 1550 nm.
        deep = int(np.floor(np.log(1 / 64) / np.log(grass.leaf_transmission**2)))
        expected = grass.reflectance * sum(grass.leaf_transmission ** (2 * n) for n in range(deep + 1))
        assert got == pytest.approx(expected, rel=0.01)
        assert got < 1.0


def test_leaves_let_through_what_prospect_says() -> None:
    """The shares of the catalogue's leaves at 905, 1064 and 1550 nm, and that each names its source."""
    for name, through in {"grass": (0.487, 0.489, 0.310), "leaf": (0.474, 0.477, 0.321)}.items():
        for wavelength, share in zip((905.0, 1064.0, 1550.0), through, strict=True):
            assert SURFACES[name].at(wavelength).leaf_transmission == pytest.approx(share, rel=0.03)
        assert "PROSPECT" in SPECTRA_SOURCES[name]


def test_the_same_bits_however_the_work_is_cut() -> None:
    pattern = {
        "kind": "grid",
        "azimuth_deg": {"first": 5, "last": -5, "count": 40},
        "elevation_deg": [0.0, 1.0],
        "frame_hz": 10.0,
    }
    sensor = beam(**{"receiver.mode": "strongest"}).with_(pattern=pattern)
    scene = stack(3, gap=0.02, tau=0.6, rho=0.3)
    one = scan(scene, sensor, threads=1, block=16)
    assert one.identical(scan(scene, sensor, threads=2, block=64))
