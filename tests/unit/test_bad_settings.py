"""Settings of beams, receivers and materials that cannot be: each is refused in one line that says what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tussock.errors import InputError
from tussock.scene.material import Material
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.table import TablePattern

SETTINGS = [
    ("beam.divergence_horizontal_mrad", -1.0, "greater than or equal to 0, got -1.0"),
    ("beam.divergence_vertical_mrad", -0.001, "greater than or equal to 0, got -0.001"),
    ("beam.divergence_vertical_mrad", float("nan"), "finite number, got nan"),
    ("beam.shape", "triangle", "'circle', 'rectangle' or 'ellipse', got 'triangle'"),
    ("beam.rays", 0, "greater than or equal to 1, got 0"),
    ("beam.rays", 2.5, "integer"),
    ("beam.sampling", "grid", "got 'grid'"),
    ("receiver.mode", "third", "'strongest+second' or 'all', got 'third'"),
    ("receiver.model", "waves", "'echoes' or 'hits', got 'waves'"),
    ("receiver.detects", "80 m at 10 %", "must be like '10 % at 80 m with probability 0.9', got '80 m at 10 %'"),
    ("receiver.detects", "10 % at 80 m with probability 1.0", "less than 1, got 1.0"),
    (
        "receiver.detects",
        ["10 % at 80 m", "5 % at 90 m"],
        "detects: the second target must be further away and brighter",
    ),
    ("receiver.detects", ["1 % at 8 m", "5 % at 9 m", "9 % at 10 m"], "at most 2 items"),
    ("receiver.pulse_fwhm_ns", 0.0, "greater than 0, got 0.0"),
    ("receiver.ceiling_gain", 0.5, "ceiling_gain must be above 1, or 0"),
    ("receiver.range_walk", 1.5, "less than or equal to 1, got 1.5"),
    ("beam.profile", "round", "'flat' or 'gaussian', got 'round'"),
    ("beam.halo_share", 1.0, "less than 1, got 1.0"),
    ("noise.stated_at", {"reflectivity": 0.8}, "distance_m: is required"),
    ("noise.false_alarms", -0.1, "greater than or equal to 0, got -0.1"),
    ("noise.speed_sigma_m_s", -0.1, "greater than or equal to 0, got -0.1"),
    ("waveform.bin_ns", 0.0, "greater than or equal to 0.01, got 0.0"),
    ("receiver.signal_cutoff_m", -1.6, "greater than or equal to 0, got -1.6"),
    ("receiver.signal_cutoff_m", float("inf"), "finite number, got inf"),
    ("receiver.max_range_m", 0.0, "greater than 0, got 0.0"),
    ("receiver.min_range_m", 1000.0, "min_range_m must be below max_range_m"),
    ("receiver.max_returns", 0, "greater than or equal to 1, got 0"),
    ("receiver.max_bounces", -1, "greater than or equal to 0, got -1"),
    ("receiver.range_step_m", -0.002, "greater than or equal to 0, got -0.002"),
    ("receiver.extinction_per_m", -0.1, "greater than or equal to 0, got -0.1"),
    ("receiver.detection_limit", {"near_reflectivity": 1.2}, "less than or equal to 1, got 1.2"),
    ("receiver.detection_limit", {"near_m": 130.0}, "near_m must be below far_m (120)"),
    ("noise.ray_sigma_m", -0.01, "greater than or equal to 0, got -0.01"),
    ("noise.distribution", "cauchy", "'normal' or 'laplace', got 'cauchy'"),
    ("noise.dropout", 1.1, "less than or equal to 1, got 1.1"),
    ("noise.pointing_sigma_mrad", -1.0, "greater than or equal to 0, got -1.0"),
]


@pytest.mark.parametrize(("key", "value", "rule"), SETTINGS)
def test_sensor(key: str, value: object, rule: str) -> None:
    with pytest.raises(InputError) as error:
        load_sensor("vlp-16").with_(**{key: value})
    text = str(error.value)
    assert text.startswith("sensor: " + key.split(".")[0]), "it says where"
    assert key.split(".")[1] in text
    assert rule in text
    assert "\n" not in text
    assert len(text) < 250


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"receiver.model": "hits", "receiver.mode": "second"}, "mode second needs model 'echoes'"),
        ({"receiver.range_walk": 0.5, "receiver.detects": ()}, "range_walk needs detects"),
        ({"receiver.model": "hits", "noise.speed_sigma_m_s": 0.1}, "speed_sigma_m_s needs receiver.model = 'echoes'"),
        ({"beam.sampling": "random", "beam.halo_share": 0.1}, "halo_share goes with a sampling that is the same"),
        (
            {"beam.adaptive": True, "beam.sampling": "stencil"},
            "adaptive goes with sampling = 'sequence', not with 'stencil'",
        ),
        (
            {"beam.adaptive": True, "beam.sampling": "sequence", "beam.halo_share": 0.1},
            "adaptive goes with halo_share = 0",
        ),
        (
            {"beam.adaptive": True, "beam.sampling": "sequence", "receiver.model": "hits"},
            "beam.adaptive needs receiver.model = 'echoes'",
        ),
    ],
)
def test_settings_that_do_not_go_together(changes: dict, rule: str) -> None:
    with pytest.raises(InputError, match=rule) as error:
        load_sensor("vlp-16").with_(**changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "field", "rule"),
    [
        ({"refractive_index": 0.9}, "refractive_index", "greater than or equal to 1, got 0.9"),
        ({"refractive_index": 5.0}, "refractive_index", "less than or equal to 4, got 5.0"),
        ({"reflectance": 1.2}, "reflectance", "less than or equal to 1, got 1.2"),
        ({"reflectance": -0.1}, "reflectance", "greater than or equal to 0, got -0.1"),
        ({"mirror": 1.01}, "mirror", "less than or equal to 1, got 1.01"),
        ({"retro": -1.0}, "retro", "greater than or equal to 0, got -1.0"),
        ({"shininess": 0.5}, "shininess", "greater than or equal to 1, got 0.5"),
        ({"color": (0.1, 0.2)}, "color", "required"),
        ({"spectrum": [{"wavelength_nm": 10.0}]}, "spectrum", "greater than 200, got 10.0"),
        ({"reflectivity": 0.4}, "reflectivity", "unknown key; did you mean 'reflectance'?"),
    ],
)
def test_material(given: dict, field: str, rule: str) -> None:
    with pytest.raises(InputError) as error:
        Material(**given)
    text = str(error.value)
    assert text.startswith(f"Material: {field}")
    assert rule in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("shares", "total"),
    [
        ({"reflectance": 0.5, "specular": 0.6}, "1.1"),
        ({"reflectance": 0.3, "mirror": 0.8}, "1.1"),
        ({"reflectance": 0.1, "mirror": 0.5, "transmission": 0.5}, "1.1"),
        ({"transmission": 0.9}, "1.2"),
    ],
)
def test_shares_of_light_above_one(shares: dict, total: str) -> None:
    with pytest.raises(InputError) as error:
        Material(name="impossible", **shares)
    text = str(error.value)
    assert (
        f"reflectance + specular + mirror + transmission + leaf_transmission of 'impossible' must be at most 1, and is {total}"
        in text
    )
    assert "\n" not in text
    assert len(text) < 250


def test_shares_may_sum_to_one() -> None:
    assert Material(reflectance=0.1, specular=0.2, mirror=0.3, transmission=0.4).transmission == 0.4
    assert Material(color=(1, 1, 1), transmission=0.9).reflectance == pytest.approx(0.1), "what is left for the grey"


def test_a_table_of_angles_with_gaps(tmp_path: Path) -> None:
    path = tmp_path / "pattern.csv"
    path.write_text("azimuth_deg,elevation_deg,time_s\n0,0,0\n1,,0.1\n2,0,0.2\n")
    with pytest.raises(InputError) as error:
        TablePattern(file=path)
    assert str(error.value) == f"{path}: line 3: elevation_deg: must be a number in every row, got nan"
