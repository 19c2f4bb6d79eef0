"""How fast packets are encoded and read on one core, every family and mode: python benchmarks/packets.py [SENSOR …]

Read means from the bytes of a capture to firings: every pulse with its time, laser, direction and ranges.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tussock
from tussock.frames.columns import COLUMNS, KINDS
from tussock.wire.families import family_of, open_encoder
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

NAMES = ("vlp-16", "vlp-32c", "hdl-32e", "hdl-64e-s2", "vls-128", "os1-64", "os0-128", "livox-mid-360", "xt32", "qt128",
         "pandar64", "pandar128")  # fmt: skip
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


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; packets a second, best and median of 9")
    for name in sys.argv[1:] or NAMES:
        sensor = tussock.load_sensor(name)
        family = family_of(sensor).name
        dual = family in ("velodyne", "hesai") or sensor.packets == "ouster-rng19"
        for mode in ("strongest", "strongest+last") if dual else ("strongest",):
            device = sensor.with_(**{"receiver.mode": mode})
            frames = [frame_by_chance(device, k) for k in range(8)]

            def encode(device: tussock.Sensor = device, frames: list[tussock.Frame] = frames) -> int:
                encoder = open_encoder(device)
                return sum(len(encoder.encode(frame)["data"]) for frame in frames)

            out = rates(encode, 9)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "run.pcap")
                with open_recording(path, device) as run:
                    for frame in frames:
                        run.write(frame)
                count = encode()

                def read(path: Path = path, name: str = name, count: int = count) -> int:
                    read_firings(path, model=name if name.startswith("hdl-64e") else None, say=lambda text: None)
                    return count

                back = rates(read, 9)
            slow = "" if min(out[1], back[1]) >= WANTED else f"   below {WANTED:,}"
            print(
                f"{name:14} {mode:15} encode {out[0]:9,.0f} {out[1]:9,.0f}   read {back[0]:9,.0f} {back[1]:9,.0f}{slow}"
            )


if __name__ == "__main__":
    main()
