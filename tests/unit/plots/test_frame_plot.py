"""Pictures of frames: what is in them, and that odd frames do not break them."""

from __future__ import annotations

import logging
from dataclasses import replace

import matplotlib.image
import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.frames.frame import Frame
from tussock.plots.frame import LABEL_COLORS, _columns, _ring_radii, _rows, _unrolled, plot_frame
from tussock.poses import Pose, Trajectory
from tussock.scene.labels import LABELS


def sweep(lasers: int = 16, steps: int = 90, *, label: int = 100, trajectory: Trajectory | None = None) -> Frame:
    """A sensor in the middle of a sphere of 10 m, as a spinning sensor sees it; the last laser misses."""
    azimuth = np.repeat(np.linspace(np.pi, -np.pi, steps, endpoint=False), lasers)
    laser = np.tile(np.arange(lasers), steps)
    elevation = np.radians(-15 + 2.0 * ((laser * 7) % lasers))  # not in the order of the elevations
    n = len(laser)
    hit = laser != lasers - 1
    ranges = np.where(hit, 10.0, np.nan)
    flat = np.cos(elevation)
    xyz = ranges[:, None] * np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], 1)
    return Frame(
        time=np.linspace(0, 0.1, n), pulse=np.arange(n), laser=laser, azimuth=azimuth, elevation=elevation,
        true_range=ranges, range=ranges, true_xyz=xyz, xyz=xyz, intensity=np.full(n, 0.5), object_id=hit,
        placement=np.zeros(n), label=np.where(hit, label, 0), material=np.zeros(n), return_number=hit,
        return_count=hit, return_kind=hit, meta={"sensor": {"name": "Test 16"}}, trajectory=trajectory,
    )  # fmt: skip


def pixels(path) -> np.ndarray:
    return (matplotlib.image.imread(path)[:, :, :3] * 255).round().astype(int)


def count_near(image: np.ndarray, color: str) -> int:
    wanted = [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    return int((np.abs(image - wanted).max(axis=2) <= 3).sum())


@pytest.mark.parametrize("color", ["range", "intensity", "label", "height"])
def test_every_colouring_draws(tmp_path, color):
    plot_frame(sweep(), tmp_path / "a.png", color=color, title="A title")
    image = pixels(tmp_path / "a.png")
    assert image.shape[:2] == (1152, 1560)
    assert len(np.unique(image @ [65536, 256, 1])) > 50


def test_points_have_the_colour_of_their_label(tmp_path):
    plot_frame(sweep(label=LABELS["grass"]), tmp_path / "grass.png", color="label")
    plot_frame(sweep(label=LABELS["wall"]), tmp_path / "wall.png", color="label")
    grass, wall = pixels(tmp_path / "grass.png"), pixels(tmp_path / "wall.png")
    assert count_near(grass, LABEL_COLORS["grass"]) > 50_000 > 100 > count_near(grass, LABEL_COLORS["wall"])
    assert count_near(wall, LABEL_COLORS["wall"]) > 50_000 > 100 > count_near(wall, LABEL_COLORS["grass"])


def test_every_label_has_a_colour_of_its_own():
    assert LABEL_COLORS.keys() == LABELS.keys()
    assert len(set(LABEL_COLORS.values())) == len(LABEL_COLORS)


def test_the_same_frame_gives_the_same_bytes(tmp_path):
    plot_frame(sweep(), tmp_path / "a.png")
    plot_frame(sweep(), tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize(
    "frame",
    [
        sweep().select(slice(0, 0)),
        sweep().select(slice(0, 1)),
        sweep().select(sweep().laser == 15),
        sweep(lasers=2),
        sweep(label=9999),
        sweep(trajectory=Trajectory.standing(Pose.at(500_000, 5_400_000, 100))),
        sweep(trajectory=Trajectory.through([0, 0.1], [Pose.at(0), Pose.at(3, yaw=1)])),
        sweep().select(np.abs(sweep().azimuth) > 2.5),
    ],
    ids=["empty", "one", "misses", "one-ring", "unknown-label", "far", "moving", "backwards"],
)
def test_odd_frames_draw_without_a_word(tmp_path, caplog, frame):
    with caplog.at_level(logging.WARNING):
        plot_frame(frame, tmp_path / "a.png", color="range" if frame.trajectory else "label")
    assert caplog.text == ""
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_rows_follow_the_elevation_and_not_the_laser():
    frame = sweep()
    row, elevations = _rows(frame)
    assert (np.diff(elevations) > 0).all()
    np.testing.assert_allclose(elevations[row], frame.elevation, atol=1e-6)


def test_without_lasers_rows_are_steps_of_elevation():
    frame = replace(sweep(), laser=np.zeros(len(sweep())))
    row, elevations = _rows(frame)
    np.testing.assert_allclose(elevations[row], frame.elevation, atol=np.radians(30) / 128)


def test_a_view_backwards_is_not_torn_apart():
    azimuth = np.radians([170.0, 175, 179, -179, -175, -170])
    flat, (right, left) = _unrolled(azimuth)
    np.testing.assert_allclose(np.diff(flat), np.radians([5, 4, 2, 4, 5]), atol=1e-12)
    assert right < flat.min() < flat.max() < left
    assert left - right < np.radians(30)


def test_a_full_turn_is_shown_whole():
    frame = sweep()
    azimuth, span = _unrolled(frame.azimuth.astype(float))
    assert span == (-np.pi, np.pi)
    assert _columns(azimuth, _rows(frame)[0], 16) == 85  # 0.95 of the 90 steps: no empty columns


def test_rings_are_round_and_few():
    for half in np.geomspace(0.3, 3000, 60):
        rings = _ring_radii(half * 2, half)
        assert 1 <= sum(r <= half for r in rings) <= 3
        assert all(f"{r:.1e}"[0] in "123456789" for r in rings)
        assert float(f"{rings[0]:.0e}") == pytest.approx(rings[0])


def test_wrong_requests_are_refused(tmp_path):
    with pytest.raises(InputError, match="did you mean 'range'"):
        plot_frame(sweep(), tmp_path / "a.png", color="ranges")
    with pytest.raises(InputError, match=r"must be \.png"):
        plot_frame(sweep(), tmp_path / "a.jpg")
    (tmp_path / "a.png").write_text("old")
    with pytest.raises(OutputError, match="exists already"):
        plot_frame(sweep(), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_text() == "old"
    plot_frame(sweep(), tmp_path / "a.png", force=True)
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.png"]
