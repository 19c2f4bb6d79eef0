"""How fast packets are encoded and read on one core, every family and mode: python benchmarks/packets.py [SENSOR …]

``read`` is from a capture to firings: every pulse with its ranges and intensities and, but for an Ouster, whose pulses have
a table for that, its time, laser, direction and origin. ``all columns`` has these too, some 84 bytes a pulse: 172 kB for an
Ouster's packet of 2,048 pulses. ``bare`` only copies the same file and fills as much fresh memory as the columns take,
computing nothing: faster than that no reader can be. ``scans`` is what is on the wire alone, as Ouster's own fields.
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
from tussock.wire.firings import COLUMN_NAMES, Firings
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


def copy_and_fill(path: Path, size: int) -> None:
    """Copy a file's bytes, and fill ``size`` bytes of fresh memory."""
    np.array(np.memmap(path, np.uint8, "r"))
    np.empty(size, np.uint8).fill(1)


def columns_of(found: Firings) -> int:
    """[bytes] of all columns, which are made by this where they were not yet."""
    return sum(getattr(found, column).nbytes for column in COLUMN_NAMES)


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
        whole = rates(lambda: count * bool(columns_of(read())), TIMES)
        found = read()
        size, needed = columns_of(found), found.ranges.nbytes + found.intensity.nbytes
        bare = rates(lambda: count * (copy_and_fill(path, size) is None), TIMES)
        more = ""
        if family_of(device).name == "ouster":
            least = rates(lambda: count * (copy_and_fill(path, needed) is None), TIMES)
            unit = read_unit(path.with_suffix(".json"))
            data = read_datagrams(path)
            payloads = data.select(data.port == unit.lidar_port).payloads()
            scans = rates(lambda: count * bool(decode_scans(payloads, unit)), TIMES)
            more = f" (bare {least[1]:9,.0f})   scans {scans[1]:9,.0f}"
    slow = "" if min(out[1], back[1]) >= WANTED else f"   below {WANTED:,}"
    return (
        f"{name:14} {mode:15} encode {out[1]:9,.0f}   read {back[1]:9,.0f}{more}   all columns {whole[1]:9,.0f} "
        f"(bare {bare[1]:9,.0f}: {whole[1] / bare[1]:.2f} of it), {whole[1] * len(found) / count / 1e6:5.1f} M pulses/s{slow}"
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
