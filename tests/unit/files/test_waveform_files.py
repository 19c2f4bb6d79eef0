"""Frames with waveforms to files and back, and LAS packets read by laspy and by hand."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.files.formats import FORMATS, load_frame, save_frame
from tussock.frames.decompose import decompose
from tussock.frames.frame import Frame
from tussock.frames.waveforms import Waveforms
from tussock.plots.waveform import plot_waveform, richest_pulse
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor

SENSOR = Sensor(
    name="few",
    pattern=GridPattern(azimuth_deg=list(range(10)), elevation_deg=[-3, 0, 3, 6], frame_hz=10.0),
    receiver=Receiver(range_step_m=0.002, min_range_m=3.0),
)
BIN, FWHM = 1.0, 5.0
STEP = 0.149896229


@pytest.fixture
def waves() -> Frame:
    """A made frame; every other pulse of it has a waveform of one or two echoes."""
    frame = made_frame(SENSOR, returns="dual")
    pulses = np.unique(frame.pulse)[::2]
    x = np.arange(64) * STEP
    start = np.array([frame.range[frame.pulse == p].min() - 2.0 for p in pulses], np.float32)
    shapes = np.exp(-((x - 2.0) ** 2) / 0.2) * 100 + np.exp(-((x - 5.0) ** 2) / 0.2) * np.arange(len(pulses))[:, None]
    made = Waveforms(pulses.astype(np.uint32), start, shapes.astype(np.float32), BIN, FWHM, 0.0)
    made = replace(made, components=decompose(made))
    meta = {**frame.meta, "waveforms": {"pulse_fwhm_ns": FWHM, "noise": 0.0}}
    return replace(frame, meta=meta, waveforms=made)


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_waveforms_come_back_with_the_same_bits(suffix: str, waves: Frame, tmp_path: Path) -> None:
    save_frame(waves, tmp_path / f"f{suffix}")
    back = load_frame(tmp_path / f"f{suffix}")
    assert back.identical(waves)
    mine, theirs = waves.waveforms, back.waveforms
    assert mine is not None
    assert theirs is not None
    for name in ("pulse", "start", "samples", "bin_ns", "pulse_fwhm_ns", "noise"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    assert mine.components is not None
    assert theirs.components is not None
    for name in ("pulse", "range", "amplitude", "width"):
        assert np.array_equal(getattr(mine.components, name), getattr(theirs.components, name)), name


def test_a_frame_without_waveforms_does_not_take_those_of_another(waves: Frame, tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    save_frame(waves, path)
    assert (tmp_path / "f.waveforms.parquet").exists()
    plain = replace(waves, waveforms=None, meta={"pulses": 40})
    save_frame(plain, path, force=True)
    assert load_frame(path).waveforms is None
    assert not (tmp_path / "f.waveforms.parquet").exists()


def test_what_has_no_room_for_them_says_so_before_it_writes(waves: Frame, tmp_path: Path) -> None:
    for suffix in set(FORMATS) - {".npz", ".parquet", ".las"}:
        with pytest.raises(InputError, match=r"waveforms: need a file of \.las, \.npz, \.parquet"):
            save_frame(waves, tmp_path / f"f{suffix}")
    assert not list(tmp_path.iterdir())


def test_nothing_beside_is_overwritten_unasked(waves: Frame, tmp_path: Path) -> None:
    (tmp_path / "f.waveforms.parquet").write_text("mine")
    with pytest.raises(Exception, match="exists already"):
        save_frame(waves, tmp_path / "f.parquet")
    assert not (tmp_path / "f.parquet").exists()


def test_las_packets_by_the_specification(waves: Frame, tmp_path: Path) -> None:
    """Read by laspy where it reads them, and the packets by hand from the ASPRS text."""
    laspy = pytest.importorskip("laspy", reason="laspy reads LAS: pip install 'tussock[las]'")
    path = tmp_path / "f.las"
    save_frame(waves, path)
    cloud = laspy.read(path)
    assert cloud.point_format.id == 9
    assert cloud.point_format.has_waveform_packet
    assert cloud.header.global_encoding.waveform_data_packets_external
    assert not cloud.header.global_encoding.waveform_data_packets_internal
    (about,) = [vlr for vlr in cloud.header.vlrs if vlr.record_id == 100]
    form = about.parsed_record
    assert (form.bits_per_sample, form.waveform_compression_type, form.number_of_samples) == (32, 0, 64)
    assert form.temporal_sample_spacing == 1000

    data = (tmp_path / "f.wdp").read_bytes()
    reserved, user, record, length, _ = struct.unpack("<H16sHQ32s", data[:60])
    assert (reserved, user.rstrip(b"\0"), record, length) == (0, b"LASF_Spec", 65535, len(data) - 60)
    kept = waves.waveforms
    assert kept is not None
    checked = 0
    parts = kept.components
    assert parts is not None
    for i in range(len(waves)):
        own = np.flatnonzero(parts.pulse == waves.pulse[i])
        if len(own):
            nearest = own[np.abs(parts.range[own] - waves.range[i]).argmin()]
            assert (cloud["amplitude"][i], cloud["echo_width"][i]) == (parts.amplitude[nearest], parts.width[nearest])
        else:
            assert np.isnan(cloud["amplitude"][i])
        row = np.flatnonzero(kept.pulse == waves.pulse[i])
        assert cloud.wavepacket_index[i] == len(row)
        if not len(row):
            continue
        at, size = int(cloud.wavepacket_offset[i]), int(cloud.wavepacket_size[i])
        raw = np.frombuffer(data[at : at + size], "<u4")
        samples = form.digitizer_offset + form.digitizer_gain * raw
        np.testing.assert_allclose(samples, kept.samples[row[0]], atol=1e-6)
        # The point lies where the packet says: at its time after the first sample, along the parametric line.
        along = cloud.return_point_wave_location[i] * 1e-12 * 299_792_458.0 / 2
        assert kept.start[row[0]] + along == pytest.approx(waves.range[i], abs=1e-4)
        way = np.array([cloud.x_t[i], cloud.y_t[i], cloud.z_t[i]], float)
        assert np.linalg.norm(way) == pytest.approx(1e-12 * 299_792_458.0 / 2, rel=1e-5)
        checked += 1
    assert checked > 10
    back = load_frame(path).waveforms
    assert back is not None
    assert np.array_equal(back.pulse, kept.pulse)
    np.testing.assert_allclose(back.start, kept.start, atol=1e-4)
    np.testing.assert_allclose(back.samples, kept.samples, atol=1e-5)


def test_packets_that_are_cut_are_found_out_and_gone_ones_are_gone(waves: Frame, tmp_path: Path) -> None:
    pytest.importorskip("laspy", reason="laspy reads LAS: pip install 'tussock[las]'")
    path = tmp_path / "f.las"
    save_frame(waves, path)
    whole = (tmp_path / "f.wdp").read_bytes()
    (tmp_path / "f.wdp").write_bytes(whole[:-300])
    with pytest.raises(InputError, match=r"f\.wdp: is cut"):
        load_frame(path)
    (tmp_path / "f.wdp").unlink()
    assert load_frame(path).waveforms is None


def test_a_picture_of_the_richest_pulse(waves: Frame, tmp_path: Path) -> None:
    kept = waves.waveforms
    assert kept is not None
    assert richest_pulse(waves) in kept.pulse
    plot_waveform(waves, tmp_path / "pulse.png")
    assert (tmp_path / "pulse.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match="must be one of the"):
        plot_waveform(waves, tmp_path / "other.png", pulse=10_000)
    with pytest.raises(InputError, match="has no waveforms"):
        plot_waveform(replace(waves, waveforms=None), tmp_path / "other.png")
    assert not (tmp_path / "other.png").exists()
