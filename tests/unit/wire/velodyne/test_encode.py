"""Packets, byte by byte."""

from __future__ import annotations

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.return_modes import KINDS
from tussock.sensors.catalogue import load_sensor
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.velodyne.decode import decode_packets
from tussock.wire.velodyne.encode import PacketEncoder
from tussock.wire.velodyne.layout import layout_of
from tussock.wire.velodyne.models import MODELS


def test_a_packet_of_an_hdl32e_byte_by_byte() -> None:
    """Written out by hand from the manual: flag, azimuth, 32 returns of three bytes, stamp, mode, model."""
    sensor = load_sensor("hdl-32e")
    frame = made_frame(sensor, 0, share=1.0)
    packet = PacketEncoder(sensor, epoch=3600.0 * 5 + 0.25).encode(frame).payloads[7]
    assert len(packet) == 1206
    for block in range(12):
        at, cycle = 100 * block, 84 + block
        assert packet[at : at + 2].tobytes() == b"\xff\xee"
        azimuth = int.from_bytes(packet[at + 2 : at + 4].tobytes(), "little")
        assert azimuth == round(cycle * 46.08e-6 * 10 * 36000)
        for laser in (0, 1, 17, 31):
            row = int(np.nonzero(frame.pulse == 32 * cycle + laser)[0][0])
            entry = packet[at + 4 + 3 * laser : at + 7 + 3 * laser].tobytes()
            assert int.from_bytes(entry[:2], "little") == round(float(frame.range[row]) / 0.002)
            assert entry[2] == int(float(frame.intensity[row]) * 100 + 0.5)
    assert int.from_bytes(packet[1200:1204].tobytes(), "little") == 250_000 + round(84 * 46.08)
    assert packet[1204:].tobytes() == b"\x37\x21"


def test_places_in_a_dual_packet() -> None:
    """VLP-16: last then strongest; HDL-64E: both blocks of the strongest, then of the last; VLS-128: one cycle."""
    vlp16 = layout_of(MODELS["vlp-16"], "dual")
    assert vlp16.place[0, 0].tolist() == [104, 4]
    assert vlp16.place[1, 0].tolist() == [152, 52]
    assert vlp16.block_cycle.tolist() == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]
    hdl64 = layout_of(MODELS["hdl-64e-s3"], "dual")
    assert hdl64.place[0, 0].tolist() == [4, 204]
    assert hdl64.place[0, 32].tolist() == [104, 304]
    assert [f"{flag:04x}" for flag in hdl64.flags[:4]] == ["eeff", "ddff", "eeff", "ddff"]
    vls = layout_of(MODELS["vls-128"], "dual")
    assert vls.place[0, 127].tolist() == [797, 697]
    assert [f"{flag:04x}" for flag in vls.flags] == [
        "eeff", "eeff", "ddff", "ddff", "ccff", "ccff", "bbff", "bbff", "0000", "0000", "0000", "0000",
    ]  # fmt: skip


@pytest.mark.parametrize("model", MODELS.values(), ids=lambda model: model.name)
@pytest.mark.parametrize("mode", ["strongest", "last", "dual"])
def test_no_two_returns_share_a_place(model, mode) -> None:
    layout = layout_of(model, mode)
    places = np.sort(layout.place.ravel())
    assert len(set(places.tolist())) == layout.cycles * model.lasers * layout.returns
    inside = places % 100
    assert ((inside >= 4) & (inside <= 97) & ((inside - 4) % 3 == 0)).all() and places.max() < 1200


@pytest.mark.parametrize("name", ["vlp-16", "hdl-32e", "hdl-64e-s2", "vls-128"])
def test_a_run_cut_into_frames_is_one_stream(name: str) -> None:
    """Packets go on across the ends of frames, whatever was encoded at once."""
    sensor = load_sensor(name)
    encoder = PacketEncoder(sensor)
    parts = [encoder.encode(made_frame(sensor, number)) for number in range(4, 9)]
    whole = Packets.joined([*parts, encoder.flush()])
    cycles = sensor.pattern.cycles(8).stop - sensor.pattern.cycles(4).start
    assert len(whole) == -(-cycles // encoder.layout.cycles)
    raw = decode_packets(whole.payloads, name if "64" in name else None)
    assert raw.returns == sum(len(made_frame(sensor, number)) for number in range(4, 9))
    np.testing.assert_allclose(np.diff(whole.times), encoder.layout.cycles * float(sensor.pattern.cycle), rtol=1e-9)
    steps = np.diff(raw.azimuth[:, 0].astype(int)) % 36000
    expected = 36000 * sensor.rotation_hz * encoder.layout.cycles * float(sensor.pattern.cycle)
    assert np.abs(steps - expected).max() <= 1
    assert whole.times[-1] >= sensor.frame_period * 9
    assert len(encoder.flush()) == 0


def test_a_gap_completes_the_packet_begun() -> None:
    """After dropped revolutions nothing of the last one is lost and nothing of the next is mixed with it."""
    sensor = load_sensor("hdl-32e")
    encoder = PacketEncoder(sensor)
    first, later = made_frame(sensor, 0), made_frame(sensor, 5)
    before = encoder.encode(first)
    after = encoder.encode(later)
    raw = decode_packets(np.concatenate([before.payloads, after.payloads[:1]]))
    assert raw.returns == len(first)
    assert after.times[1] > 0.5
    start = sensor.pattern.cycles(5).start
    assert decode_packets(after.payloads[1:]).azimuth[0, 0] == round(start * 46.08e-6 * 10 % 1 * 36000)


def test_dual_mode_reports_a_single_return_twice() -> None:
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 0, returns="dual")
    raw = decode_packets(Packets.joined(_all(sensor, frame, "dual")).payloads)
    grid = raw.distance.reshape(-1, 16, 2)
    for count, kind, slot in ((1, "strongest", 0), (1, "strongest", 1), (2, "strongest", 0), (2, "last", 1)):
        rows = (frame.return_count == count) & (frame.return_kind == KINDS.index(kind))
        told = grid[frame.pulse[rows] // 16, frame.laser[rows], slot]
        np.testing.assert_array_equal(told, np.rint(frame.range[rows] / 0.002))
    assert np.count_nonzero(grid[..., 0]) == np.count_nonzero(grid[..., 1]) == len(np.unique(frame.pulse))


def test_out_of_range_and_misses_are_zero() -> None:
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 0)
    ranges = frame.range.copy()
    ranges[:4] = [200.0, np.nan, 0.0004, 131.07]
    brightness = frame.intensity.copy()
    brightness[:4] = [0.5, 0.5, 0.5, 9.0]
    changed = type(frame)(**{**frame.columns, "range": ranges, "intensity": brightness}, meta=frame.meta)
    raw = decode_packets(Packets.joined(_all(sensor, changed, "strongest")).payloads)
    grid, bright = raw.distance.reshape(-1, 16), raw.intensity.reshape(-1, 16)
    cycles, lasers = frame.pulse[:4] // 16, frame.laser[:4]
    assert grid[cycles, lasers].tolist() == [0, 0, 0, 65535]
    assert bright[cycles, lasers][3] == 255


def test_the_stamp_starts_again_every_hour() -> None:
    sensor = load_sensor("hdl-32e")
    stamps = decode_packets(PacketEncoder(sensor, epoch=3599.99).encode(made_frame(sensor, 0)).payloads).stamp
    assert stamps[0] == 3_599_990_000
    assert stamps[-1] == round((179 * 12 * 46.08e-6 - 0.01) * 1e6)


def test_what_packets_cannot_carry() -> None:
    with pytest.raises(InputError, match="its packets are not known"):
        PacketEncoder(load_sensor("lms-111"))
    with pytest.raises(InputError, match="packets carry only strongest, last, strongest"):
        PacketEncoder(load_sensor("vlp-16").with_(**{"receiver.mode": "first"}))
    with pytest.raises(InputError, match="need a spinning pattern of 16 lasers"):
        PacketEncoder(load_sensor("hdl-32e").with_(packets="vlp-16"))
    with pytest.raises(InputError, match=r"no place for axis_height_m.*give vertical_offset_m"):
        PacketEncoder(load_sensor("hdl-64e-s2").with_(**{"pattern.axis_height_m": [0.01] * 64}))
    with pytest.raises(InputError, match="did you mean 'vlp-16'"):
        PacketEncoder(load_sensor("vlp-16").with_(packets="vlp16"))
    sensor = load_sensor("vlp-16")
    with pytest.raises(InputError, match="must be of the sensor"):
        PacketEncoder(sensor).encode(made_frame(load_sensor("hdl-32e")))
    with pytest.raises(InputError, match="need frames that hold them"):
        PacketEncoder(sensor, mode="last").encode(made_frame(sensor))


def test_decoding_refuses_what_it_does_not_know() -> None:
    with pytest.raises(InputError, match=r"must have the shape \(n, 1206\)"):
        decode_packets(np.zeros((3, 100), np.uint8))
    with pytest.raises(InputError, match="must name their model"):
        decode_packets(np.zeros((3, 1206), np.uint8))
    packets = PacketEncoder(load_sensor("vlp-16")).encode(made_frame(load_sensor("vlp-16"))).payloads
    packets[2, 0] = 7
    with pytest.raises(InputError, match="packet 2: its blocks are not those of a vlp-16"):
        decode_packets(packets)


def test_a_simulated_dual_frame() -> None:
    """From the scan itself: both returns of every pulse, as its own columns say."""
    from tussock.poses import Pose
    from tussock.scene.material import Material
    from tussock.scene.placements import Placements
    from tussock.scene.primitives import box, ground
    from tussock.scene.scene import Scene
    from tussock.simulate import scan

    scene = Scene("wall")
    scene.add(ground((60, 60)), name="ground", label="terrain")
    scene.add(box((0.2, 8.0, 3.0)), name="wall", label="wall", placements=Placements.of(np.array([[8, 0, 1.5]])))
    dark, white = (Material(name=f"{share}", reflectance=share) for share in (0.1, 0.9))
    scene.add(box((0.2, 4.0, 3.0), material=dark), name="dark", position=(-8, 0, 1.5))
    scene.add(box((0.2, 40.0, 20.0), material=white), name="white", position=(-12, 0, 1.5))
    posts = Placements.of(np.array([[5, y, 2.0] for y in np.linspace(-2, 2, 12)]))
    scene.add(box((0.02, 0.02, 4.0)), name="posts", placements=posts)
    sensor = load_sensor("vlp-16").with_(**{"receiver.mode": "strongest+last", "beam.rays": 9})
    frame = scan(scene, sensor, Pose.at(0, 0, 2))
    raw = decode_packets(Packets.joined(_all(sensor, frame, None)).payloads)
    assert raw.mode == "dual"
    grid = raw.distance.reshape(-1, 16, 2)
    # Where the strongest is the last it stands in the place of the last, and the second strongest in its own.
    twice = np.isin(frame.pulse, frame.pulse[frame.return_kind == KINDS.index("second")])
    for kind, beside, slot in (
        ("strongest", False, 0),
        ("strongest", True, 1),
        ("second", True, 0),
        ("last", False, 1),
    ):
        rows = (frame.return_kind == KINDS.index(kind)) & (twice == beside)
        assert rows.any()
        told = grid[frame.pulse[rows] // 16, frame.laser[rows], slot]
        np.testing.assert_array_equal(told, np.rint(frame.range[rows] / 0.002))
    assert (grid[..., 0] != grid[..., 1]).sum() > 20  # edges of the wall and the posts


def _all(sensor, frame, mode) -> list[Packets]:
    encoder = PacketEncoder(sensor, mode=mode, epoch=EPOCH)
    return [encoder.encode(frame), encoder.flush()]
