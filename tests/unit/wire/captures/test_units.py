"""Units in one capture: named as briefly as they can be told apart, and chosen by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from made_captures import Record, Sent, frames_of, pcap, pcapng
from tussock.errors import InputError
from tussock.wire.captures.datagrams import Datagrams, read_datagrams
from tussock.wire.captures.units import choose_unit, unit_names


def capture(path: Path, *sents: Sent) -> Datagrams:
    path.write_bytes(pcap([Record(frames_of(sent)[0], sent.time_ns) for sent in sents]))
    return read_datagrams(path)


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (Sent(b"b", source="192.168.1.202"), ["192.168.1.201", "192.168.1.202"]),
        (Sent(b"b", port=2369), ["192.168.1.201:2368", "192.168.1.201:2369"]),
        (Sent(b"b", source_port=443), ["192.168.1.201:2368>2368", "192.168.1.201:443>2368"]),
        (Sent(b"b", vlan=(9,)), ["192.168.1.201:2368>2368@0", "192.168.1.201:2368>2368@9"]),
        (Sent(b"b", source="fe80::1", destination="ff02::1"), ["192.168.1.201", "fe80::1"]),
    ],
    ids=["address", "port", "source port", "vlan", "ipv6"],
)
def test_two_units(tmp_path: Path, other: Sent, names: list[str]) -> None:
    found = capture(tmp_path / "two.pcap", Sent(b"a"), Sent(b"a"), other)
    assert unit_names(found.senders()) == names
    with pytest.raises(InputError) as caught:
        choose_unit(found)
    assert str(caught.value) == (
        f"{tmp_path / 'two.pcap'}: holds packets of 2 units, {names[0]} (2 packets) and {names[1]} (1 packets); "
        "choose one with --unit"
    )
    for name, payload, count in ((names[0], b"a", 2), (names[1], b"b", 1)):
        chosen = choose_unit(found, name)
        assert len(chosen) == count and chosen.payload(0) == payload
    with pytest.raises(InputError, match=r"unit: no unit has this name, got '10\.0\.0\.1'; .*two\.pcap holds "):
        choose_unit(found, "10.0.0.1")


def test_a_name_that_several_answer_to(tmp_path: Path) -> None:
    found = capture(tmp_path / "two.pcap", Sent(b"a"), Sent(b"b", port=2369))
    with pytest.raises(InputError, match=r"unit: must name one unit, but several answer to it, got '192\.168\.1\.201'"):
        choose_unit(found, "192.168.1.201")


def test_one_unit_needs_no_name(tmp_path: Path) -> None:
    found = capture(tmp_path / "one.pcap", Sent(b"a"))
    assert choose_unit(found) is found
    assert choose_unit(found, "192.168.1.201:2368").payload(0) == b"a"


def test_two_interfaces_of_one_address(tmp_path: Path) -> None:
    """Two sensors as the factory sends them, each on its own socket of the recorder."""
    frame = frames_of(Sent(b"a"))[0]
    (tmp_path / "two.pcapng").write_bytes(pcapng([Record(frame, 0, 0), Record(frame, 0, 1)], ["ethernet", "ethernet"]))
    with pytest.raises(InputError, match="holds packets of 2 units"):
        choose_unit(read_datagrams(tmp_path / "two.pcapng"))
