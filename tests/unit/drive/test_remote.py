"""Another program in the loop: shared memory in lock step, packets and NMEA over UDP, a client in C."""

import socket
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from small_drives import VEHICLE, eye, stage

from tussock.drive.loop import drive_to
from tussock.drive.remote import STATE, AlsoSent, RemoteDriver
from tussock.drive.sensing.nmea import gga, rmc
from tussock.drive.settings import DriveSettings
from tussock.errors import InputError
from tussock.wire.addresses import Endpoint
from tussock.wire.shared.shared_memory import SharedSegment, SimulatorGone
from tussock.wire.velodyne.position import GeoOrigin

START, GOAL = (-16.0, -8.0, 0.0), (-11.0, -6.0)


def listener():
    box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    box.bind(("127.0.0.1", 0))
    box.settimeout(5)
    return box, Endpoint.parse(f"127.0.0.1:{box.getsockname()[1]}")


def pilot(name, times):
    """A consumer in a thread: steers to the goal by GPS and compass."""
    with SharedSegment.attach(name, wait=120, control=True) as shared:
        while True:
            try:
                step = shared.await_step(timeout=600)
            except SimulatorGone:
                return
            state = dict(zip(STATE, shared.latest("state").array, strict=True))
            times.append(state["time"])
            bearing = np.arctan2(state["goal_y"] - state["gps_y"], state["goal_x"] - state["gps_x"]) - state["yaw"]
            shared.publish("command", [1.5, (bearing + np.pi) % (2 * np.pi) - np.pi])
            shared.answer(step)


def remote(name, **options):
    settings = DriveSettings(time_limit_s=30.0)
    return RemoteDriver(name, eye(), settings.sensors.gps, START, timeout=300.0, **options), settings


def test_a_program_in_lock_step_drives_to_the_goal_the_same_way_every_time():
    ways = []
    for k in range(2):
        name, times = f"tussock-test-drive-{k}-{id(ways)}", []
        driver, settings = remote(name)
        thread = threading.Thread(target=pilot, args=(name, times))
        thread.start()
        with driver:
            result = drive_to(stage(), eye(), GOAL, start=START, settings=settings, driver=driver)
        thread.join(10)
        assert result.metrics.success
        assert len(times) == result.metrics.frames
        ways.append(result.truth)
    np.testing.assert_array_equal(ways[0], ways[1])


def test_packets_and_sentences_go_out_over_udp():
    packets, to_packets = listener()
    sentences, to_sentences = listener()
    name = f"tussock-test-udp-{id(packets)}"
    sensor = eye().with_(**{"pattern.cycle_us": 55.296})
    settings = DriveSettings(time_limit_s=0.4)
    driver = RemoteDriver(
        name, sensor, settings.sensors.gps, START, lockstep=False, sent=AlsoSent(to_packets, to_sentences)
    )
    with driver:
        result = drive_to(stage(), sensor, GOAL, start=START, settings=settings, driver=driver)
    assert result.metrics.length_m == 0.0, "without a command it stands"
    assert len(packets.recv(2000)) == 1206
    # A datagram each, place and height first: what reads GGA alone, as ROS's driver does for places, has its fix.
    first, second = sentences.recv(2000).decode(), sentences.recv(2000).decode()
    assert (first[:7], second[:7]) == ("$GPGGA,", "$GPRMC,")
    assert first.split(",")[6] == "4", "the usual GPS is RTK fixed"
    packets.close()
    sentences.close()


def fields(sentence):
    """The fields of a sentence whose checksum is right."""
    text = sentence.decode()
    assert text.endswith("\r\n")
    body, checksum = text.strip()[1:].split("*")
    assert int(checksum, 16) == np.bitwise_xor.reduce(np.frombuffer(body.encode(), np.uint8))
    return body.split(",")


def degrees(angle, digits, letter):
    return (int(angle[:digits]) + float(angle[digits:]) / 60) * (-1 if letter in "SW" else 1)


def test_a_sentence_says_where_and_how_fast():
    parts = fields(rmc(1.25, np.array([100.0, 200.0, 0.0]), np.array([3.0, 0.0]), GeoOrigin(48.0, 11.0)))
    assert parts[:3] == ["GPRMC", "000001.25", "A"]
    assert degrees(parts[3], 2, parts[4]) == pytest.approx(48.0 + 200 / 111_200, abs=2e-5)
    assert float(parts[7]) == pytest.approx(3.0 * 3600 / 1852, abs=0.01)
    assert float(parts[8]) == pytest.approx(90.0)


@pytest.mark.parametrize("origin", [GeoOrigin(48.0, 11.0), GeoOrigin(-33.5, -70.25), GeoOrigin(0.0, 179.9999)])
def test_a_place_and_its_height_are_those_that_a_reader_finds(origin):
    place = np.array([120.5, -80.25, 431.207])
    parts = fields(gga(3661.5, place, 2, origin))
    assert parts[:2] == ["GPGGA", "010101.50"]
    latitude, longitude = origin.geographic(*place[:2])
    assert degrees(parts[2], 2, parts[3]) == pytest.approx(latitude, abs=1e-8)
    assert degrees(parts[4], 3, parts[5]) == pytest.approx(longitude, abs=1e-8)
    assert parts[6] == "2"
    assert float(parts[9]) + float(parts[11]) == pytest.approx(431.207, abs=5e-4)


def test_a_scene_of_a_national_grid_has_a_place_on_earth():
    far = GeoOrigin.near(500_000.0, 4_500_000.0)
    assert far.geographic(500_000.0, 4_500_000.0) == (48.0, 11.0)
    assert far.geographic(500_000.0, 4_500_111.2)[0] == pytest.approx(48.001, abs=1e-5)
    assert GeoOrigin.near(3.0, 4.0) == GeoOrigin()
    named = GeoOrigin.parse("40.6,15,500000,4500000")
    assert named.geographic(500_000.0, 4_500_000.0) == (40.6, 15.0)
    for wrong in ("40.6", "40.6,15,1", "a,b", "40.6,15,1,nan"):
        with pytest.raises(InputError, match="origin: must"):
            GeoOrigin.parse(wrong)


def test_nobody_answers():
    driver, settings = remote(f"tussock-test-alone-{id(START)}")
    driver._timeout = 0.2
    with driver, pytest.raises(InputError, match="nobody answered within"):
        drive_to(stage(), eye(), GOAL, start=START, settings=settings, driver=driver)


def test_a_client_in_c_drives_to_the_goal(tmp_path):
    source = Path(__file__).parents[3] / "examples" / "65_drive_client.c"
    program = tmp_path / "client"
    try:
        subprocess.run(["gcc", "-O2", "-std=c11", "-o", program, source, "-lm"], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no C compiler to build the client in C with: apt-get install gcc")
    name = f"tussock-test-c-{id(tmp_path)}"
    driver, settings = remote(name)
    client = subprocess.Popen([program, name], stdout=subprocess.PIPE, text=True)
    with driver:
        result = drive_to(stage(), eye(), GOAL, start=START, settings=settings, driver=driver)
    out, _ = client.communicate(timeout=30)
    assert result.metrics.success
    assert client.returncode == 0
    assert "the drive is over" in out
    assert VEHICLE.name == "skid-steer"
