"""Short recordings of every family of sensors and every kind of log, and scenes in the formats of others, to be damaged."""

from __future__ import annotations

import struct
from importlib.metadata import distributions
from pathlib import Path

from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.scene.scene import Scene
from tussock.scene_files.scene_save import save_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.wire.recording import open_recording

__all__ = ["OSF_IS_READ", "RECORDINGS", "SCENES", "furnish_recordings", "furnish_scenes"]

# By its name in full: a folder of tests that is called "ouster" would be taken for the package.
OSF_IS_READ = any(one.name.replace("_", "-") == "ouster-sdk" for one in distributions())
"""whether Ouster's SDK is here, which alone reads and writes that format"""
RECORDINGS: dict[str, str] = {
    "ouster.pcap": "os1-32", **({"ouster.osf": "os1-32"} if OSF_IS_READ else {}), "hesai.pcap": "xt32", "livox.pcap": "livox-mid-360",
    "livox.mcap": "livox-mid-360", "run.rosbag2": "vlp-16", "run.bag": "vlp-16",
}  # fmt: skip
"""the sensor of each"""
SCENES = ("exchanged.usda", "exchanged.usdc", "exchanged.glb")
MOST_PACKETS = 40
PARTS = 8
"""a frame is thinned by this, so that a log of points is short"""


def furnish_recordings(scene: Scene, folder: Path) -> None:
    for name, sensor_name in RECORDINGS.items():
        sensor = load_sensor(sensor_name)
        with open_recording(folder / name, sensor) as run:
            run.write(_thin(scan(scene, sensor, Pose.at(0, 0, 1.5))))
        if name.endswith(".pcap"):
            (folder / name).write_bytes(shortened((folder / name).read_bytes(), MOST_PACKETS))
    capture = shortened((folder / "run.pcap").read_bytes(), MOST_PACKETS)
    (folder / "run.pcapng").write_bytes(as_pcapng(capture))


def furnish_scenes(scene: Scene, folder: Path) -> None:
    for name in SCENES:
        save_scene(scene, folder / name)


def _thin(frame: Frame) -> Frame:
    return frame.select(frame.pulse % PARTS == 0)


def records_of(capture: bytes) -> list[tuple[int, int, bytes]]:
    """Seconds, microseconds and bytes of each record of a pcap file."""
    found, at = [], 24
    while at + 16 <= len(capture):
        seconds, part, length = struct.unpack_from("<III", capture, at)
        found.append((seconds, part, capture[at + 16 : at + 16 + length]))
        at += 16 + length
    return found


def shortened(capture: bytes, most: int) -> bytes:
    """The first records of a pcap file."""
    at = 24
    for _, _, data in records_of(capture)[:most]:
        at += 16 + len(data)
    return capture[:at]


def as_pcapng(capture: bytes) -> bytes:
    """The same records in the newer format: a section, one interface (link type Ethernet), enhanced packet blocks."""

    def block(kind: int, body: bytes) -> bytes:
        body += b"\0" * (-len(body) % 4)
        size = struct.pack("<I", 12 + len(body))
        return struct.pack("<I", kind) + size + body + size

    blocks = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), block(1, struct.pack("<HHI", 1, 0, 65535))]
    for seconds, part, data in records_of(capture):
        ticks = seconds * 1_000_000 + part
        head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        blocks.append(block(6, head + data))
    return b"".join(blocks)
