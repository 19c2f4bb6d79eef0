"""A thousand worlds: no two alike, every one built for rays, and world N alone the world N of the batch.

python benchmarks/worlds.py [COUNT [SEED]]

Nothing is scanned: every world is sampled, built, given to Embree, measured and fingerprinted, then dropped.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter

import numpy as np

from tussock.errors import TussockError
from tussock.trace.world import World
from tussock.worlds.figures import Figures, figures_of
from tussock.worlds.recipe import Recipe
from tussock.worlds.site import build_site

ALONE = (
    "import sys; from tussock.worlds.recipe import Recipe; from tussock.worlds.site import build_site;"
    "print(build_site(Recipe(), int(sys.argv[1]), int(sys.argv[2])).fingerprint)"
)


def main() -> None:
    given = [int(word) for word in sys.argv[1:]]
    count, seed = [*given, *[1000, 7][len(given) :]]
    recipe = Recipe()
    fingerprints: list[str] = []
    figures: list[Figures] = []
    kinds: Counter[str] = Counter()
    failed: dict[int, str] = {}
    begin = time.perf_counter()
    for number in range(count):
        try:
            site = build_site(recipe, number, seed)
            World(site.scene)
        except (TussockError, ValueError, ArithmeticError) as error:
            failed[number] = f"{type(error).__name__}: {error}"
            continue
        fingerprints.append(site.fingerprint)
        figures.append(figures_of(site))
        kinds[f"{site.choices['biome']}, {site.choices['season']}"] += 1
        if (number + 1) % 100 == 0:
            print(f"worlds: {number + 1} of {count} after {time.perf_counter() - begin:.0f} s", flush=True)
    took = time.perf_counter() - begin
    print(f"worlds: {len(fingerprints)} of {count} built in {took:.0f} s, {took / count:.2f} s each; failed: {failed}")
    print(f"worlds: {len(set(fingerprints))} different fingerprints; {len(kinds)} kinds (biome, season) of 27")
    for name in Figures._fields:
        values = np.array([getattr(one, name) for one in figures])
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        print(f"worlds: {name:<14} 5 % {low:8.2f}   median {middle:8.2f}   95 % {high:8.2f}")
    picked = [count // 7, count // 2, count - 1]
    for number in picked:
        alone = subprocess.run([sys.executable, "-c", ALONE, str(number), str(seed)], capture_output=True, text=True)
        assert failed or alone.stdout.strip() == fingerprints[number], f"world {number} alone differs: {alone.stderr}"
    print(f"worlds: {picked} built alone are those of the batch")
    assert not failed and len(set(fingerprints)) == count


if __name__ == "__main__":
    main()
