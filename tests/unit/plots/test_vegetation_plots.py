"""Pictures of spread, volumes and two scans: written whole, not blank, the same again."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tussock.errors import InputError, OutputError
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.range_spread import measure_range_spread
from tussock.learn.scoring.field_scores import field_scores
from tussock.learn.scoring.scores import compare
from tussock.plots.comparison import plot_comparison
from tussock.plots.range_spread import plot_range_spread
from tussock.plots.volumes import plot_volumes


def scan_of_a_hedge(seed: int) -> MeasuredPulses:
    """Four rings at a hedge 8 m ahead; every tenth pulse passes."""
    rng = np.random.Generator(np.random.Philox(seed))
    angle = np.tile(np.deg2rad(np.linspace(-30, 30, 300)), 4)
    ring = np.repeat(np.arange(4), 300)
    way = np.stack([np.cos(angle), np.sin(angle), 0.03 * ring], 1)
    ranges = np.where(rng.random(1200) < 0.1, np.nan, 8 + 0.3 * rng.normal(size=1200))
    return MeasuredPulses.of(np.zeros(3), way, ranges, rings=ring, azimuths=angle, reach=20.0)


@pytest.fixture(scope="module")
def draw():
    """What draws each kind of picture."""
    one, two = scan_of_a_hedge(1), scan_of_a_hedge(2)
    volumes = fit_volumes(one, voxel=0.5)
    return {
        "spread": lambda path, **how: plot_range_spread(measure_range_spread(one), one, path, **how),
        "volumes": lambda path, **how: plot_volumes(volumes, path, **how),
        "comparison": lambda path, **how: plot_comparison(
            one, two, compare(one, two, angle_bin=0.05, range_bin=0.1), path, **how
        ),
    }


@pytest.mark.parametrize("kind", ["spread", "volumes", "comparison"])
def test_a_picture(tmp_path, draw, kind: str) -> None:
    path = tmp_path / "p.png"
    draw[kind](path)
    pixels = np.asarray(Image.open(path).convert("RGB"))
    assert pixels.shape[1] == 1560 and pixels.shape[0] > 700
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 100
    with pytest.raises(OutputError, match="exists already"):
        draw[kind](path)
    first = path.read_bytes()
    draw[kind](path, force=True)
    assert path.read_bytes() == first
    with pytest.raises(InputError, match=r"must be \.png"):
        draw[kind](tmp_path / "p.jpg")
    assert [file.name for file in tmp_path.iterdir()] == ["p.png"]


def test_one_volume_and_scans_without_returns_can_be_drawn(tmp_path) -> None:
    rng = np.random.Generator(np.random.Philox(1))
    points = np.array([5.05, 0.05, 0.05]) + 0.01 * rng.normal(size=(30, 3))
    pulses = MeasuredPulses.of(np.zeros(3), points, np.linalg.norm(points, axis=1))
    plot_volumes(fit_volumes(pulses, voxel=1.0), tmp_path / "one.png")
    gone = MeasuredPulses.of(np.zeros(3), points, np.full(30, np.nan))
    plot_comparison(gone, gone, compare(gone, gone), tmp_path / "scores.png", field={"all": field_scores(gone, gone)})
    plot_comparison(gone, gone, compare(gone, gone), tmp_path / "none.png")
