from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor, sensor_names


def test_every_sensor_loads_fires_and_names_its_sources() -> None:
    assert {"hdl-64e-s2", "hdl-32e", "vlp-16", "vlp-32c", "vls-128"} <= set(sensor_names())
    for name in sensor_names():
        sensor = load_sensor(name)
        pulses = sensor.pulses(0)
        assert sensor.name == name
        assert sensor.description
        assert {"pattern", "timing", "beam", "receiver", "noise", "wavelength"} <= set(sensor.sources), name
        assert all(len(text) > 10 and "\n" not in text for text in sensor.sources.values()), name
        assert len(pulses) > 0
        assert pulses.lasers.max() < sensor.lasers
        assert np.all(np.diff(pulses.offsets) >= 0)
        np.testing.assert_allclose(np.linalg.norm(pulses.directions, axis=1), 1.0, atol=1e-6)


def test_pulses_are_counted_without_being_made() -> None:
    for name in sensor_names():
        sensor = load_sensor(name)
        for frame in (0, 1, 7):
            assert sensor.pulse_count(frame) == len(sensor.pulses(frame)), name


def test_names_are_found_in_any_case_and_the_nearest_is_named() -> None:
    assert load_sensor("HDL-32E") is load_sensor("hdl_32e")
    with pytest.raises(InputError, match="did you mean 'hdl-32e'"):
        load_sensor("hdl-33e")


def test_a_users_file_changes_single_keys_of_its_base(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('base = "hdl-32e"\n[pattern]\nrotation_hz = 20.0\n[beam]\nrays = 9\n')
    mine, base = load_sensor(path), load_sensor("hdl-32e")
    assert mine.name == "mine"
    assert mine.rotation_hz == 20.0
    assert mine.beam.rays == 9
    assert mine.beam.divergence_horizontal_mrad == base.beam.divergence_horizontal_mrad
    assert mine.pattern.elevation_deg == base.pattern.elevation_deg
    other = tmp_path / "other.toml"
    other.write_text('base = "mine.toml"\nname = "second"\n[noise]\nray_sigma_m = 0.5\n')
    second = load_sensor(str(other))
    assert (second.name, second.beam.rays, second.noise.ray_sigma_m) == ("second", 9, 0.5)


def test_a_whole_sensor_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "fan.toml"
    path.write_text(
        '[pattern]\nkind = "spinning"\nelevation_deg = { first = -10, last = 10, count = 5 }\n'
        "steps = 100\nrotation_hz = 2.0\nclockwise = false\n"
    )
    sensor = load_sensor(path)
    assert len(sensor.pulses(0)) == 500
    assert sensor.frame_period == 0.5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pattern: is required"),
        ('base = "hdl-23e"', "did you mean 'hdl-32e'"),
        ('base = "self.toml"', "its own base"),
        ("base = 3", "must be the name or the file"),
        ('base = "gone.toml"', "no such file"),
        ('base = "hdl-32e"\n[pattern]\nrotation_hz = 50.0', "within 5 and 20 Hz"),
        ('base = "hdl-32e"\n[pattern]\nrotation = 5.0', "did you mean 'rotation_hz'"),
        ('base = "hdl-32e"\n[receiver]\nmin_range_m = -1.0', "min_range_m"),
        ('base = "hdl-32e"\n[beam]\ndivergence_horizontal_mrad = -1.0', "divergence_horizontal_mrad"),
        ('[pattern]\nkind = "spining"', "spin"),
        ("[pattern", "not valid TOML"),
    ],
)
def test_mistakes_in_a_users_file_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "self.toml"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        load_sensor(path)
    assert message in str(error.value)
    assert str(tmp_path) in str(error.value) or "catalogue" in str(error.value)
    assert "\n" not in str(error.value)


def test_changed_copies_are_checked_again() -> None:
    sensor = load_sensor("hdl-64e-s2")
    assert sensor.with_(rotation_hz=5).frame_period == 0.2
    assert sensor.with_(**{"beam.rays": 9, "receiver.max_range_m": 50.0}).receiver.max_range_m == 50.0
    with pytest.raises(InputError, match="within 5 and 15 Hz"):
        sensor.with_(rotation_hz=20)
    with pytest.raises(InputError, match="did you mean 'rays'"):
        sensor.with_(**{"beam.ray": 9})


def test_the_papers_receivers_are_in_the_catalogue() -> None:
    line = load_sensor("lms-291-s05")
    assert (line.receiver.mode, line.receiver.signal_cutoff_m) == ("first", 1.6)
    assert (line.beam.shape, line.beam.divergence_horizontal_mrad) == ("circle", 12.9)
    mavs = load_sensor("hdl-64e-mavs")
    assert (mavs.receiver.model, mavs.beam.rays, mavs.beam.sampling) == ("hits", 9, "stencil")
    for name in ("hdl-32e", "hdl-64e-mavs", "hdl-64e-s2"):
        sensor = load_sensor(name)
        assert sensor.receiver.signal_cutoff_m == 1.0, name
        assert sensor.beam.shape == "rectangle", name
        spread = (sensor.beam.divergence_horizontal_mrad, sensor.beam.divergence_vertical_mrad)
        assert spread == (3.3, 0.7), name
    camera = load_sensor("tof-camera")
    assert camera.receiver.backfolding
    assert camera.receiver.max_range_m == 20.0
    assert load_sensor("hdl-64e-s3-dual").receiver.mode == "strongest+last"


@pytest.mark.parametrize(
    ("name", "focal_mm"),
    [("vlp-16", 41.91), ("puck-hi-res", 41.91), ("hdl-32e", 28.83), ("vlp-32c", 42.4), ("vls-128", 58.63)],
)
def test_beams_of_a_velodyne_meet_ahead_of_its_axis(name: str, focal_mm: float) -> None:
    """Manual 63-9243: to a tenth of a millimetre the corrections are those of beams that meet 41.91 mm from the axis; the
    others' are velodyne-decoder's."""
    pulses = load_sensor(name).pulses(0)
    assert pulses.origins is not None
    assert not pulses.origins[:, :2].any()
    np.testing.assert_allclose(pulses.origins[:, 2], -1e-3 * focal_mm * np.tan(pulses.elevations), atol=0.51e-4)


PULSED = sorted(set(sensor_names()) - {"hdl-64e-mavs", "tof-camera"})  # a paper's own receiver; no sheet says


@pytest.mark.parametrize("name", PULSED)
def test_every_sensor_has_a_beam_a_pulse_and_a_sensitivity(name: str) -> None:
    sensor = load_sensor(name)
    assert sensor.receiver.model == "echoes"
    assert sensor.beam.divergence_horizontal_mrad > 0
    assert sensor.beam.rays >= 9
    assert sensor.receiver.detects
    assert {"pulse", "detects", "rays"} <= set(sensor.sources)


def test_every_sensor_has_the_sub_rays_that_the_published_table_calls_for() -> None:
    page = Path(__file__).parents[3] / "docs" / "beams.md"
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.read_text(encoding="utf-8").splitlines()]
    enough: dict[str, int] = {}
    for row in rows:
        if len(row) > 3 and row[-1].startswith("**"):
            for name in row[0].split(", "):
                enough[name] = max(enough.get(name, 0), int(row[-1].strip("*")))
    assert set(enough) == set(sensor_names()) - {"hdl-64e-mavs"}  # the paper's nine rays
    for name, rays in enough.items():
        assert load_sensor(name).beam.rays == max(16, rays), name  # sixteen are traced at once


def test_what_the_sheets_say_is_seen() -> None:
    def said(name: str) -> list[tuple[float, float, float]]:
        return [(t.reflectivity, t.distance_m, t.probability) for t in load_sensor(name).receiver.detects]

    assert said("hdl-64e-s2") == said("hdl-64e-s3-dual") == [(0.1, 50.0, 0.9), (0.8, 120.0, 0.9)]
    assert said("ibeo-lux") == [(0.1, 50.0, 0.9)]
    assert said("os1-64") == [(0.1, 40.0, 0.9), (0.8, 120.0, 0.9)]
    assert load_sensor("aeva-aeries-ii").noise.speed_sigma_m_s == 0.03


def test_velodyne_intensities_come_in_bytes() -> None:
    velodyne = [name for name in sensor_names() if name.startswith(("hdl-", "vlp-", "vls-", "puck"))]
    assert len(velodyne) >= 9
    for name in set(velodyne) - {"hdl-64e-mavs"}:  # the paper's sensor, not the product
        receiver, white = load_sensor(name).receiver, 255 if "64" in name else 110 if "128" in name else 100
        assert receiver.intensity_step * white == pytest.approx(1.0), name
        assert receiver.intensity_ceiling * white == pytest.approx(255.0), name
        assert "intensity" in load_sensor(name).sources, name
