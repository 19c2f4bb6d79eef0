"""The HDL-64E as it fires: counts, steps, blocks and pitch angles (Goodin et al. 2018, section 3.5.2; BlenSor 3.2).

Two sensors of the catalogue: ``hdl-64e-mavs`` follows eqs (6) and (7) of Goodin et al., two blocks in turns 3 : 1;
``hdl-64e-s2`` and ``hdl-64e-s3`` fire by the real timing and look along the angles of a real calibration.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tussock.plots.report_figures import BLUE, GREY, ORANGE, plotting
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.pulses import Pulses
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial

__all__ = ["EXPERIMENT"]

RATES = (5.0, 10.0, 15.0)


@cache
def real_pitch() -> dict[str, list[float]]:
    """Pitch angles of real units [deg]; the file says whose they are."""
    return tomllib.loads(files(__package__).joinpath("hdl64_pitch.toml").read_text(encoding="utf-8"))


def steps_deg(pulses: Pulses, laser: int) -> float:
    """Median angle from one firing of a laser to its next [deg]."""
    azimuth = np.unwrap(pulses.azimuths[pulses.lasers == laser].astype(float))
    return float(np.rad2deg(np.median(np.abs(np.diff(azimuth)))))


def upper_runs(pulses: Pulses) -> NDArray[np.int64]:
    """How many firings of the upper block stand between two firings of the lower one."""
    lower = np.flatnonzero((pulses.lasers[::32] >= 32).astype(int))
    return np.array([after - before - 1 for before, after in pairwise(lower)])


def _run(trial: Trial) -> Outcome:
    rows, worst_step, runs = [], 0.0, set()
    for rate in RATES:
        theirs = load_sensor("hdl-64e-mavs").with_(rotation_hz=rate)
        pulses = theirs.pulses()
        lower, upper = 360 / (250_000 / (32 * rate) - 1), 360 / (250_000 / (8 * rate) - 1)
        seen_lower, seen_upper = steps_deg(pulses, 40), steps_deg(pulses, 8)
        worst_step = max(worst_step, abs(seen_lower / lower - 1), abs(seen_upper / upper - 1))
        runs |= set(upper_runs(pulses).tolist())
        real = load_sensor("hdl-64e-s2").with_(rotation_hz=rate).pulses()
        rows.append(
            (
                rate,
                len(pulses),
                len(pulses) * rate,
                upper,
                seen_upper,
                lower,
                seen_lower,
                len(real),
                steps_deg(real, 8),
            )
        )
    table = Table(
        "Pulses and steps",
        (
            "rate [Hz]",
            "pulses a turn",
            "pulses/s",
            "upper step, eq (7) [°]",
            "upper, median [°]",
            "lower step, eq (6) [°]",
            "lower, median [°]",
            "S2: pulses a turn",
            "S2: step [°]",
        ),
        tuple(rows),
        "The upper block skips every fourth firing, so its median step is the undisturbed one.",
    )
    criteria = [
        Criterion(
            "pulses a second, worst of three rates",
            min(row[2] for row in rows),
            "1/s",
            least=0.99e6,
            most=1.01e6,
            paper="about 10⁶",
        ),
        Criterion("step off eqs (6) and (7), worst", worst_step * 100, "%", most=0.01),
        Criterion(
            "upper firings between lower ones",
            float(max(runs)) if len(runs) == 1 else float("nan"),
            least=3,
            most=3,
            paper="3 upper : 1 lower",
        ),
        Criterion("step of the S2 at 10 Hz", rows[1][8], "°", least=0.1727, most=0.1729, paper="0.1728° (BlenSor)"),
    ]
    notes = [
        "The −1 in eqs (6) and (7) makes the paper's steps slightly wider than 360°/N; the pattern keeps it. "
        "Table 4 names 0.41875° between lasers, which does not fit its own end angles; they are used.",
    ]
    more, other = _pitch(trial)
    criteria += more
    notes.append(other)
    return Outcome(tuple(criteria), (table,), (_figure(trial),), tuple(notes))


def angles_of(name: str, trial: Trial) -> NDArray[np.float64]:
    """Elevations of the lasers [deg]; without the calibration, as many spread evenly."""
    pulses = load_sensor(name).pulses()
    _, first = np.unique(pulses.lasers, return_index=True)
    angles = np.rad2deg(pulses.elevations[first].astype(float))
    return angles if trial.has("calibration") else np.linspace(angles.min(), angles.max(), len(angles))


def _pitch(trial: Trial) -> tuple[list[Criterion], str]:
    tables, criteria = real_pitch(), []
    for name, key in (("hdl-64e-s2", "s2_calibration_deg"), ("hdl-64e-s3", "s3_calibration_deg")):
        off = np.abs(angles_of(name, trial) - tables[key]).max()
        criteria.append(
            Criterion(f"pitch of {name} off its calibration file, worst laser", float(off), "°", most=0.001)
        )
    rings = np.sort(tables["kitti_rings_deg"])
    spread = {name: float((rings - np.sort(angles_of(name, trial))).std()) for name in ("hdl-64e-s3", "hdl-64e-s2")}
    even = float((rings - np.linspace(rings[0], rings[-1], 64)).std())
    criteria.append(
        Criterion(
            "pitch of hdl-64e-s3 off the rings of a KITTI frame, but for a constant tilt",
            spread["hdl-64e-s3"],
            "° rms",
            most=0.2,
        )
    )
    return criteria, (
        "The KITTI sensor is another unit, so its calibration is not ours: the S3 unit's angles fit its rings best "
        f"({spread['hdl-64e-s3']:.2f}° rms after a constant tilt), evenly spread ones do not ({even:.2f}°), and the "
        f"S2.1 unit, whose upper block is spread over twice the angle, does not either ({spread['hdl-64e-s2']:.2f}°)."
    )


def _figure(trial: Trial) -> Figure:
    pulses = load_sensor("hdl-64e-mavs").pulses()
    with plotting(1, 2, size=(10.4, 4.4)) as picture:
        left, right = picture.axes[0]
        ahead = np.abs(np.rad2deg(pulses.azimuths)) < 1.6
        for block, color, name in ((0, BLUE, "upper block"), (1, ORANGE, "lower block")):
            mine = ahead & (pulses.lasers // 32 == block)
            left.scatter(
                -np.rad2deg(pulses.azimuths[mine]), np.rad2deg(pulses.elevations[mine]), s=3, color=color, label=name
            )
        left.set(title="hdl-64e-mavs, straight ahead, 10 Hz", xlabel="azimuth, clockwise [°]", ylabel="elevation [°]")
        left.legend(loc="lower right", framealpha=0.9, frameon=True)
        for name, color in (("hdl-64e-s2", BLUE), ("hdl-64e-s3", ORANGE)):
            right.plot(np.sort(angles_of(name, trial)), ".", color=color, ms=4, label=name)
        rings = np.sort(real_pitch()["kitti_rings_deg"])
        right.plot(rings, "+", color=GREY, ms=6, label="rings of a KITTI frame")
        right.set(title="pitch of the lasers, sorted", xlabel="laser, from the lowest", ylabel="elevation [°]")
        right.legend()
    return Figure(
        "Where the lasers look",
        picture.png,
        "Left: three columns of the upper block to one of the lower. Right: real pitch angles have a kink between "
        "the blocks; they are not evenly spaced.",
    )


EXPERIMENT = Experiment(
    name="hdl-64e",
    title="The firing pattern of the HDL-64E",
    paper="Goodin et al. 2018, section 3.5.2, eqs (6) and (7); Gschwandtner et al. 2011, section 3.2",
    setup=(
        "Pulses of one turn at 5, 10 and 15 Hz: how many, how far apart, in which order of blocks. Pitch angles of "
        "the "
        "catalogue against the calibration files of the units and the ring elevations of a real KITTI frame."
    ),
    run=_run,
    effects={"calibration": "lasers spread evenly between the lowest and the highest"},
)
