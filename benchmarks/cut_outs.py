"""What cut-outs cost: a field of cards with leaves on them, cut out, and the same leaves as triangles.

    python benchmarks/cut_outs.py [ROUNDS]

Prints triangles a plant, the share of returns that are of leaves, and the processor time of a scan as a ratio to that of
the triangles; see `tussock.bench_cut_outs`, which `tussock bench` runs with fewer plants.
"""

import sys

from tussock.bench_cut_outs import measure_cut_outs

print(f"{'leaves as':12} {'triangles':>9} {'returns':>8} {'time':>6}")
for name, leaves in measure_cut_outs(rounds=int(sys.argv[1]) if len(sys.argv) > 1 else 5).items():
    print(f"{name:12} {leaves.triangles:9} {leaves.share:8.4f} {leaves.time:6.2f}")
