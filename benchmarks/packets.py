"""How fast packets are encoded and read on one core, every family and mode: python benchmarks/packets.py [SENSOR …]

Read means from the bytes of a capture to firings: every pulse with its time, laser, direction and ranges, some 84 bytes. An
Ouster's packet of 2,048 pulses is 172 kB of them, which the system must hand out as fresh memory: how long that alone
takes is measured beside it, and what is on the wire alone, as Ouster's own fields, is ``scans``.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tussock
from tussock.frames.columns import COLUMNS
from tussock.return_modes import KINDS
from tussock.sensors.ouster_unit import read_unit
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.families import family_of, open_encoder
from tussock.wire.firings import _COLUMNS, Firings
from tussock.wire.ouster.decode import decode_scans
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

NAMES = ("vlp-16", "vlp-32c", "hdl-32e", "hdl-64e-s2", "vls-128", "os1-64", "os0-128", "livox-mid-360", "livox-avia", "xt32",
         "qt128", "pandar64", "pandar128")  # fmt: skip
PULSES = 700_000
"""in a capture, at least"""
TIMES = 7
REMEMBERED = 8
WANTED = 40_000


def rates(work: Callable[[], int], times: int) -> tuple[float, float]:
    """Best and median [packets/s] of the processor's time, so that others on the machine do not count."""
    work()
    found = []
    for _ in range(times):
        begin = time.process_time()
        count = work()
        found.append(count / (time.process_time() - begin))
    found.sort()
    return found[-1], found[len(found) // 2]


def frame_by_chance(sensor: tussock.Sensor, number: int) -> tussock.Frame:
    """A revolution of which two thirds of the pulses have a return, a tenth of those two."""
    pulses, rng = sensor.pulses(number), np.random.default_rng(number)
    dual = str(sensor.receiver.mode) == "strongest+last"
    count = (rng.random(len(pulses)) < 0.67).astype(int) * (1 + (dual & (rng.random(len(pulses)) < 0.1)))
    pulse = np.repeat(np.arange(len(pulses)), count)
    second = np.concatenate([[False], pulse[1:] == pulse[:-1]])
    reach = rng.uniform(2, 40, len(pulse))
    columns = {c.name: np.zeros((len(pulse), c.width) if c.width > 1 else len(pulse), c.dtype) for c in COLUMNS}
    columns |= {
        "time": number * sensor.frame_period + pulses.offsets[pulse], "pulse": pulse, "laser": pulses.lasers[pulse],
        "azimuth": pulses.azimuths[pulse], "elevation": pulses.elevations[pulse], "range": reach,
        "xyz": reach[:, None] * pulses.directions[pulse], "intensity": rng.uniform(0, 1, len(pulse)),
        "return_number": 1 + second, "return_count": count[pulse],
        "return_kind": np.where(second, KINDS.index("last"), KINDS.index("strongest")),
    }  # fmt: skip
    about = {"pulses": len(pulses), "frame": number, "start_s": number * sensor.frame_period}
    return tussock.Frame(**columns, meta=about)


def memory_rate(size: int) -> float:
    """[1/s] how often a piece of fresh memory of ``size`` bytes could be filled, in pieces of a few revolutions."""
    piece = max(64 << 20, size)

    def fill() -> int:
        np.empty(piece, np.uint8).fill(1)
        return 1

    return rates(fill, TIMES)[1] * piece / size


def measure(name: str, mode: str) -> str:
    device = tussock.load_sensor(name).with_(**{"receiver.mode": mode})
    frames = [frame_by_chance(device, k) for k in range(-(-PULSES // len(device.pulses(0))))]

    def encode(part: list[tussock.Frame]) -> int:
        encoder = open_encoder(device)
        return sum(len(encoder.encode(frame)["data"]) for frame in part)

    # As many as a sensor remembers the pulses of: a frame is encoded when it was just scanned.
    out = rates(lambda: encode(frames[:REMEMBERED]), TIMES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.pcap")
        with open_recording(path, device) as run:
            for frame in frames:
                run.write(frame)
        count = encode(frames)

        def read() -> Firings:
            return read_firings(path, model=name if name.startswith("hdl-64e") else None, say=lambda text: None)

        back = rates(lambda: count * bool(len(read())), TIMES)
        found = read()
        size = sum(getattr(found, column).nbytes for column in _COLUMNS) / count
        more = ""
        if family_of(device).name == "ouster":
            unit = read_unit(path.with_suffix(".json"))
            data = read_datagrams(path)
            payloads = data.select(data.port == unit.lidar_port).payloads()
            scans = rates(lambda: count * bool(decode_scans(payloads, unit)), TIMES)
            more = f"   scans {scans[1]:9,.0f} (best {scans[0]:9,.0f})"
    pulses = back[1] * len(found) / count
    least = min(out[1], back[1])
    slow = "" if least >= WANTED else f"   below {WANTED:,}; fresh memory alone {memory_rate(int(size)):9,.0f}"
    return (
        f"{name:14} {mode:15} encode {out[1]:9,.0f}   read {back[1]:9,.0f} (best {back[0]:9,.0f}), "
        f"{pulses / 1e6:5.1f} M pulses/s, {back[1] * size / 1e9:4.1f} GB/s{more}{slow}"
    )


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; packets a second, median of {TIMES}")
    for name in sys.argv[1:] or NAMES:
        sensor = tussock.load_sensor(name)
        dual = family_of(sensor).name in ("velodyne", "hesai") or sensor.packets == "ouster-rng19"
        for mode in ("strongest", "strongest+last") if dual else ("strongest",):
            print(measure(name, mode), flush=True)


if __name__ == "__main__":
    main()
