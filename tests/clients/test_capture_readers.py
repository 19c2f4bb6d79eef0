"""dpkt, and tshark where it is installed, read our captures: checksums, sizes and rates."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.sensors.catalogue import load_sensor
from tussock.wire.recording import open_recording

TSHARK = shutil.which("tshark")
GOOD = {"1", "Good"}  # what tshark calls a right checksum, by version
RATES = [
    ("hdl-32e", 1808), ("vlp-16", 754), ("vlp-32c", 1507), ("vls-128", 6253.9), ("hdl-64e-s2", 3472.17),
]  # fmt: skip


def record(name: str, path: Path) -> None:
    sensor = load_sensor(name)
    with open_recording(path, sensor) as run:
        for number in range(5):
            run.write(made_frame(sensor, number, share=0.2))


@pytest.mark.parametrize(("name", "rate"), RATES)
def test_dpkt_finds_nothing_wrong(name: str, rate: float, tmp_path: Path) -> None:
    dpkt = pytest.importorskip("dpkt", reason="dpkt is not installed: pip install dpkt")
    record(name, tmp_path / "run.pcap")
    times, sizes = [], set()
    with (tmp_path / "run.pcap").open("rb") as file:
        for time, frame in dpkt.pcap.Reader(file):
            ip = dpkt.ethernet.Ethernet(frame).data
            told = ip.sum, ip.data.sum
            ip.sum = ip.data.sum = 0
            again = dpkt.ip.IP(bytes(ip))  # dpkt fills in what is 0
            assert (again.sum, again.data.sum) == told
            sizes.add((ip.data.dport, len(ip.data.data)))
            if ip.data.dport == 2368:
                times.append(time)
    assert sizes == {(2368, 1206), (8308, 512)}
    assert (len(times) - 1) / (times[-1] - times[0]) == pytest.approx(rate, rel=0.01)


def dissected(path: Path) -> list[list[str]]:
    """tshark's time [s], destination port, UDP length, and the checksum states of IP and UDP, a row a packet."""
    if TSHARK is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    told = subprocess.run(
        [
            TSHARK, "-r", path, "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
            "-T", "fields", "-e", "frame.time_epoch", "-e", "udp.dstport", "-e", "udp.length",
            "-e", "ip.checksum.status", "-e", "udp.checksum.status",
        ],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return [line.split("\t") for line in told.stdout.splitlines()]


@pytest.mark.parametrize(("name", "rate"), RATES)
def test_tshark_finds_nothing_wrong(name: str, rate: float, tmp_path: Path) -> None:
    record(name, tmp_path / "run.pcap")
    rows = dissected(tmp_path / "run.pcap")
    assert {row[3] for row in rows} <= GOOD and {row[4] for row in rows} <= GOOD
    data = [row for row in rows if row[1] == "2368"]
    assert {row[2] for row in data} == {str(1206 + 8)}
    assert {row[2] for row in rows if row[1] == "8308"} == {str(512 + 8)}
    assert {row[1] for row in rows} == {"2368", "8308"}
    times = np.array([float(row[0]) for row in data])
    assert (len(times) - 1) / (times[-1] - times[0]) == pytest.approx(rate, rel=0.01)


def test_tshark_sees_a_changed_byte(tmp_path: Path) -> None:
    """The check above can fail: one bit of the first payload, turned, is found by its checksum."""
    record("vlp-16", tmp_path / "run.pcap")
    altered = bytearray((tmp_path / "run.pcap").read_bytes())
    altered[24 + 16 + 42 + 100] ^= 1
    (tmp_path / "altered.pcap").write_bytes(altered)
    first, *others = dissected(tmp_path / "altered.pcap")
    assert first[3] in GOOD and first[4] not in GOOD
    assert {row[4] for row in others} <= GOOD
