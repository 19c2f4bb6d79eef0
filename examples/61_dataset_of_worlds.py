"""A small training set of many worlds: made, checked, and read back."""

from pathlib import Path

import pyarrow.parquet as pq

import tussock

Path("grassland.toml").write_text(
    """
seed = 7
frames = 2
[worlds]
count = 3
recipe = { side_m = [25, 30], biomes = { meadow = 1, overgrown-field = 1 }, people = [0, 1] }
[[sensors]]
sensor = "vlp-16"
[[weather]]
name = "clear"
[[weather]]
name = "fog60"
fog_visibility_m = 60
[output]
layout = "parquet"
"""
)
plan = tussock.load_plan("grassland.toml")
done = tussock.run_plan(plan, "grassland")  # run it again: nothing is made twice
print(f"{done.items} items, {done.made} made now, {done.summary['bytes'] / 1e6:.1f} MB")

found = tussock.check_dataset("grassland")
print(f"{found.frames} frames, {found.returns:,} returns, faults: {len(found.wrong)}")

for row in pq.read_table("grassland/catalogue.parquet").to_pylist()[:4]:
    print(f"  world {row['world']} ({row['biome']}), frame {row['frame']}: {row['returns']:,} returns in {row['file']}")
