"""Recordings of real sensors, taken apart and put together again by our encoder, byte by byte."""

from __future__ import annotations

import numpy as np
import pytest

from real_recordings import recorded
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.velodyne.decode import decode_packets
from tussock.wire.velodyne.encode import assemble, place_returns


@pytest.mark.parametrize(
    ("file", "model", "packets", "returns"),
    [
        ("vls128_static/packets.pcap", "vls-128", 2193, 765_932),
        ("vlp32c_static/packets.pcap", "vlp-32c", 379, 131_305),
        ("vlp16_static_with_gaps.pcap", "vlp-16", 1000, 203_034),
        ("hdl32e_moving.pcap", "hdl-32e", 500, 146_705),
    ],
)
def test_the_same_bytes_again(file: str, model: str, packets: int, returns: int) -> None:
    payloads = read_datagrams(recorded(f"velodyne/{file}")).payloads()
    assert len(payloads) == packets
    raw = decode_packets(payloads)
    assert (raw.model.name, raw.mode, raw.returns) == (model, "strongest", returns)

    # One row for every laser of every cycle, in firing order, as a frame would have it.
    layout = raw.layout
    lasers = raw.model.lasers
    pulse = np.arange(packets * layout.cycles * lasers)
    again = np.zeros_like(payloads)
    place_returns(
        layout, pulse, pulse % lasers, np.zeros(len(pulse)), raw.distance.ravel(), raw.intensity.ravel(), again
    )
    assemble(again, layout, raw.azimuth, raw.stamp, raw.factory)
    np.testing.assert_array_equal(again, payloads)


def test_azimuths_of_a_real_cycle_agree_in_all_its_blocks() -> None:
    """Why one azimuth a cycle is enough: the four blocks of a VLS-128's cycle carry the same one."""
    raw = decode_packets(read_datagrams(recorded("velodyne/vls128_static/packets.pcap")).payloads())
    by_cycle = raw.azimuth.reshape(-1, 3, 4)
    assert (by_cycle == by_cycle[:, :, :1]).all()
