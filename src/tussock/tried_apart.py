"""Files that a library may not survive are tried in a process of their own before it reads them in ours.

Libraries in C++ and Rust believe some of what compressed and binary files say, and a damaged one then ends the process (a
segmentation fault): a notebook, with all that it holds. So a short program that opens the file with the library alone
runs first, in another process; where that is killed, the file is refused. What the program says of the file is not asked
for: the reader itself tells that, in its own words.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tussock.errors import InputError

__all__ = ["try_apart"]

_WINDOWS_FAULT = 0xC0000000
"""exit codes from here on are exceptions of the system, not the program's own"""


def try_apart(program: str, path: Path, library: str) -> None:
    """Refuse a file on which ``program``, Python that reads ``sys.argv[1]`` with ``library``, is killed."""
    if not sys.executable:  # a Python inside another program that does not say where one is
        return
    # -P: modules that lie in the folder where somebody happens to be are none of this program's.
    command = [sys.executable, "-P", "-c", program, str(path)]
    nothing = subprocess.DEVNULL
    code = subprocess.run(command, stdin=nothing, stdout=nothing, stderr=nothing, check=False).returncode
    if code < 0 or code >= _WINDOWS_FAULT:
        raise InputError(f"is damaged in a way that ends {library}, which reads it (tried in a process of its own)")
