"""``tussock scan`` of the receiver: waveforms and their picture, sensitivity and modes; one line for a mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.files.formats import load_frame

SCENE = """
[[objects]]
name = "wall"
box = {size_m = [0.2, 20, 20]}
position_m = [12, 0, 0]
[[objects]]
name = "post"
box = {size_m = [0.02, 0.02, 20]}
position_m = [8, 0, 0]
"""
SCAN = ("scan", "s.toml", "--sensor", "vlp-16", "--pose", "0,0,0")


@pytest.mark.parametrize(("suffix", "beside"), [(".npz", None), (".parquet", "f.waveforms.parquet"), (".las", "f.wdp")])
def test_waveforms_and_their_picture(suffix: str, beside: str | None, tussock, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENE)
    words = ("--waveform", "--waveform-picture", "p.png", "--set", "waveform.window_m=10")
    status, out, err = tussock(*SCAN, "--out", f"f{suffix}", *words)
    assert status == 0, err
    assert "drew p.png" in out
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert beside is None or (tmp_path / beside).exists()
    waves = load_frame(tmp_path / f"f{suffix}").waveforms
    assert waves is not None
    assert waves.samples.shape[1] == 67  # 10 m in bins of 0.15 m
    if suffix == ".las":
        return  # its points have the shape of their echo, and the Gaussians themselves are not kept
    # A pulse that meets the post and the wall has both in its waveform.
    assert waves.components is not None
    pulses, counts = np.unique(waves.components.pulse, return_counts=True)
    both = pulses[counts == 2]
    assert len(both) > 0
    reach = waves.components.range[np.isin(waves.components.pulse, both)].reshape(-1, 2)
    assert np.median(reach[:, 0]) == pytest.approx(8.0, abs=0.3)
    assert np.median(reach[:, 1]) == pytest.approx(11.9, abs=0.5)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--out", "f.pcd", "--waveform"), "--waveform: needs a file of .las, .npz, .parquet, got '.pcd'"),
        (("--out", "f.npz", "--waveform-picture", "p.png"), "--waveform-picture: goes with --waveform"),
        (("--out", "f.npz", "--waveform", "--set", "receiver.model=hits"), "receiver.model = echoes, got 'hits'"),
        (("--out", "f.npz", "--set", 'receiver.detects="far"'), "must be like '10 % at 80 m with probability 0.9'"),
        (("--out", "f.npz", "--set", "receiver.model=hits", "--mode", "second"), "needs model 'echoes'"),
        (("--out", "f.npz", "--set", "receiver.mode=both"), "receiver.mode"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing_behind(words: tuple[str, ...], says: str, tussock, tmp_path) -> None:
    (tmp_path / "s.toml").write_text(SCENE)
    status, _, err = tussock(*SCAN, *words)
    assert status == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


def test_a_weak_sensor_sees_less_and_every_mode_has_its_returns(tussock, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENE)

    def scanned(name: str, *words: str):
        status, _, err = tussock(*SCAN, "--out", name, *words)
        assert status == 0, err
        return load_frame(tmp_path / name)

    strong = scanned("strong.npz")
    weak = scanned("weak.npz", "--set", 'receiver.detects="80 % at 9 m with probability 0.9"')
    assert 0 < len(weak) < 0.2 * len(strong)
    assert (weak.intensity > 0).all()
    dual = scanned("dual.npz", "--mode", "strongest+last")
    assert len(dual) == 2 * len(strong)
    assert len(scanned("one.npz", "--rays", "1", "--mode", "second")) == 0
