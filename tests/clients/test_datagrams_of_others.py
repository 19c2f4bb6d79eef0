"""tshark and dpkt find the same datagrams as we do, in recordings of real sensors and in captures of every kind."""

from __future__ import annotations

import random
import shutil
import socket
import subprocess
from pathlib import Path

import numpy as np
import pytest

from made_captures import LINK_TYPES, Sent, pcap, pcapng, records_of
from real_recordings import recorded
from tussock.wire.captures.datagrams import Datagrams, read_datagrams

NAMES = [
    "ouster/OS-0-32-U1_v2.2.0_1024x10.pcap", "ouster/OS-1-128_v2.3.0_1024x10_lb_n3.pcap",
    "velodyne/hdl32e_moving.pcap", "velodyne/vlp16_static_with_gaps.pcap", "velodyne/vlp32c_static/packets.pcap",
    "velodyne/vls128_static/packets.pcap",
]  # fmt: skip
TSHARK = shutil.which("tshark")


def told(path: Path) -> list[tuple[str, ...]]:
    """tshark's source, destination, ports and payload of every UDP datagram, fragments joined, times in ns."""
    if TSHARK is None:
        pytest.skip("tshark is not installed: apt-get install tshark")
    fields = [
        "frame.time_epoch",
        "ip.src",
        "ipv6.src",
        "ip.dst",
        "ipv6.dst",
        "udp.srcport",
        "udp.dstport",
        "udp.payload",
    ]
    command = [TSHARK, "-r", str(path), "-Y", "udp", "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    rows = []
    for line in run.stdout.splitlines():
        time, four, six, to_four, to_six, source_port, port, payload = line.split("\t")
        whole, _, part = time.partition(".")
        nanoseconds = str(int(whole) * 1_000_000_000 + int(part.ljust(9, "0")))
        rows.append((nanoseconds, four + six, to_four + to_six, source_port, port, payload))
    return rows


def ours(found: Datagrams) -> list[tuple[str, ...]]:
    def text(raw: np.ndarray) -> str:
        mapped = raw[:12].tolist() == [0] * 10 + [255, 255]
        return socket.inet_ntoa(raw[12:].tobytes()) if mapped else socket.inet_ntop(socket.AF_INET6, raw.tobytes())

    return [
        (
            str(found.time_ns[row]), text(found.source[row]), text(found.destination[row]), str(found.source_port[row]),
            str(found.port[row]), found.payload(row).hex(),
        )
        for row in range(len(found))
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_real_recordings(name: str) -> None:
    file = recorded(name)
    assert ours(read_datagrams(file)) == told(file)


@pytest.mark.parametrize("name", NAMES)
def test_dpkt_agrees(name: str) -> None:
    dpkt = pytest.importorskip("dpkt", reason="dpkt is not installed: pip install 'tussock[readers]'")
    file = recorded(name)
    found = read_datagrams(file)
    with file.open("rb") as opened:
        udp = [dpkt.ethernet.Ethernet(frame).data.data for _, frame in dpkt.pcap.Reader(opened)]
    assert [bytes(part.data) for part in udp] == [found.payload(row) for row in range(len(found))]


@pytest.mark.parametrize("link", LINK_TYPES)
def test_every_kind_of_capture(tmp_path: Path, link) -> None:
    rng = random.Random(1)
    sents = [
        Sent(
            rng.randbytes(rng.randrange(1, 3000)), 1_700_000_000_000_000_000 + k * 1_000_003, number=k, port=40_000 + k % 5,
            extensions=k % 3 == 0, vlan=(7,) * (k // 10) if link in ("ethernet", "cooked", "cooked 2") else (),
            **({"source": "fe80::1", "destination": "ff02::2"} if k % 2 else {}),
        )
        for k in range(30)
    ]  # fmt: skip
    records = [record for sent in sents for record in records_of([sent], link, part=rng.choice([None, 256, 1480]))]
    for name, data in (("a.pcap", pcap(records, link, nano=True)), ("a.pcapng", pcapng(records, [link]))):
        (tmp_path / name).write_bytes(data)
        assert ours(read_datagrams(tmp_path / name)) == told(tmp_path / name)


def test_converted_by_wireshark(tmp_path: Path) -> None:
    """A real recording as pcapng, with its own blocks between: the same datagrams."""
    editcap = shutil.which("editcap")
    if editcap is None:
        pytest.skip("editcap is not installed: apt-get install tshark")
    file = recorded(NAMES[-1])
    subprocess.run([editcap, "-F", "pcapng", str(file), str(tmp_path / "a.pcapng")], check=True)
    assert ours(read_datagrams(tmp_path / "a.pcapng")) == ours(read_datagrams(file))
