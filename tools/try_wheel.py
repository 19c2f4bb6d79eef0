"""The wheel as a stranger gets it: installed alone into an empty environment, tried there from an empty folder.

    python tools/try_wheel.py dist

Every public name must be there without any extra, the demo must run, data files must have come along, and a type
checker must see types.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
from importlib.util import find_spec
from pathlib import Path

NAMES = """
import tussock
for name in tussock.__all__:
    getattr(tussock, name)
print(f"tussock {tussock.__version__}: {len(tussock.__all__)} public names, {len(tussock.sensor_names())} sensors")
"""
USER = """
import tussock
frame = tussock.scan(tussock.ready_scene("yard"), tussock.load_sensor("vlp-16"))
frame.no_such_column
"""
"""strict type checking must find what is wrong here; without types it would pass"""


def run(*words: object, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def main(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        venv.create(place / "venv", with_pip=True)
        binaries = place / "venv" / "bin"
        run(binaries / "python", "-m", "pip", "install", "--quiet", wheel.resolve(), cwd=place)
        print(run(binaries / "python", "-c", NAMES, cwd=place).strip())
        run(binaries / "tussock", "demo", "--out", "demo", cwd=place)
        written = sorted(path.name for path in (place / "demo").iterdir())
        print(f"demo: {', '.join(written)}")
        run(binaries / "tussock", "validate", "hdl-64e", "--quick", "--out", "report", cwd=place)
        if find_spec("mypy"):
            (place / "user.py").write_text(USER)
            words = [sys.executable, "-m", "mypy", "--strict", "--python-executable", binaries / "python", "user.py"]
            said = subprocess.run([str(word) for word in words], cwd=place, capture_output=True, text=True).stdout
            if "no_such_column" not in said:
                sys.exit(f"a type checker sees no types in the wheel: {said}")
            print("a strict type checker sees types")
    print(
        f"{wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB), {sdist.name} ({sdist.stat().st_size / 2**20:.1f} MiB)"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
