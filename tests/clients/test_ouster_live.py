"""ouster-sdk finds a live simulated sensor by its address, asks it over HTTP what it is, and takes its frames."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip(
    "ouster.sdk.core", reason="needs ouster-sdk: pip install --no-deps ouster-sdk more-itertools", exc_type=ImportError
)

SENSOR = "127.0.0.91"
SCENE = '[[objects]]\nname = "wall"\nbox = { size_m = [0.2, 30.0, 30.0] }\nposition_m = [4.0, 0.0, 0.0]\n'
CLIENT = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
from ouster.sdk import core, sensor
source = sensor.SensorPacketSource(sys.argv[1], config_timeout=10)
info = source.sensor_info[0]
project = core.XYZLut(info, use_extrinsics=False)
frame, batcher, felt, told = core.LidarFrame(info), core.FrameBatcher(info), 0, []
for _, packet in source:
    if isinstance(packet, core.ImuPacket):
        felt += 1
        continue
    batcher.batch(packet, frame)
    if frame.complete():
        points = project(frame.field("RANGE"))[frame.field("RANGE") > 0]
        ahead = points[(points[:, 0] > 0) & (abs(points[:, 1]) < 1) & (abs(points[:, 2]) < 0.5)]
        told.append([frame.frame_id, len(points), float(ahead[:, 0].mean())])
        frame = core.LidarFrame(info)
    if len(told) >= 4:
        break
print(json.dumps([info.prod_line, felt, told]), flush=True)
os._exit(0)  # the SDK's threads do not always end
"""


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def may_listen() -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((SENSOR, 80))
        except OSError:
            return False
    return True


def wait_for_answer() -> None:
    for _ in range(300):
        with socket.socket() as probe:
            if probe.connect_ex((SENSOR, 80)) == 0:
                return
        time.sleep(0.2)
    pytest.fail("the sensor did not answer over HTTP within a minute")


def test_the_sdk_takes_a_simulated_sensor_for_a_real_one(tmp_path: Path) -> None:
    if not may_listen():
        pytest.skip(f"needs the right to listen at {SENSOR}:80, where drivers ask; run as root")
    scene = tmp_path / "wall.toml"
    scene.write_text(SCENE)
    data, imu = free_port(), free_port()
    command = [
        sys.executable, "-c", "from tussock.cli.app import main; main()", "stream", str(scene), "--sensor", "os1-32-rev7",
        "--to", f"127.0.0.1:{data}", "--imu-to", f"127.0.0.1:{imu}", "--http", f"{SENSOR}:80", "--seconds", "90",
        "--rays", "1",  # drivers want it in real time, on any machine
    ]  # fmt: skip
    streaming = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for_answer()
        for _ in range(15):  # packets come after the first answer, when the scene is built and the code compiled
            client = subprocess.run(
                [sys.executable, "-c", CLIENT, SENSOR], capture_output=True, text=True, timeout=60, check=False
            )
            if client.returncode == 0:
                break
        assert client.returncode == 0, client.stderr
    finally:
        streaming.kill()
        streaming.communicate()
    product, felt, told = json.loads(client.stdout.strip().splitlines()[-1])
    assert product == "OS-1-32" and felt > 10
    for _, points, ahead in told:
        assert points > 1000
        assert ahead == pytest.approx(3.9, abs=0.02)
