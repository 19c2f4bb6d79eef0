from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory

ANGLE = st.floats(-3, 3)
PLACE = st.floats(-1e4, 1e4)
POSES = st.builds(
    lambda x, y, z, roll, pitch, yaw: Pose.at(x, y, z, roll=roll, pitch=pitch, yaw=yaw),
    PLACE, PLACE, PLACE, ANGLE, ANGLE, ANGLE,
)  # fmt: skip
POINTS = np.random.default_rng(0).uniform(-10, 10, (20, 3))


def test_roll_pitch_and_yaw_turn_about_x_then_y_then_z() -> None:
    assert np.allclose(Pose.at(yaw=np.pi / 2).apply([[1, 0, 0]]), [[0, 1, 0]])
    assert np.allclose(Pose.at(pitch=np.pi / 2).apply([[1, 0, 0]]), [[0, 0, -1]]), "nose down"
    assert np.allclose(Pose.at(roll=np.pi / 2).apply([[0, 1, 0]]), [[0, 0, 1]]), "left side up"
    both = Pose.at(1, 2, 3, roll=0.3, pitch=-0.4, yaw=1.1)
    by_hand = Pose.at(yaw=1.1).rotation @ Pose.at(pitch=-0.4).rotation @ Pose.at(roll=0.3).rotation
    assert np.allclose(both.rotation, by_hand)
    assert np.allclose(both.apply([[0, 0, 0]]), [[1, 2, 3]])


@settings(max_examples=50, deadline=None)
@given(POSES, POSES)
def test_composition_and_inverse(a: Pose, b: Pose) -> None:
    assert np.allclose((a @ b).apply(POINTS), a.apply(b.apply(POINTS)), atol=1e-8)
    assert np.allclose(a.inverse().apply(a.apply(POINTS)), POINTS, atol=1e-8)
    assert np.allclose((a @ a.inverse()).matrix, np.eye(4), atol=1e-8)
    assert np.allclose(Pose.from_matrix(a.matrix).matrix, a.matrix, atol=1e-9)
    assert np.allclose(Pose.from_matrix(a.matrix[:3]).matrix, a.matrix, atol=1e-9)


def test_quaternions_are_made_unit_and_unit_ones_keep_their_bits() -> None:
    assert np.allclose(Pose(quaternion=np.array([0, 0, 0, 5.0])).quaternion, [0, 0, 0, 1])
    once = Pose.at(roll=0.1, pitch=0.2, yaw=0.3).quaternion
    assert np.array_equal(Pose(quaternion=once).quaternion, once)


def test_poses_as_text() -> None:
    pose = Pose.parse("1, 2,3.5")
    assert np.array_equal(pose.position, [1, 2, 3.5])
    assert np.array_equal(pose.quaternion, [0, 0, 0, 1])
    turned = Pose.parse("0,0,2,10,-20,90")
    expected = Pose.at(0, 0, 2, roll=np.deg2rad(10), pitch=np.deg2rad(-20), yaw=np.deg2rad(90))
    assert np.allclose(turned.matrix, expected.matrix)


@pytest.mark.parametrize("text", ["", "1,2", "1,2,3,4", "a,b,c", "1,2,nan", "1,2,3,4,5,6,7", "1,2,inf"])
def test_bad_text(text: str) -> None:
    with pytest.raises(InputError, match=r"^pose: must be x,y,z or x,y,z,roll,pitch,yaw \(m, deg\), got "):
        Pose.parse(text)


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: Pose(np.array([1.0, 2.0])), r"pose position: must have the shape \(3,\), got \(2,\)"),
        (lambda: Pose(np.array([1.0, np.nan, 0])), "pose position: must be finite"),
        (lambda: Pose(["a", "b", "c"]), "pose position: must be numbers, got"),
        (lambda: Pose(quaternion=np.zeros(4)), "pose quaternion: must not be zero"),
        (lambda: Pose(quaternion=np.full(4, np.inf)), "pose quaternion: must be finite"),
        (lambda: Pose.from_matrix(np.eye(3)), "pose matrix: must be 3×4 or 4×4"),
        (lambda: Pose.from_matrix(np.diag([2, 2, 2, 1])), "pose matrix: must turn and shift"),
        (lambda: Pose.from_matrix(np.diag([1, 1, -1, 1])), "pose matrix: must turn and shift"),
        (lambda: Trajectory([], np.zeros((0, 3)), np.zeros((0, 4))), "trajectory: needs at least one pose"),
        (lambda: path([0.0, 1.0, 1.0]), r"trajectory times: must increase, got '1 s then 1 s'; sort"),
        (lambda: path([0.0, 2.0, 1.0]), r"trajectory times: must increase, got '2 s then 1 s'; sort"),
        (lambda: path([0.0, np.nan]), "trajectory times: must be finite"),
        (lambda: path([[0.0], [1.0]]), r"trajectory times: must have the shape \(n,\)"),
        (lambda: Trajectory([0, 1], np.zeros((3, 3)), np.ones((2, 4))), r"positions: must have the shape \(2, 3\)"),
        (lambda: Trajectory([0], [[0, np.inf, 0]], [[0, 0, 0, 1]]), "trajectory positions: must be finite"),
        (lambda: Trajectory([0], [[0, 0, 0]], [[0, 0, 0, 0]]), "trajectory quaternions: must not be zero"),
    ],
)  # fmt: skip
def test_what_is_no_pose_is_refused(make: object, rule: str) -> None:
    with pytest.raises(InputError, match=rule) as caught:
        make()
    assert "\n" not in str(caught.value)


def path(times: object) -> Trajectory:
    n = len(times)
    return Trajectory(times, np.zeros((n, 3)), np.tile([0.0, 0, 0, 1], (n, 1)))


def test_between_two_poses_the_position_is_straight_and_the_turn_is_even() -> None:
    way = Trajectory.through([1.0, 3.0], [Pose.at(0, 0, 0, yaw=-0.5), Pose.at(4, -2, 1, yaw=2.5)])
    times = np.linspace(1, 3, 21)
    positions, quaternions = way.at(times)
    share = (times - 1) / 2
    assert np.allclose(positions, share[:, None] * [4, -2, 1])
    yaws = Rotation.from_quat(quaternions).as_euler("xyz")[:, 2]
    assert np.allclose(yaws, -0.5 + 3 * share)
    pose = way.pose(2.0)
    assert np.allclose(pose.position, [2, -1, 0.5])
    assert np.allclose(way.matrices([2.0])[0], pose.matrix[:3])


def test_the_turn_takes_the_shorter_way_whatever_the_sign_of_the_quaternion() -> None:
    start, end = Pose.at(yaw=3.0), Pose.at(yaw=-3.0)
    for sign in (1, -1):
        way = Trajectory([0, 1], np.zeros((2, 3)), [start.quaternion, sign * end.quaternion])
        assert np.allclose(abs(way.pose(0.5).apply([[1, 0, 0]]) - [[-1, 0, 0]]), 0, atol=1e-12)


def test_outside_its_times_the_body_stands() -> None:
    way = Trajectory.through([1.0, 2.0], [Pose.at(1), Pose.at(2, yaw=1)])
    positions, quaternions = way.at([-5, 1, 2, 99])
    assert np.allclose(positions[:, 0], [1, 1, 2, 2])
    assert np.allclose(quaternions[0], quaternions[1])
    assert np.allclose(quaternions[2], quaternions[3])
    still = Trajectory.standing(Pose.at(3, yaw=1))
    assert not still.moving
    assert np.allclose(still.at([0, 7])[0], [[3, 0, 0], [3, 0, 0]])


def test_a_mount_turns_with_the_body() -> None:
    mount = Pose.at(1, 0.5, 2, pitch=0.2)
    body = Trajectory.through([0.0, 1.0, 2.0], [Pose.at(0, yaw=0), Pose.at(5, yaw=1), Pose.at(5, 5, yaw=2)])
    sensor = body.mounted(mount)
    for time in (0.0, 1.0, 2.0):
        assert np.allclose(sensor.pose(time).matrix, (body.pose(time) @ mount).matrix)


def test_tum_files_round_trip(tmp_path: Path) -> None:
    way = Trajectory.through([0.0, 0.1, 2.5], [Pose.at(1, 2, 3), Pose.at(500000.25, 5e6, 3, yaw=1), Pose.at(roll=1)])
    file = tmp_path / "way.tum"
    way.save_tum(file)
    back = Trajectory.load(file)
    assert np.array_equal(back.times, way.times)
    assert np.array_equal(back.positions, way.positions)
    assert np.array_equal(back.quaternions, way.quaternions)
    assert file.read_text().splitlines()[:2] == ["# t x y z qx qy qz qw", "0.0 1.0 2.0 3.0 0.0 0.0 0.0 1.0"]


def test_a_path_that_moves_must_reach_over_what_is_asked_of_it() -> None:
    way = Trajectory.through([1.0, 2.0], [Pose.at(0), Pose.at(1)])
    way.check_covers("the frame", 1.0, 2.0)
    way.check_covers("the frame", 0.9, 2.1, slack=0.1)
    for start, end in ((0.99, 1.5), (1.5, 2.01)):
        with pytest.raises(InputError, match=rf"trajectory: must cover the frame from {start} s to {end} s, got '1 s"):
            way.check_covers("the frame", start, end)
    Trajectory.standing(Pose()).check_covers("the frame", -5.0, 5.0)


def test_csv_files(tmp_path: Path) -> None:
    file = tmp_path / "way.csv"
    file.write_text(
        "\ufeff# made by hand\ntime_s, x, y, z, yaw_deg\n0, 1, 2, 3, 90\n\n1e0, 2, 2, 3, 180\n", encoding="utf-8"
    )
    way = Trajectory.load(file)
    assert np.array_equal(way.times, [0, 1])
    assert np.allclose(way.pose(0.0).matrix, Pose.at(1, 2, 3, yaw=np.pi / 2).matrix)
    file.write_text("qw,qx,qy,qz,z,y,x,t\n1,0,0,0,3,2,1,0\n")
    assert np.allclose(Trajectory.load(str(file)).pose(0.0).matrix, Pose.at(1, 2, 3).matrix)
    file.write_text("0,1,2,3,0,0,0,1\n1,1,2,3,0,0,0,1\n")
    assert np.array_equal(Trajectory.load(file).times, [0, 1]), "TUM with commas"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "holds no poses"),
        ("# only a comment\n", "holds no poses"),
        ("time_s,x,y,z\n", "holds no poses"),
        ("0 0 0 0 0 0 1\n", "pose 1: must be 8 numbers"),
        ("0 0 0 0 0 0 0 1\n1 0 0 0 0 0 1\n", "pose 2: must be 8 numbers"),
        ("1 0 0 0 0 0 0 1\n0 0 0 0 0 0 0 1\n", "trajectory times: must increase"),
        ("0 NaN 0 0 0 0 0 1\n", "trajectory positions: must be finite"),
        ("0 0 0 0 0 0 0 0\n", "trajectory quaternions: must not be zero"),
        ("time_s,x,y\n0,1,2\n", "column 'z': is missing"),
        ("time_s,x,y,z,qx\n0,1,2,3,0\n", "column 'qy': is missing"),
        ("time_s,x,y,z,yaw\n0,1,2,3,1\n", "column 'yaw': unknown column; did you mean 'yaw_deg'"),
        ("time_s,x,y,z\n0,1,,3\n", "pose 1: must be 4 numbers"),
        ("time_s,x,y,z\n0,1,2,3\n1,2,3\n", "pose 2: must be 4 numbers"),
        ("time_s,x,y,z\n0,1,two,3\n", "pose 1: must be 4 numbers"),
    ],
)
def test_bad_files_say_where(text: str, rule: str, tmp_path: Path) -> None:
    file = tmp_path / "way.txt"
    file.write_text(text)
    with pytest.raises(InputError, match=rule) as caught:
        Trajectory.load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\x00\xfe")
    for name, rule in (("none", "no such file"), ("binary", "is not text"), (".", "is a folder")):
        with pytest.raises(InputError, match=rule):
            Trajectory.load(tmp_path / name)


@given(st.integers(0, 2**31), st.integers(2, 60), st.integers(1, 9))
def test_a_cut_of_a_long_path_is_the_path(seed: int, poses: int, asked: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.01, 2.0, poses))
    path = Trajectory(times, rng.normal(size=(poses, 3)), Rotation.random(poses, random_state=seed).as_quat())
    when = np.concatenate([rng.uniform(times[0] - 1, times[-1] + 1, asked), rng.choice(times, asked)])
    together = path.at(when)
    everything = path.at(np.concatenate([when, times[[0, -1]]]))
    for k in range(2):
        np.testing.assert_array_equal(together[k], everything[k][: 2 * asked])
        for i, one in enumerate(when):
            np.testing.assert_array_equal(path.at([one])[k][0], together[k][i])


def test_level_paths_are_those_of_yaw_alone() -> None:
    yaw = np.linspace(-9.0, 9.0, 37)
    path = Trajectory.level(np.arange(37.0), np.zeros((37, 3)), yaw)
    want = np.array([Pose.at(yaw=float(angle)).quaternion for angle in yaw])
    assert np.abs(np.abs((path.quaternions * want).sum(1)) - 1.0).max() < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_a_standing_path_has_the_bits_of_one_that_was_checked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose = Pose(rng.normal(size=3), rng.normal(size=4))
    stands, checked = Trajectory.standing(pose), Trajectory(np.zeros(1), pose.position[None], pose.quaternion[None])
    for name in ("times", "positions", "quaternions"):
        ours, theirs = getattr(stands, name), getattr(checked, name)
        assert ours.tobytes() == theirs.tobytes() and ours.shape == theirs.shape and not ours.flags.writeable
    assert (
        Trajectory.standing(pose) is stands and Trajectory.standing(Pose(pose.position, pose.quaternion)) is not stands
    )
