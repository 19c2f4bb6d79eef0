"""A driver written from Livox's protocol finds a live Mid-360, sets it up, and takes its points and readings."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from livox_by_hand import decode
from livox_driver_by_hand import Driver, key_values, opened

DEVICE, HOST = "127.0.0.61", "127.0.0.1"
SCENE = '[[objects]]\nname = "wall"\nbox = { size_m = [0.2, 60.0, 60.0] }\nposition_m = [4.1, 0.0, 0.0]\n'


def may_listen() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((DEVICE, 56100))
        except OSError:
            return False
    return True


def found(driver: Driver) -> None:
    driver.sockets["discovery"].settimeout(0.3)
    for _ in range(300):
        try:
            driver.search()
        except (TimeoutError, ConnectionRefusedError):
            time.sleep(0.2)
        else:
            driver.sockets["discovery"].settimeout(90)
            return
    pytest.fail("the sensor did not answer within a minute")


def test_a_driver_takes_a_simulated_mid_360_for_a_real_one(tmp_path: Path) -> None:
    if not may_listen():
        pytest.skip(f"nobody may listen at {DEVICE}:56100 here: run it on Linux, where 127.0.0.0/8 is local")
    scene = tmp_path / "wall.toml"
    scene.write_text(SCENE)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind((HOST, 0))
        first = f"{HOST}:{nobody.getsockname()[1]}"
        command = [
            *(sys.executable, "-c", "from tussock.cli.app import main; main()", "stream", str(scene)),
            *("--sensor", "livox-mid-360", "--to", first, "--imu-to", f"{HOST}:1", "--livox", DEVICE),
            *("--seconds", "120"),
        ]
        run = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL)
        try:
            with Driver(HOST, DEVICE) as driver:
                found(driver)
                driver.start()
                packets = driver.take("points", 300)
                readings = driver.take("imu", 20)
                (state,) = driver.take("push", 1)
                # Stopped, nothing comes; started, it comes again.
                assert driver.configure({0x001A: b"\2"}) == (0, 0)
                assert driver.inquire(0x8006) == (0, {0x8006: b"\2"})
                time.sleep(0.3)
                driver.sockets["points"].setblocking(False)
                with pytest.raises(BlockingIOError):
                    while True:
                        driver.sockets["points"].recv(4096)
                time.sleep(0.3)
                with pytest.raises(BlockingIOError):
                    driver.sockets["points"].recv(4096)
                assert driver.configure({0x001A: b"\1"}) == (0, 0)
                driver.sockets["points"].settimeout(90)
                assert len(driver.take("points", 20)) == 20
        finally:
            run.terminate()
            run.wait(timeout=60)
    points = np.concatenate([decode(packet).xyz for packet in packets])
    hit = points[np.abs(points).sum(axis=1) > 0]
    ahead = hit[np.abs(hit[:, 1:]).max(axis=1) < 2]
    assert len(hit) > 1000 and len(ahead) > 100 and np.abs(ahead[:, 0] - 4.0).max() < 0.15
    assert np.median(ahead[:, 0]) == pytest.approx(4.0, abs=0.01)
    force = np.concatenate([decode(reading).imu for reading in readings])[:, 3:]
    assert np.linalg.norm(force.mean(axis=0)) == pytest.approx(1.0, abs=0.02)
    _, number, kind, sender, data = opened(state)
    assert (number, kind, sender) == (0x0102, 0, 1)
    told = key_values(data[4:])
    assert len(told) == struct.unpack_from("<H", data)[0] == 30
    assert told[0x8006] == b"\1" and told[0x8000].startswith(b"TUSSOCK") and len(told[0x8011]) == 32
