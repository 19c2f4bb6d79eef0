"""What the first use costs: processor time of `tussock demo` with an empty cache until its first frame is there.

    python benchmarks/first_use.py [ROUNDS]

Packages are byte-compiled before. Prints, of every round, seconds of the process and its children until the first frame,
and until the end; then the same with the cache that the last round left.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TUSSOCK = (sys.executable, "-c", "from tussock.cli.app import main; main()")


def demo(cache: Path) -> tuple[float, float]:
    """Processor seconds until the first frame and until the end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        words = [*TUSSOCK, "demo", "--out", folder, "--json"]
        done = subprocess.run(
            words, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True, check=True
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout)["first_frame_cpu_s"], whole


if __name__ == "__main__":
    for number in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
        with tempfile.TemporaryDirectory() as cache:
            if number == 0:
                subprocess.run([*TUSSOCK, "--version"], check=True, capture_output=True)
            first, whole = demo(Path(cache))
            again, all_again = demo(Path(cache))
        print(
            f"empty cache: {first:.1f} CPU s to the first frame, {whole:.1f} to the end; "
            f"with the cache: {again:.1f} and {all_again:.1f}",
            flush=True,
        )
