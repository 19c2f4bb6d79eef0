"""How many sub-rays a beam needs: the tables of docs/beams.md.

    python benchmarks/beams.py docs/beams.md [meadow] [shrub] [edges] [adaptive] [modes]

First: returns a pulse and spread of the ranges against those with 256 sub-rays, for every sensor of the catalogue in three
places: a meadow, where the spread is that of the depth below the ground's plane; a shrub; and the edges of slats from 1 to
12 cm wide, before a wall and before the sky. The spread is half of what lies between the quantiles of 16 and 84 %, one σ
if ranges were normal, for a few pulses that pass the shrub would rule a standard deviation; of edges it is the standard
deviation, for there are two ranges only. Pulses are always the same, so that differences are the sampling's. A number of sub-rays is enough where it
and every larger one change both figures by less than 2 %. Then: every mode of the receiver, as `tussock validate receiver`
has it. Between them: what adaptive sub-rays change, and how much faster they are, both timed in turns on one thread. The page's tables are replaced, from the line that names this file on; where places are named, only their rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tussock
from tussock.bench import timed_in_turns
from tussock.frames.frame import Frame
from tussock.validate.experiment import Trial
from tussock.validate.experiments.receiver import frame_figures, of_convergence, sampled

COUNTS = (1, 4, 9, 16, 24, 32, 48, 64, 256)
ENOUGH = 0.02
BELOW = "<!-- from here on: python benchmarks/beams.py docs/beams.md -->"


def edges() -> tussock.Scene:
    """Upright slats 12 m ahead, 1 to 12 cm wide, with gaps as wide; a wall 4 m behind those on the left, and the sky
    behind those on the right. Spots are 2 to 10 cm there: some slats fill a beam, some a part of it."""
    scene = tussock.Scene("edges")
    widths = 0.01 * 1.25 ** np.arange(12)
    for side in (1.0, -1.0):
        at = 0.0
        for number, width in enumerate(np.tile(widths, 2)):
            slat = tussock.box((0.02, float(width), 8.0))
            scene.add(
                slat, name=f"slat {number} {'left' if side > 0 else 'right'}", position=(12.01, side * (at + width), 0)
            )
            at += 2 * width
    scene.add(tussock.box((0.2, 15.0, 30.0)), name="wall", position=(16.1, 7.5, 0))
    return scene


def scenes() -> dict[str, tuple[tussock.World, tussock.Pose, dict]]:
    """World, pose and pattern of every place."""
    ahead = {"kind": "grid", "frame_hz": 10.0}
    fan = {"first": 6.0, "last": -6.0, "count": 160}
    down = {"kind": "spinning", "rotation_hz": 10.0, "steps": 1600}
    down["elevation_deg"] = {"first": -25.0, "last": -4.0, "count": 16}
    return {
        "meadow": (tussock.World(tussock.ready_scene("meadow")), tussock.Pose.at(0, 0, 2), down),
        "shrub": (
            tussock.World(tussock.ready_scene("shrub")),
            tussock.ready_pose("shrub"),
            ahead | {"azimuth_deg": fan, "elevation_deg": fan},
        ),
        "edges": (
            tussock.World(edges()),
            tussock.Pose(),
            ahead | {"azimuth_deg": {"first": 8.0, "last": -8.0, "count": 801}, "elevation_deg": [0.0, 1.3, 2.6, 3.9]},
        ),
    }


def spread(place: str, frame: Frame) -> float:
    """[m]; in a meadow of the ranges below the plane at the height of its ground."""
    ranges = frame.range.astype(float)
    if place == "edges":
        return float(ranges.std())
    if place == "meadow":
        ranges -= 2.0 / np.maximum(-np.sin(frame.elevation.astype(float)), 1e-3)
    low, high = np.quantile(ranges, [0.16, 0.84])
    return float(high - low) / 2


def kinds() -> dict[str, list[str]]:
    """Sensors of the catalogue whose beam and receiver are the same, by the first of them."""
    alike: dict[str, list[str]] = {}
    for name in tussock.sensor_names():
        sensor = tussock.load_sensor(name)
        if sensor.receiver.model == "echoes":
            one, plain = {"rays": 1}, {"mode": "strongest"}
            key = repr((sensor.beam.model_copy(update=one), sensor.receiver.model_copy(update=plain), sensor.noise))
            alike.setdefault(key, []).append(name)
    return {names[0]: names for names in alike.values()}


def figures(name: str, place: str, world: tussock.World, pose: tussock.Pose, pattern: dict) -> dict[int, tuple]:
    sensor = tussock.load_sensor(name).with_(
        pattern=pattern, packets=None, imu=None, **{"receiver.min_range_m": 0.0, "receiver.mode": "strongest"}
    )
    found = {}
    for rays in COUNTS:
        frame = tussock.scan(world, sensor.with_(**{"beam.rays": rays, "beam.sampling": "even"}), pose)
        found[rays] = (len(frame) / frame.pulses, spread(place, frame) if len(frame) else 0.0)
    return found


def enough(found: dict[int, tuple]) -> int:
    """The smallest number from which on hit rate and spread are within 2 % of those of the most sub-rays."""
    best = np.array(found[COUNTS[-1]])
    off = {rays: np.abs(np.array(row) / best - 1).max() for rays, row in found.items()}
    return next(rays for rays in COUNTS if all(off[more] < ENOUGH for more in COUNTS if more >= rays))


def of_beams(wanted: set[str], before: dict[tuple[str, str], str]) -> Iterator[str]:
    """The table of beams and places, line by line; rows of places that are not wanted are those of before."""
    places = scenes()
    yield "| sensors | place | " + " | ".join(str(rays) for rays in COUNTS) + " | enough |"
    yield "|---|---|" + "---:|" * (len(COUNTS) + 1)
    for name, names in kinds().items():
        for place, (world, pose, pattern) in places.items():
            if place not in wanted:
                if figures_before := before.get((name, place)):
                    yield f"| {', '.join(names)} | {place} | {figures_before}"
                continue
            found = figures(name, place, world, pose, pattern)
            if not found[COUNTS[-1]][0]:
                continue  # nothing of it is within reach
            cells = [f"{100 * rate:.1f} · {100 * deep:.1f}" for rate, deep in found.values()]
            yield f"| {', '.join(names)} | {place} | " + " | ".join(cells) + f" | **{enough(found)}** |"


def of_adaptive() -> Iterator[str]:
    """The table of adaptive sub-rays, line by line: how far figures are off those of 256 sub-rays, and the speed."""
    yield "How far figures are off those of 256 sub-rays; times as fast as all 64 sub-rays, both on one thread in turns."
    yield ""
    yield "| place | mode | rays | mean intensity | returns a pulse | quantiles of the range | times as fast |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for name in ("shrub", "meadow", "forest-trail", "courtyard"):
        world, pose = tussock.World(tussock.ready_scene(name)), tussock.ready_pose(name)
        pose = pose if isinstance(pose, tussock.Pose) else pose.pose(float(pose.times[0]))
        for mode in ("strongest", "strongest+last", "all"):
            few, many = (sampled(Trial(), name, rays, mode) for rays in (64, 256))
            few = few.with_(**{"beam.sampling": "sequence"})
            adaptive = few.with_(**{"beam.adaptive": True})
            best = np.array(frame_figures(tussock.scan(world, many, pose)))
            one, other = timed_in_turns(
                lambda: tussock.scan(world, few, pose, threads=1),  # noqa: B023 (called at once)
                lambda: tussock.scan(world, adaptive, pose, threads=1),  # noqa: B023
                rounds=3,
            )
            for words, sensor, speed in (("64", few, 1.0), ("8 to 64", adaptive, one / other)):
                off = 100 * (np.array(frame_figures(tussock.scan(world, sensor, pose))) / best - 1)
                worst = off[2:][np.abs(off[2:]).argmax()]
                yield f"| {name} | {mode} | {words} | {off[0]:+.2f} % | {off[1]:+.2f} % | {worst:+.2f} % | {speed:.2f} |"


def of_modes() -> Iterator[str]:
    """The table of modes, line by line."""
    criteria, table = of_convergence(Trial())
    yield "| " + " | ".join(table.heading) + " |"
    yield "|---|---|" + "---:|" * (len(table.heading) - 2)
    for place, mode, rays, bright, rate, *reach in table.rows:
        numbers = [f"{bright:.4f}", f"{rate:.4f}", *(f"{r:.2f}" for r in reach)]
        yield f"| {place} | {mode} | {rays} | " + " | ".join(numbers) + " |"
    yield ""
    for criterion in criteria:
        yield f"- {criterion.name}: {criterion.measured:.2f} %"


def main() -> None:
    page, wanted = Path(sys.argv[1]), set(sys.argv[2:]) or {"meadow", "shrub", "edges", "adaptive", "modes"}
    kept, _, tables = page.read_text(encoding="utf-8").partition(BELOW)
    rows = [line for line in tables.splitlines() if line.startswith("| ")]
    cells = [line.removeprefix("| ").split(" | ", 2) for line in rows]
    before = {(name, place): figures for names, place, figures in cells for name in names.split(", ")}
    modes = told(of_modes()) if "modes" in wanted else tables.partition("## Modes\n\n")[2].rstrip("\n").splitlines()
    kept_table = tables.partition("## Adaptive\n\n")[2].partition("\n\n## Modes")[0].splitlines()
    adaptive = told(of_adaptive()) if "adaptive" in wanted else kept_table
    lines = [BELOW, "", "## Beams and places", "", *told(of_beams(wanted, before)), "", "## Adaptive", "", *adaptive]
    lines += ["", "## Modes", "", *modes]
    page.write_text(kept + "\n".join(lines) + "\n", encoding="utf-8")


def told(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        print(line, flush=True)
        yield line


if __name__ == "__main__":
    main()
