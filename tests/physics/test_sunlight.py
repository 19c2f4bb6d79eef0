"""The sunlight that a sensor sees, against closed forms, in the frame and in Ouster's packets."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.pulse.sunlight import SKY
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.wire.ouster.decode import decode_scans
from tussock.wire.ouster.encode import NEAR_INFRARED_WHITE, OusterEncoder

GREY = Material(name="grey", reflectance=0.4)


def eye(azimuth: float, elevation: float, **changes: object) -> Sensor:
    """One pulse that way [deg], by a sensor that sees the sun."""
    pattern = {"kind": "grid", "azimuth_deg": [azimuth], "elevation_deg": [elevation], "frame_hz": 10.0}
    return Sensor(name="eye", pattern=pattern).with_(**({"receiver.near_infrared": True} | changes))


def seen(frame: Frame) -> float:
    assert len(frame) == 1
    return float(frame.near_infrared[0])


@pytest.mark.parametrize("elevation", [5.0, 40.0, 90.0])
@pytest.mark.parametrize("azimuth", [-30.0, 100.0])
def test_the_ground_has_the_sine_of_the_suns_elevation(azimuth: float, elevation: float) -> None:
    scene = Scene()
    scene.add(plane((100, 100), material=GREY))
    got = seen(scan(scene, eye(20.0, -30.0), Pose.at(0, 0, 2), sun=(azimuth, elevation)))
    assert got == pytest.approx(0.4 * (np.sin(np.deg2rad(elevation)) + SKY), rel=1e-5)


def test_walls_in_the_sun_away_from_it_and_in_the_shade() -> None:
    """A wall across x: the sun before it at 60° to its normal, behind it, and before it with another wall between."""
    scene = Scene()
    scene.add(box((0.2, 20, 20), material=GREY), name="wall", position=(10.1, 0, 0))
    sky = SKY / 2
    assert seen(scan(scene, eye(0, 0), sun=(120.0, 1e-6))) == pytest.approx(0.4 * (0.5 + sky), rel=1e-4)
    assert seen(scan(scene, eye(0, 0), sun=(30.0, 1e-6))) == pytest.approx(0.4 * sky, rel=1e-4)
    scene.add(box((0.2, 4, 20), material=GREY), name="in the way", position=(5.1, 5 * np.sqrt(3), 0))
    assert seen(scan(scene, eye(0, 0), sun=(120.0, 1e-6))) == pytest.approx(0.4 * sky, rel=1e-4)
    assert seen(scan(scene, eye(0, 0), sun=(-120.0, 1e-6))) == pytest.approx(0.4 * (0.5 + sky), rel=1e-4)


def test_a_leaf_before_the_sun_glows() -> None:
    corners = np.array([[0, -2, -2], [0, 2, -2], [0, 2, 2], [0, -2, 2]], float)
    leaf = Material(name="leaf", reflectance=0.45, leaf_transmission=0.48)
    for faces in ([[0, 1, 2], [0, 2, 3]], [[0, 2, 1], [0, 3, 2]]):  # whichever way its normal points
        scene = Scene()
        scene.add(Mesh.of(corners, faces, (leaf,)), position=(10, 0, 0))
        sky = (0.45 + 0.48) * SKY / 2
        assert seen(scan(scene, eye(0, 0), sun=(0.0, 1e-6))) == pytest.approx(0.48 + sky, rel=1e-4)
        assert seen(scan(scene, eye(0, 0), sun=(180.0, 1e-6))) == pytest.approx(0.45 + sky, rel=1e-4)


def test_the_sky_the_night_and_sensors_that_do_not_look() -> None:
    scene = Scene()
    scene.add(plane((100, 100), material=GREY))
    at = Pose.at(0, 0, 2)
    assert seen(scan(scene, eye(0, 30), at, keep_misses=True)) == pytest.approx(SKY)
    assert seen(scan(scene, eye(0, -30), at, sun=(0.0, -3.0))) == 0.0
    assert np.isnan(seen(scan(scene, eye(0, -30, **{"receiver.near_infrared": False}), at)))
    for wrong in ((0.0, 91.0), (np.nan, 3.0), "noon", (1.0,)):
        with pytest.raises(InputError, match="sun: must"):
            scan(scene, eye(0, -30), at, sun=wrong)  # type: ignore[arg-type]


def test_every_ouster_of_the_catalogue_looks_and_nobody_else() -> None:
    for name in sensor_names():
        assert load_sensor(name).receiver.near_infrared == name.startswith("os"), name


@pytest.mark.parametrize("packets", ["ouster-rng19", "ouster-rng15", "ouster-legacy"])
@pytest.mark.parametrize("mode", ["strongest", "strongest+second"])
def test_packets_carry_it(packets: str, mode: str) -> None:
    if packets == "ouster-legacy" and mode != "strongest":
        pytest.skip("LEGACY packets have one return; run with another profile")
    sensor = load_sensor("os1-32").with_(**{"packets": packets, "beam.rays": 1, "receiver.mode": mode})
    scene = Scene()
    scene.add(plane((300, 300), material=GREY))
    scene.add(box((0.2, 20, 6), material=Material(reflectance=0.9)), position=(8, 0, 3))
    frame = scan(scene, sensor, Pose.at(0, 0, 2), keep_misses=True, sun=(160.0, 35.0))
    encoder = OusterEncoder(sensor)
    (wire,) = decode_scans(encoder.encode(frame)["data"].payloads, encoder.unit)
    counts = np.zeros(frame.pulses)
    counts[frame.pulse] = np.rint(frame.near_infrared.astype(float) * NEAR_INFRARED_WHITE)
    got = wire.fields["NEAR_IR"].T.reshape(-1).astype(float)
    step = 16 if packets == "ouster-rng15" else 1
    assert np.abs(got - counts).max() < step + 1
    assert len(np.unique(got)) >= 3  # ground, wall and sky
    bright = frame.near_infrared.max()
    assert bright == pytest.approx(0.9 * (np.cos(np.deg2rad(20)) * np.cos(np.deg2rad(35)) + SKY / 2), rel=1e-4)
