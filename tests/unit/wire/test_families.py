"""Where each maker's devices send to, as the factory sets them up, and by what names their packets go."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tussock.errors import InputError, OutputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire import packets
from tussock.wire.families import FAMILIES, family_of, open_encoder
from tussock.wire.recording import check_recording


@pytest.mark.parametrize(
    ("name", "family", "ports"),
    [
        ("vlp-16", "velodyne", {"data": 2368, "positions": 8308}),
        ("hdl-64e-s3", "velodyne", {"data": 2368, "positions": 8308}),
        ("os1-64", "ouster", {"data": 7502, "imu": 7503}),
        ("livox-mid-360", "livox", {"data": 56301, "imu": 56401}),
        ("livox-avia", "livox-1", {"data": 60001, "imu": 60002}),
        ("xt32", "hesai", {"data": 2368}),
    ],
)
def test_ports_are_those_of_the_manuals(name: str, family: str, ports: dict[str, int]) -> None:
    found = family_of(load_sensor(name))
    assert (found.name, found.ports) == (family, ports)


def test_names_of_packets_are_of_one_family_each() -> None:
    names = [name for family in FAMILIES for name in family.packets]
    assert len(set(names)) == len(names)
    assert {name for name in names if name.startswith("livox1")} == set(FAMILIES[3].packets)
    with pytest.raises(InputError, match="its packets are not known"):
        family_of(load_sensor("lms-111"))
    with pytest.raises(InputError, match="did you mean 'vlp-16'"):
        family_of(load_sensor("vlp-16").with_(packets="vlp16"))


def test_ousters_of_one_run_have_numbers_of_their_own() -> None:
    sensor = load_sensor("os1-32")
    first, third = open_encoder(sensor), open_encoder(sensor, number=2)
    assert third.unit.serial == first.unit.serial + 2  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("file", "sensor", "words"),
    [
        ("a.txt", "vlp-16", "a run ends in"),
        ("a.osf", "vlp-16", "an OSF file holds Ouster's sensors"),
        ("a.pcap", "lms-111", "its packets are not known"),
        ("there.pcap", "vlp-16", "exists already"),
        ("beside.pcap", "os1-32", r"beside\.json: exists already"),
        ("beside.pcap", "vlp-16", None),
        ("a.mcap", "lms-111", None),
        ("a.osf", "os1-32", None),
        ("folder.rosbag2", "vlp-16", "exists already"),
    ],
)
def test_what_would_be_refused_at_the_end_is_refused_at_first(
    tmp_path: Path, file: str, sensor: str, words: str | None
) -> None:
    (tmp_path / "there.pcap").touch()
    (tmp_path / "beside.json").touch()
    (tmp_path / "folder.rosbag2").mkdir()
    (tmp_path / "folder.rosbag2" / "a").touch()
    if words is None:
        check_recording(tmp_path / file, load_sensor(sensor), force=False)
        return
    with pytest.raises((InputError, OutputError), match=words):
        check_recording(tmp_path / file, load_sensor(sensor), force=False)
    if "exists" in words:
        check_recording(tmp_path / file, load_sensor(sensor), force=True)


def test_a_run_begins_with_the_year_2025() -> None:
    """Midnight of the first of January, UTC: the same run gives the same bytes."""
    assert packets.EPOCH == datetime(2025, 1, 1, tzinfo=UTC).timestamp() == 1_735_689_600.0
    assert packets.whole_nanoseconds(1_700_000_000.25) == 1_700_000_000_250_000_000
    assert packets.whole_nanoseconds(-0.5) == -500_000_000 and packets.whole_nanoseconds(1e-9) == 1
