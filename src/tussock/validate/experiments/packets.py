"""Into the loop: packets over UDP and frames in shared memory (Jayaraman et al., MathWorks and Ford).

The paper's simulator sent 300 packets a second where an HDL-32E that turns ten times a second needs 1808. Here
packets go over a real socket to a consumer that knows nothing but the sensor's manual: 12 blocks of a flag, an
azimuth in hundredths of a degree and 32 times distance (2 mm) and intensity, lasers 1.152 µs apart. The cloud that
it rebuilds is compared with the frame. Shared memory is read by this process and written by another.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.plots.report_figures import BLUE, ORANGE, plotting
from tussock.poses import Pose
from tussock.scenes.ready import ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial
from tussock.validate.paper_receiver import PAPER_RECEIVER
from tussock.wire.shared.shared_memory import SharedSegment
from tussock.wire.shared.shm_layout import ChannelSpec
from tussock.wire.velodyne.encode import PacketEncoder

__all__ = ["EXPERIMENT", "manual_cloud"]

NEEDED, THEIRS, THEIR_FRAMES = 1808.0, 300.0, 30.0
POINTS = 133_376
"""of a frame in shared memory: one turn of an HDL-64E"""
_BLOCK = np.dtype([("flag", "<u2"), ("azimuth", "<u2"), ("lasers", [("distance", "<u2"), ("intensity", "u1")], 32)])
_ELEVATION = np.deg2rad(np.ravel([(-30.67 + 4 / 3 * k, -9.33 + 4 / 3 * k) for k in range(16)]))
"""of the 32 lasers in the order in which they fire: from the manual, not from the catalogue"""


def manual_cloud(payloads: NDArray[np.uint8], *, timed: bool = True) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (n, 3) [m] by the manual alone, and the number of each one's firing (cycle · 32 + laser)."""
    blocks = np.ascontiguousarray(payloads[:, :1200]).view(_BLOCK).reshape(-1)
    azimuth = np.unwrap(np.deg2rad(blocks["azimuth"] / 100))
    # The head turns on between a block's own angle and the firing of a laser; blocks are 46.08 µs apart.
    turned = np.gradient(azimuth)[:, None] * (np.arange(32) * 1.152 / 46.08 if timed else np.zeros(32))
    angle = azimuth[:, None] + turned
    distance = blocks["lasers"]["distance"] * 0.002
    level = distance * np.cos(_ELEVATION)
    # Velodyne's azimuth runs clockwise.
    points = np.stack([level * np.cos(angle), -level * np.sin(angle), distance * np.sin(_ELEVATION)], -1)
    firing = np.arange(distance.size).reshape(distance.shape)
    return points[distance > 0], firing[distance > 0]


def over_udp(payloads: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], float]:
    """Send each packet to a socket of this machine and receive it; what arrived, and packets a second."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out,
    ):
        here.bind(("127.0.0.1", 0))
        here.settimeout(2.0)
        arrived = []
        begin = time.perf_counter()
        for payload in payloads:
            out.sendto(payload.tobytes(), here.getsockname())
            arrived.append(here.recv(2000))
        taken = time.perf_counter() - begin
    return np.frombuffer(b"".join(arrived), np.uint8).reshape(-1, payloads.shape[1]), len(payloads) / taken


def write_frames(name: str) -> None:
    """The other process: frames into shared memory as fast as they go, until it is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # through the block, which removes the memory
    with SharedSegment.create(name, [ChannelSpec("points", "out", "f4", (POINTS, 6))]) as segment:
        frame = np.zeros((POINTS, 6), np.float32)
        for number in range(1, 1_000_000):
            frame.fill(number)
            segment.publish("points", frame)
            time.sleep(1 / 500)


def frames_a_second(seconds: float) -> tuple[float, int]:
    """Frames of an HDL-64E read from shared memory a second, and how many of them were torn."""
    name = f"tussock-validate-{os.getpid()}"
    work = f"from tussock.validate.experiments.packets import write_frames; write_frames({name!r})"
    writer = subprocess.Popen([sys.executable, "-c", work])
    try:
        with SharedSegment.attach(name, wait=40) as segment:
            number, count, torn = segment.wait_for("points", timeout=60).number, 0, 0
            begin = time.perf_counter()
            while time.perf_counter() < begin + seconds:
                sample = segment.wait_for("points", after=number, timeout=10)
                number, count = sample.number, count + 1
                torn += not (sample.array == sample.array[0, 0]).all()
        return count / (time.perf_counter() - begin), torn
    finally:
        writer.terminate()
        try:
            writer.wait(timeout=20)
        except subprocess.TimeoutExpired:
            writer.kill()
            writer.wait()


def _run(trial: Trial) -> Outcome:
    trial.doing("scanning")
    # The manual has all beams leave one point, and so has the consumer that is made from it.
    sensor = load_sensor("hdl-32e").with_(**PAPER_RECEIVER, **{"pattern.axis_height_m": ()})
    world = World(ready_scene("yard", seed=trial.seed))
    pose, turns = Pose.at(0, 0, 2), 2 if trial.quick else 10
    frames = [scan(world, sensor, pose, seed=trial.seed, frame=k) for k in range(turns)]
    trial.doing("packets")
    PacketEncoder(sensor).encode(frames[0])  # so that no kernel is loaded while the clock runs
    encoder = PacketEncoder(sensor)
    begin = time.perf_counter()
    parts = [encoder.encode(frame).payloads for frame in frames]
    encoded = sum(map(len, parts)) / (time.perf_counter() - begin)
    payloads = np.concatenate([*parts, encoder.flush().payloads])
    arrived, sent = over_udp(payloads)
    points, firing = manual_cloud(arrived, timed=trial.has("firing times"))
    truth, fired = _as_fired(frames)
    _, ours, theirs = np.intersect1d(firing, fired, return_indices=True)
    points, truth_points = points[ours], truth[theirs]
    reach, true_reach = np.linalg.norm(points, axis=1), np.linalg.norm(truth_points, axis=1)
    cosine = np.clip((points * truth_points).sum(1) / (reach * true_reach), -1, 1)
    astray = np.rad2deg(np.arccos(cosine))
    trial.doing("shared memory")
    read, torn = frames_a_second(1.0 if trial.quick else 5.0)
    criteria = (
        Criterion(
            "packets a second that a turning HDL-32E needs",
            encoder.packets_per_second,
            "1/s",
            least=1807,
            most=1809,
            paper="1808",
        ),
        Criterion("returns that reach the consumer", 100 * len(ours) / len(fired), "%", least=100, most=100),
        Criterion("ranges off, worst", 1e3 * float(np.abs(reach - true_reach).max()), "mm", most=1.1),
        Criterion("directions off, worst", float(astray.max()), "°", most=0.02),
        Criterion("torn frames in shared memory", float(torn), most=0),
        Criterion("packets encoded a second", encoded, "1/s", least=NEEDED, paper="300", machine=True),
        Criterion("packets sent and received a second", sent, "1/s", least=NEEDED, paper="300", machine=True),
        Criterion(
            "frames of an HDL-64E through shared memory", read, "1/s", least=THEIR_FRAMES, paper="30", machine=True
        ),
    )
    table = Table(
        "What the consumer rebuilt",
        (
            "turns",
            "packets",
            "returns fired",
            "returns rebuilt",
            "range off, median [mm]",
            "direction off, median [°]",
        ),
        (
            (
                turns,
                len(payloads),
                len(fired),
                len(ours),
                1e3 * float(np.median(np.abs(reach - true_reach))),
                float(np.median(astray)),
            ),
        ),
        "Azimuths on the wire are rounded to 0.01°, distances to 2 mm.",
    )
    notes = (
        "Packets are sent as fast as they go, one by one, and received in the same process; the paper's 300 a second "
        "include its simulator's own work. Shared memory is read by one process and written by another.",
    )
    return Outcome(criteria, (table,), (_figure(truth[: len(frames[0])], points[: len(frames[0])]),), notes)


def _as_fired(frames: list[Frame]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points of all frames and the number of each one's firing since the first."""
    points, firing, before = [], [], 0
    for frame in frames:
        # Below the distance's least step a return cannot be told from none.
        seen = frame.range > 0.001
        points.append(frame.xyz[seen].astype(np.float64))
        firing.append(frame.pulse[seen].astype(np.int64) + before)
        before += frame.pulses
    return np.concatenate(points), np.concatenate(firing)


def _figure(truth: NDArray[np.float64], rebuilt: NDArray[np.float64]) -> Figure:
    with plotting(1, 2, size=(10.4, 4.6), sharex=True, sharey=True) as picture:
        parts: list[tuple[Any, str, str]] = [
            (truth, "the simulator's frame", BLUE),
            (rebuilt, "rebuilt from packets", ORANGE),
        ]
        for axes, (points, title, color) in zip(picture.axes[0], parts, strict=True):
            axes.scatter(-points[:, 1], points[:, 0], s=0.2, color=color, lw=0)
            axes.set(title=title, xlabel="to the right [m]", xlim=(-32, 32), ylim=(-32, 32), aspect="equal")
        picture.axes[0, 0].set_ylabel("ahead [m]")
    return Figure(
        "One turn of an HDL-32E in a walled yard, from above",
        picture.png,
        "The right cloud was made by a consumer that had the bytes of the packets and the sensor's manual, nothing "
        "else.",
    )


EXPERIMENT = Experiment(
    name="packets",
    title="Packets and shared memory",
    paper="Jayaraman et al. (MathWorks and Ford), packets and shared memory",
    setup=(
        "An HDL-32E in a walled yard. Its frames are encoded as the sensor's own UDP packets, sent through a "
        "socket, and "
        "read by a consumer written from the manual alone; frames of an HDL-64E go through shared memory to another "
        "process."
    ),
    run=_run,
    effects={"firing times": "a consumer that takes all lasers of a block to fire at once"},
)
