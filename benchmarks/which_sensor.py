"""Which sensor should I buy for tall grass? Six LIDARs find their way through seeded worlds, in clear air and in fog.

    python benchmarks/which_sensor.py FILE [FIRST:LAST [thicket]]    drive what is missing in FILE (a line of JSON a drive)
    python benchmarks/which_sensor.py table FILE…          the table of what is there, as Markdown
    python benchmarks/which_sensor.py whole OTHER FIRST:LAST SENSOR…    the same with all pulses of some sensors
    python benchmarks/which_sensor.py against OTHER FILE…  what came of those, beside what came of FILE's

Every world is a field of grass as high as 0.9 to 1.5 m, with brambles, hazel, trees and rocks and without a trail
(thicket: with two to four times the shrubs and trees); the vehicle starts at one end of it and is to come to the other,
and knows nothing but what its LIDAR, GPS, compass and wheels say. It may be stopped at any moment and run again: what is
finished stays, and worlds are finished one after the other, so that every table is a fair one. One thread, so that
several may run beside each other, each with worlds and a file of its own (0:10, 10:20); half a minute of a core a world.

So that it can be afforded: a look every 0.3 s, half a metre of way, whatever the sensor's own rate; every eighth pulse,
and of each pulse two rays; the LMS-291, with 201 pulses a look and the widest spot, keeps all with twelve rays. The others
lose the same share that way, but what is thin and far away is found later than the real ones would find it.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tussock.air.weather import Fog, Weather
from tussock.drive.loop import drive_to
from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.errors import TussockError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.patterns.sweep import SweepPattern
from tussock.sensors.sensor import Sensor
from tussock.worlds.biome import Biome
from tussock.worlds.recipe import Recipe
from tussock.worlds.site import Site, build_site

SENSORS = ("lms-291-s05", "vlp-16", "hdl-32e", "hdl-64e-s3", "os1-64-rev7", "livox-mid-360")
AIR = {"clear": None, "fog of 60 m": Weather(fog=Fog(visibility_m=60.0))}


def recipe(name: str, shrubs: list[int], trees: list[int]) -> Recipe:
    """Worlds of tall grass with so many shrubs and trees a hectare."""
    field = Biome.parse({
        "meaning": "tall grass with brambles, hazel, young trees and rocks", "ground": "soil",
        "relief_m": [0.05, 0.4], "wavelength_m": [25, 70], "rocks_ha": [40, 120], "fence": 0.0,
        "layers": [
            {"species": {"tall-grass": 1}, "cover": [0.7, 1.0], "ages": {"young": 1, "grown": 2}},
            {"species": {"bramble": 2, "hazel": 1}, "density_ha": shrubs, "spacing_m": 0.9, "patchy": 0.5},
            {"species": {"birch": 2, "oak": 1}, "density_ha": trees, "spacing_m": 2.0, "ages": {"young": 1, "grown": 1}},
        ],
    }, "field")  # fmt: skip
    return Recipe(
        name=name, side_m=(30, 30), own={"field": field}, biomes={"field": 1}, seasons={"summer": 1}, slope_deg=(0, 4),
        trail=0.0, puddles=(0, 0), people=(0, 0), animals=(0, 0), vehicles=(0, 0), weather={"clear": 1},
    )  # fmt: skip


RECIPES = {"field": recipe("tall-grass", [100, 500], [40, 160]), "thicket": recipe("thicket", [400, 900], [200, 400])}
# What is nearer than the body reaches is left out, and with it what fog sends back from there. The grass grows to 1.5 m,
# where the usual map already calls it an obstacle. A metre through grass of 0.9 m costs 1.5 m on free ground: with the
# usual 6 m the way leads around the whole field, where nothing is known.
SETTINGS = DriveSettings(time_limit_s=45.0, stuck_s=8.0).changed(
    **{
        "autonomy.map.nearest_m": 2.2, "autonomy.map.max_height_m": 1.8, "autonomy.plan.weight": 1.0,
        "autonomy.follow.slow_in_cost": 0.3, "autonomy.plan.fence": False,
    }
)  # fmt: skip
RAYS, WIDE_RAYS, SEED, MARGIN = 2, 12, 2026, 9
"""rays a pulse, and of the one wide spot; of the worlds; points of the route, of 81, that are left out at each end"""
LOOK_S, THINNED = 0.3, 8
"""[s] from look to look; of so many pulses one is fired"""


def thinned(sensor: Sensor) -> Sensor:
    """A sensor that can be afforded: few rays a pulse and every eighth column; the scanner of one plane has few pulses."""
    cheap, pattern = sensor.with_(**{"beam.rays": RAYS}), sensor.pattern
    if isinstance(pattern, SpinningPattern) and pattern.steps is not None:
        return cheap.with_(**{"pattern.steps": pattern.steps // THINNED})
    if isinstance(pattern, SpinningPattern) and pattern.cycle_us is not None:
        return cheap.with_(**{"pattern.cycle_us": THINNED * pattern.cycle_us})
    if isinstance(pattern, SweepPattern):
        return cheap.with_(**{"pattern.pulse_hz": pattern.pulse_hz / THINNED})
    return sensor.with_(**{"beam.rays": WIDE_RAYS})


def settings_for(sensor: Sensor) -> DriveSettings:
    """A look every 0.3 s, whatever the sensor: of its frames, every third or whichever comes nearest to that."""
    return SETTINGS.changed(scan_every=max(1, round(LOOK_S / sensor.frame_period)))


def driven(stage: Stage, site: Site, sensor: Sensor) -> dict[str, Any]:
    """What came of one drive, as plain data."""
    start, goal = site.route.line[MARGIN], site.route.line[-1 - MARGIN]
    begin = time.process_time()
    try:
        settings = settings_for(sensor)
        m = drive_to(stage, sensor, goal, start=start, settings=settings, seed=site.number, threads=1).metrics
    except TussockError as error:
        return {"refused": str(error)}
    return {
        "success": m.success, "ending": m.ending, "time_s": round(m.time_s, 1), "length_m": round(m.length_m, 1),
        "direct_m": round(m.direct_m, 1), "collisions": m.collisions, "plant_work_j": round(m.plant_work_j),
        "cpu_s": round(time.process_time() - begin, 1),
    }  # fmt: skip


def run(
    file: Path, worlds: range, names: tuple[str, ...] = SENSORS, *, field: str = "field", whole: bool = False
) -> None:
    """Drive what is missing in a file; ``whole``: with all pulses, and rays as few as ever."""
    for number in worlds:
        known = {(row["world"], row["sensor"], row["air"]) for row in rows(file)}
        missing = [(name, air) for name in names for air in AIR if (number, name, air) not in known]
        if not missing:
            continue
        site = build_site(RECIPES[field], number, SEED)
        stages = {
            air: Stage(site.scene.with_weather(weather), SETTINGS.vehicle, threads=1) for air, weather in AIR.items()
        }
        for name, air in missing:
            line = {"world": number, "sensor": name, "air": air}
            sensor = load_sensor(name)
            sensor = sensor.with_(**{"beam.rays": RAYS}) if whole else thinned(sensor)
            line |= driven(stages[air], site, sensor)
            with file.open("a") as out:
                out.write(json.dumps(line) + "\n")
            print(line, flush=True)


def rows(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]


def interval(count: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, p = 1.96, count / of
    middle, half = p + z * z / (2 * of), z * np.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


def table(found: list[dict[str, Any]]) -> None:
    """Of the worlds in which every sensor has driven in every air."""
    each = len(SENSORS) * len(AIR)
    refused = {row["world"] for row in found if "refused" in row}
    whole = {row["world"] for row in found if sum(r["world"] == row["world"] for r in found) == each} - refused
    print(f"{len(whole)} worlds; {len(refused)} more whose start or goal is not free\n")
    print(
        "| sensor | air | reached the goal | of 100 (95 %) | time [s] | collisions a drive | work against plants [kJ] "
        "| ended otherwise |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in SENSORS:
        for air in AIR:
            mine = [row for row in found if row["world"] in whole and row["sensor"] == name and row["air"] == air]
            if not mine:
                continue
            there = [row for row in mine if row["success"]]
            took = f"{np.median([row['time_s'] for row in there]):.0f}" if there else "–"
            low, high = (100 * share for share in interval(len(there), len(mine)))
            hits, work = (np.mean([row[key] for row in mine]) for key in ("collisions", "plant_work_j"))
            others = Counter(row["ending"] for row in mine if not row["success"])
            print(
                f"| {name} | {air} | {len(there)} of {len(mine)} | {low:.0f}–{high:.0f} | {took} | {hits:.1f} "
                f"| {work / 1e3:.1f} | {', '.join(f'{n} {word}' for word, n in others.most_common())} |"
            )


def by_drive(files: list[str]) -> dict[tuple[int, str, str], dict[str, Any]]:
    """All drives by world, sensor and air; one that two files have is the same."""
    return {(row["world"], row["sensor"], row["air"]): row for file in files for row in rows(Path(file))}


def against(other: str, files: list[str]) -> None:
    """Each drive of a file beside the same one of others, and how many ended alike."""
    thin, alike, count = by_drive(files), 0, 0
    for key, row in by_drive([other]).items():
        if key not in thin or "refused" in row:
            continue
        old = thin[key]
        count, alike = count + 1, alike + (old["ending"] == row["ending"])
        both = ", ".join(
            f"{word} {old[word]} → {row[word]}" for word in ("ending", "time_s", "collisions", "plant_work_j")
        )
        print(f"world {key[0]}, {key[1]}, {key[2]}: {both}")
    print(f"{alike} of {count} ended alike")


def main() -> None:
    first, *rest = sys.argv[1:]
    if first == "table":
        table(list(by_drive(rest).values()))
    elif first == "against":
        against(rest[0], rest[1:])
    elif first == "whole":
        low, high = rest[1].split(":")
        run(Path(rest[0]), range(int(low), int(high)), tuple(rest[2:]), whole=True)
    else:
        low, high = rest[0].split(":") if rest else (0, 20)
        run(Path(first), range(int(low), int(high)), field=rest[1] if len(rest) > 1 else "field")


if __name__ == "__main__":
    main()
