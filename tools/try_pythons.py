"""The suite on every supported Python that is at hand, each in an environment of its own under build/.

    python tools/try_pythons.py                       # a part of the suite that takes a minute each
    python tools/try_pythons.py --all                 # the whole suite
    python tools/try_pythons.py --only 3.13

A Python is found as ``python3.13`` on the path, among the versions of pyenv, or by uv. One that is not there is said,
with how to get it, and left out.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
PART = ["tests/unit/test_simulate.py", "tests/unit/test_imports.py", "tests/unit/test_settings.py", "tests/unit/test_poses.py",
        "tests/unit/test_randomness.py", "tests/unit/trace", "tests/unit/signal", "tests/unit/frames", "tests/unit/files",
        "tests/unit/scene", "tests/unit/sensors", "tests/physics/test_closed_forms.py", "tests/physics/test_same_bits.py"]  # fmt: skip


def find(version: str) -> str | None:
    """A program that is this version of Python, or None."""
    pyenv = Path.home() / ".pyenv" / "versions"
    candidates = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    if shutil.which("uv"):
        found = subprocess.run(["uv", "python", "find", version], capture_output=True, text=True)
        candidates.append(found.stdout.strip() or None)
    for program in filter(None, candidates):
        code = "import sys; print('%d.%d' % sys.version_info[:2])"
        said = subprocess.run([program, "-c", code], capture_output=True, text=True)
        if said.returncode == 0 and said.stdout.strip() == version:  # pyenv's shims are there for versions that are not
            return program
    return None


def try_on(program: str, version: str, tests: list[str]) -> bool:
    home = ROOT / "build" / f"python-{version}"
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([program, "-m", "venv", str(home)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[dev]"]
    subprocess.run(install, check=True)
    done = subprocess.run([str(python), "-m", "pytest", "--numprocesses", "auto", "-rs", *tests], cwd=ROOT)
    return done.returncode == 0


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--all", action="store_true", help="the whole suite")
    options.add_argument("--only", choices=VERSIONS, action="append", help="this version; may be given several times")
    given = options.parse_args()
    failed = []
    for version in given.only or VERSIONS:
        program = find(version)
        if program is None:
            print(
                f"Python {version}: not on this machine; left out (uv python install {version}, or pyenv install {version})"
            )
            continue
        print(f"Python {version}: {program}", flush=True)
        if not try_on(program, version, ["tests"] if given.all else PART):
            failed.append(version)
    if failed:
        sys.exit(f"failed on Python {', '.join(failed)}")


if __name__ == "__main__":
    main()
