"""Inputs that once ended in a traceback, a hang or a wrong file: each is one line now, or works."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tussock.cli.app import main
from tussock.errors import InputError, OutputError
from tussock.page_server import is_own_page, open_page_server
from tussock.poses import Pose, Trajectory
from tussock.rigs.rig import load_rig
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import frames_between
from tussock.steps import MOST_STEPS, steps_between
from tussock.wire.recording import pose_times

BOX = '[[objects]]\nname = "a"\nbox = {size_m = [1, 1, 1]}\n'


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(monkeypatch, capsys, *words: str) -> str:
    """What a command says that ends with status 2 and one line, within a minute."""
    monkeypatch.setattr(sys, "argv", ["tussock", *words])

    def too_long(*_: object) -> None:
        raise AssertionError("hangs")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(60)
    try:
        with pytest.raises(SystemExit) as stop:
            main()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    said = "".join(line for line in capsys.readouterr().err.splitlines(True) if not line.startswith("note: "))
    assert stop.value.code == 2
    assert re.fullmatch(r"error: [^\n]+\n", said), said
    return said


SCENES = {
    "digits": ("seed = " + "9" * 4301, "not valid TOML"),
    "nested": ("a = " + "[" * 500 + "]" * 500, "nested too deeply"),
    "tree": ('[[objects]]\ngrow = {kind = "tree", height_m = 1e308}\n', "tree height: must be at most 1e"),
    "conifer": ('[[objects]]\ngrow = {kind = "conifer", height_m = 1e30}\n', "conifer height: must be at most 1e"),
    "shrub": ('[[objects]]\ngrow = {kind = "shrub", height_m = 1e-300}\n', "shrub height: must be at least 1e-09"),
    "box": ("[[objects]]\nbox = {size_m = [1e30, 1, 1]}\n", "box size x: must be at most 1e"),
    "relief": (
        "[[objects]]\nterrain = {size_m = [9, 9], cells = [2, 2], noise = {height_m = 1, wavelength_m = 1e-300}}\n",
        "wavelength: must be at least 1e-09",
    ),
    "NUL in a name": ('[[objects]]\nmesh = "a\\u0000b.obj"\n', "must not hold the character NUL"),
    "NUL in a motion": (BOX + 'motion = {file = "a\\u0000b"}\n', "must not hold the character NUL"),
}


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name, monkeypatch, capsys):
    text, rule = SCENES[name]
    Path("s.toml").write_text(text)
    assert rule in refused(monkeypatch, capsys, "scan", "s.toml", "--sensor", "vlp-16", "--out", "o.npz")


@pytest.mark.parametrize("quaternion", ["0 0 0 0", "0 0 0 1e308", "0 0 0 1e-320", "1e200 1e200 1e200 1e200"])
def test_quaternions_that_are_no_rotations(quaternion, monkeypatch, capsys):
    Path("q.tum").write_text(f"0 0 0 0 {quaternion}\n1 0 0 0 0 0 0 1\n")
    Path("s.toml").write_text(BOX + 'motion = {file = "q.tum"}\n')
    said = refused(monkeypatch, capsys, "scan", "s.toml", "--sensor", "vlp-16", "--out", "o.npz")
    assert re.search("quaternions: must (not be zero|be of length 1)", said)
    with pytest.raises(InputError, match="pose quaternion"):
        Pose(quaternion=np.array([float(part) for part in quaternion.split()]))


@pytest.mark.parametrize(
    "suffix", [".pcap", ".mcap", ".bag", ".npz", ".bin", ".pcd", ".ply", ".las", ".e57", ".parquet", ".csv"]
)
@pytest.mark.parametrize("text", ["", "hello\n"])
def test_view_of_what_is_none(suffix, text, monkeypatch, capsys):
    Path(f"g{suffix}").write_text(text)
    assert f"g{suffix}" in refused(monkeypatch, capsys, "view", f"g{suffix}", "--no-browser")


@pytest.mark.parametrize(
    ("text", "rule"),
    [("x,y,z,x\n1,2,3,4\n", "must name the columns"), ("x,y,z,ring\n1,2,3,top\n", "ring: must hold whole numbers")],
)
@pytest.mark.parametrize("command", [["noise", "c.csv", "--box=0,0,0,9,9,9"], ["learn", "c.csv", "--out", "o.volumes"]])
def test_tables(text, rule, command, monkeypatch, capsys):
    Path("c.csv").write_text(text)
    assert rule in refused(monkeypatch, capsys, *command)


def test_a_header_of_numpy_that_is_cut(monkeypatch, capsys):
    np.save("h.npy", np.zeros((5, 5)))
    Path("h.npy").write_bytes(Path("h.npy").read_bytes().replace(b"(5, 5), }", b"(3, 3    "))
    Path("s.toml").write_text('[[objects]]\nground = {size_m = [4, 4], heights = "h.npy"}\n')
    assert "h.npy" in refused(monkeypatch, capsys, "scan", "s.toml", "--sensor", "vlp-16", "--out", "o.npz")


@pytest.mark.parametrize(
    "words",
    [
        ["scan", "a\0b.toml", "--sensor", "vlp-16", "--out", "o.npz"], ["view", "a\0.pcap"], ["unpack", "\0.tussock", "--out", "o"],
        ["check", "jobs\0"], ["run", "p.toml", "--out", "o\0"], ["scan", "s.toml", "--sensor", "vlp-16", "--out", "o\0.npz"],
        ["stream", "s.toml", "--sensor", "vlp-16", "--share", "a\0b"], ["replay", "\0.pcap", "--to", "127.0.0.1:9"],
        ["view", "f.npz", "--host", "\0"],
    ],
)  # fmt: skip
def test_nul_in_a_path(words, monkeypatch, capsys):
    Path("s.toml").write_text(BOX)
    Path("p.toml").write_text(
        'name = "p"\nframes = 1\n[worlds]\nscenes = ["s.toml"]\n[[sensors]]\nsensor = "vlp-16"\n[[paths]]\nkind = "stand"\n'
    )
    assert "\0" not in refused(monkeypatch, capsys, *words)


@pytest.mark.parametrize("end", ["1e300", "1e12", "1e8", "inf", "nan"])
@pytest.mark.parametrize("out", ["o.npz", "o.pcap", "o.mcap"])
def test_ranges_without_end(end, out, monkeypatch, capsys):
    Path("s.toml").write_text(BOX)
    said = refused(monkeypatch, capsys, "scan", "s.toml", "--sensor", "vlp-16", "--to", end, "--out", out)
    assert said.startswith("error: time range: must ")


def test_steps_of_a_range():
    assert steps_between(0.0, 3.0, "frames") == range(3)
    assert steps_between(0.1 + 0.2, 0.9, "frames") == range(1, 1)
    assert steps_between(3 * 0.1 / 0.1, 5.0, "frames") == range(3, 5)  # 3.0000000000000004
    assert len(steps_between(0.0, MOST_STEPS, "frames")) == MOST_STEPS
    with pytest.raises(InputError, match="must hold at most 10,000,000 frames"):
        steps_between(0.0, MOST_STEPS + 1, "frames")
    with pytest.raises(InputError, match="must end before number 72057594037927936 of the frames"):
        frames_between(load_sensor("vlp-16"), 0.0, 1e300)


def test_rare_moments_have_few_poses(monkeypatch, capsys):
    """A rig with a moment every thousand seconds wrote 100,000 poses for each, and one of 1e-9 Hz never ended."""
    path = Trajectory([0.0, 1e9], np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[0.0, 0, 0, 1]] * 2))
    assert len(pose_times(path, 0.0, 0.1)) == 10
    assert len(pose_times(path, 0.0, 1e3)) == 1000
    assert len(pose_times(path, 5e8, 1e6)) == 1000
    Path("r.toml").write_text('rate_hz = 1e-9\n[[lidars]]\nname = "a"\nsensor = "vlp-16"\n')
    with pytest.raises(InputError, match="rate_hz: must be from 1e-06"):
        load_rig("r.toml")


@pytest.mark.parametrize("rate", ["1e-300", "1e-9", "1e300"])
def test_rates_of_sensors(rate, monkeypatch, capsys):
    Path("t.csv").write_text("azimuth_deg,elevation_deg,time_s\n0,0,0\n")
    Path("s.toml").write_text(
        f'[pattern]\nkind = "image"\ncolumns = 4\nrows = 4\nhorizontal_fov_deg = 20\nvertical_fov_deg = 20\nframe_hz = {rate}\n'
    )
    assert "frame_hz: must be from 1e-06 to 1e+09 a second" in refused(monkeypatch, capsys, "sensors", "s.toml")


def pcap(times_s: list[float]) -> bytes:
    """Packets of a VLP-16 at these times."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    body = bytes(12 * 100) + struct.pack("<IBB", 0, 0x37, 0x22)
    udp = struct.pack(">HHHH", 2368, 2368, 8 + len(body), 0) + body
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, b"\xc0\xa8\1\xc9", b"\xff" * 4)
    frame = b"\xff" * 6 + b"\x60\x76\x88\0\0\0" + b"\x08\0" + ip + udp
    for time in times_s:
        out += struct.pack("<IIII", int(time), round(time % 1 * 1e6), len(frame), len(frame)) + frame
    return out


def test_replay_does_not_wait_for_years(monkeypatch, capsys):
    Path("c.pcap").write_bytes(pcap([100.0, 100.001, 2.6e9, 100.002]))
    said = refused(monkeypatch, capsys, "replay", "c.pcap", "--to", "127.0.0.1:9")
    assert "packet 4 comes 2,599,999,900 s after the one before it" in said


def test_viewer_at_an_address_of_somebody_else(monkeypatch, capsys):
    pytest.importorskip("viser", reason="viser is not installed: pip install 'tussock[view]'")
    for host in ("1.2.3.4", "no.such.host.invalid"):
        with pytest.raises(InputError, match="host: must be an address of this machine"):
            open_page_server(host, 0, "x")


@pytest.mark.parametrize(
    ("origin", "asked", "host", "own"),
    [
        (None, "127.0.0.1:8080", "127.0.0.1", True),  # no page at all: a program
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", True),
        ("http://localhost:8080", "localhost:8080", "127.0.0.1", True),
        ("http://localhost:9999", "localhost:9999", "127.0.0.1", True),  # forwarded by SSH
        ("http://localhost:3000", "localhost:8080", "127.0.0.1", False),
        ("https://evil.example", "127.0.0.1:8080", "127.0.0.1", False),
        ("http://evil.example:8080", "evil.example:8080", "127.0.0.1", False),  # a name that was made to lead here
        ("null", "127.0.0.1:8080", "127.0.0.1", False),
        ("http://[bad", "127.0.0.1:8080", "127.0.0.1", False),
        ("http://robot.local:8080", "robot.local:8080", "0.0.0.0", True),
        ("http://evil.example", "robot.local:8080", "0.0.0.0", False),
    ],
)
def test_who_may_talk_to_the_viewer(origin, asked, host, own):
    assert is_own_page(origin, asked, host) is own


def test_the_viewers_socket_refuses_other_pages():
    pytest.importorskip("viser", reason="viser is not installed: pip install 'tussock[view]'")
    server = open_page_server("127.0.0.1", 0, "x")
    try:
        port = server.get_port()
        answers = {origin: handshake(port, origin) for origin in (f"http://127.0.0.1:{port}", "https://evil.example")}
    finally:
        server.stop()
    assert b" 101 " in answers[f"http://127.0.0.1:{port}"]
    assert b" 403 " in answers["https://evil.example"]


def handshake(port: int, origin: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as link:
        link.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        return link.recv(200).splitlines()[0]


def test_an_e57_on_a_full_disk_says_one_line():
    """pye57 complained once more as its object was deleted."""
    pytest.importorskip("pye57", reason="pye57 is not installed: pip install 'tussock[e57]'")
    code = (
        "import numpy as np, resource, tussock\n"
        "from tussock.files.contents import Contents\nfrom tussock.files import e57\nfrom pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))\n"
        "names = ('x', 'y', 'z', 'intensity', 'time', 'laser', 'return_number', 'return_count')\n"
        "fields = {name: np.ones(1000, np.float32) for name in names}\n"
        "try:\n    e57.save(Contents(fields, None), Path('o.e57'))\nexcept OSError as error:\n    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")


def test_a_name_that_looks_like_a_pattern_keeps_others_parts(monkeypatch, capsys):
    """Of ``f[ab].npz`` a glob would have made fa.npz and fb.npz, whose parts another run is writing."""
    from tussock.whole_files import part_of, whole_file

    others = [part_of(Path(name)) for name in ("fa.npz", "fb.npz")]
    for part in others:
        part.write_bytes(b"x")
    with whole_file(Path("f[ab].npz")) as part:
        part.write_bytes(b"y")
    assert all(part.read_bytes() == b"x" for part in others)
    assert Path("f[ab].npz").read_bytes() == b"y"
    with pytest.raises(OutputError, match="exists already"), whole_file(Path("f[ab].npz")):
        pass


def test_a_replay_says_what_it_waits_for(monkeypatch):
    """One bad time of a year, played a million times as fast, was waited for without a word."""
    from tussock.wire.replay import _check_pauses

    said: list[str] = []
    _check_pauses(Path("c.pcap"), np.array([0.0, 0.1, 30.1, 30.2, 30.3]), 1.0, 600.0, said.append)
    assert said == ["c.pcap: nothing is sent for 30 s before packet 3: so it was recorded"]
    _check_pauses(Path("c.pcap"), np.array([0.0, 0.1, 30.1, 30.2, 30.3]), 10.0, 600.0, said.append)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("longest", "words"), [("20", "comes 30 s after the one before it"), ("0", "longest_pause_s: must be above 0")]
)
def test_a_replay_rests_no_longer_than_allowed(monkeypatch, capsys, longest, words):
    Path("c.pcap").write_bytes(pcap([100.0, 100.1, 130.1, 130.2]))
    assert words in refused(monkeypatch, capsys, "replay", "c.pcap", "--to", "127.0.0.1:9", "--longest-pause", longest)


def test_a_longer_pause_can_be_allowed():
    from tussock.wire.replay import _check_pauses

    times = np.array([0.0, 0.1, 900.0])
    with pytest.raises(InputError, match="allow a longer pause, or play it with speed"):
        _check_pauses(Path("c.pcap"), times, 1.0, 600.0, print)
    _check_pauses(Path("c.pcap"), times, 1.0, 1000.0, lambda said: None)


def test_a_dropped_file_with_a_name_that_no_file_has():
    from tussock.studio.page.panel_files import FilesPanel

    panel = FilesPanel.__new__(FilesPanel)
    panel._folder = None
    for name, rule in (
        ("a\0.toml", "must not hold the character NUL"),
        ("..", "must have a name"),
        ("", "must have a name"),
    ):
        with pytest.raises(InputError, match=rule):
            panel.take(name, b"")
    assert panel._folder is None


@pytest.mark.parametrize(
    "detects",
    [
        ["10 % at 1e-300 m"], ["10 % at 0.001 m"], ["10 % at 50 m", "80 % at 50.0000001 m"], ["10 % at 50 m with probability 0.0000001"],
    ],
)  # fmt: skip
def test_targets_that_no_sheet_names(detects):
    """They ended in a division by zero, or a number that is too large, as the sensor was used."""
    with pytest.raises(InputError, match="detects"):
        load_sensor("vlp-16").with_(**{"receiver.detects": detects})
    with pytest.raises(InputError, match="distance_m"):
        load_sensor("vlp-16").with_(**{"noise.stated_at": {"distance_m": 1e-300}})
