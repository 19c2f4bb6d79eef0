"""The lowest versions that pyproject.toml declares, in an environment of their own: `make lowest`.

    python tools/try_lowest.py              # a small part of the suite
    python tools/try_lowest.py --list       # the constraints alone

Each direct dependency is pinned to the version after its ``>=``; what these ask for
themselves is pip's choice, as it is for whoever installs them. A minimum that does not work is no minimum.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("pytest", "hypothesis")
PART = [
    "tests/unit/test_settings.py", "tests/unit/test_poses.py", "tests/unit/test_kernels.py",
    "tests/unit/test_kernel_parts.py",
    "tests/unit/scene_files/test_mesh_files.py", "tests/unit/scene/test_mesh.py",
]  # fmt: skip


def lowest(lines: list[str]) -> list[str]:
    """``name==version`` for each ``name>=version``."""
    found = []
    for line in lines:
        match = re.match(r"([A-Za-z0-9._-]+)(\[[^\]]*\])?\s*>=\s*([0-9][^,;\s]*)", line)
        if match:
            found.append(f"{match[1]}=={match[3]}")
    return found


def constraints() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return lowest(project["dependencies"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--list", action="store_true", help="print the constraints and stop")
    given = options.parse_args()
    wanted = constraints()
    if given.list:
        print("\n".join(wanted))
        return
    home = ROOT / "build" / "lowest"
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pins = home / "constraints.txt"
    pins.write_text("\n".join(wanted) + "\n", encoding="utf-8")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", str(pins)]
    subprocess.run([*install, str(ROOT), *TOOLS], check=True)
    subprocess.run(
        [str(home / "bin" / "tussock"), "sensors", "vlp-16", "--json"], check=True, stdout=subprocess.DEVNULL
    )
    subprocess.run([str(home / "bin" / "tussock"), "demo", "--out", str(home / "demo"), "--force"], check=True)
    # Deprecations of versions to come are not for those of the past.
    done = subprocess.run([str(python), "-m", "pytest", "-W", "default", "-rs", *PART], cwd=ROOT, check=False)
    if done.returncode:
        sys.exit("the lowest declared versions do not work: raise them in pyproject.toml")


if __name__ == "__main__":
    main()
