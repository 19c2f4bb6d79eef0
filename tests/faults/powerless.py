"""Children without the rights of the superuser, to whom no file is closed."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

__all__ = ["powerless"]

_DROP = 24  # PR_CAPBSET_DROP
_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER = 1, 2, 3


def _give_up() -> None:
    """For `subprocess`: whoever starts after this may do with a file what its mode says.

    Another user would do too, but Python itself may lie in a folder that only its owner may enter.
    """
    if os.geteuid() == 0:
        for right in (_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER):
            if ctypes.CDLL(None, use_errno=True).prctl(_DROP, right, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "rights cannot be given up")


@lru_cache(maxsize=1)
def _can_give_up(closed: str) -> bool:
    try:
        code = f"open({closed!r}).read()"
        done = subprocess.run([sys.executable, "-c", code], preexec_fn=_give_up, capture_output=True, text=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return "PermissionError" in done.stderr


def powerless(folder: Path) -> dict[str, Any]:
    """Options for `subprocess.run`; skips where the rights of the superuser cannot be given up."""
    closed = folder / "closed to its owner"
    closed.write_text("")
    closed.chmod(0)
    try:
        if not _can_give_up(str(closed)):
            pytest.skip("this sandbox does not let the superuser give up his rights; run it as a plain user")
    finally:
        closed.unlink()
    return {"preexec_fn": _give_up}
