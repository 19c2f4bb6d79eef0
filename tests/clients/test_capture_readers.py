"""dpkt, and tshark where it is installed, read our captures: checksums, sizes and rates."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.sensors.catalogue import load_sensor
from tussock.wire.runs import open_run

TSHARK = shutil.which("tshark")
RATES = [
    ("hdl-32e", 1808), ("vlp-16", 754), ("vlp-32c", 1507), ("vls-128", 6253.9), ("hdl-64e-s2", 3472.17),
]  # fmt: skip


def record(name: str, path: Path) -> None:
    sensor = load_sensor(name)
    with open_run(path, sensor) as run:
        for number in range(5):
            run.write(made_frame(sensor, number, share=0.2))


@pytest.mark.parametrize(("name", "rate"), RATES)
def test_dpkt_finds_nothing_wrong(name: str, rate: float, tmp_path: Path) -> None:
    dpkt = pytest.importorskip("dpkt", reason="dpkt is not installed")
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


@pytest.mark.parametrize(("name", "rate"), RATES)
def test_tshark_finds_nothing_wrong(name: str, rate: float, tmp_path: Path) -> None:
    if TSHARK is None:
        pytest.skip("tshark is not installed")
    record(name, tmp_path / "run.pcap")
    told = subprocess.run(
        [
            TSHARK, "-r", tmp_path / "run.pcap", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
            "-T", "fields", "-e", "frame.time_epoch", "-e", "udp.dstport", "-e", "udp.length",
            "-e", "ip.checksum.status", "-e", "udp.checksum.status",
        ],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in told.stdout.splitlines()]
    good = {"1", "Good"}
    assert all(row[3] in good and row[4] in good for row in rows)
    data = [row for row in rows if row[1] == "2368"]
    assert {row[2] for row in data} == {str(1206 + 8)}
    assert {row[2] for row in rows if row[1] == "8308"} == {str(512 + 8)}
    times = np.array([float(row[0]) for row in data])
    assert (len(times) - 1) / (times[-1] - times[0]) == pytest.approx(rate, rel=0.01)
