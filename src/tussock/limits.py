"""How much memory a file may take, known before it is taken.

A few bytes can ask for any amount of memory: a compressed array, a picture of one colour, a header with a large
count. A file may take 256 MiB, or a hundred times its own size where that is more. Honest files stay far below;
``TUSSOCK_LIMIT_MB`` raises the 256 for one that does not.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from tussock.errors import InputError, reason

__all__ = ["MIB", "SWELL", "check_memory", "check_room", "limit_bytes", "read_bytes", "read_text"]

MIB = 2**20
SWELL = 100
"""times its own size that a file may take"""


def limit_bytes() -> int:
    """What any file may take, however small it is."""
    text = os.environ.get("TUSSOCK_LIMIT_MB", "") or "256"
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise InputError.of("TUSSOCK_LIMIT_MB", "must be a whole number of megabytes", text)
    return int(text) * MIB


def check_memory(needed: int, size: int) -> None:
    """Refuse a file of ``size`` bytes that would take ``needed`` bytes of memory, where that is out of proportion."""
    if needed > max(limit_bytes(), SWELL * size):
        raise InputError(
            f"would take {needed / MIB:,.0f} MiB of memory, and the file has {size / MIB:,.2f}; if you trust it, allow "
            f"that with TUSSOCK_LIMIT_MB={-(-needed // MIB)}"
        )


def check_room(needed: int, what: str) -> None:
    """Refuse to begin what takes ``needed`` MiB of addresses where the limit on them (``ulimit -v``) leaves less.

    Python can answer an array that is too large; libraries end the process.
    """
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY:
            return
        left = most - int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):  # a system without such limits
        return
    if left < needed * MIB:
        raise InputError.of(
            "memory limit", f"must leave {needed:,} MiB for {what}", f"{max(0, left) // MIB:,} MiB",
            "raise it (ulimit -v)",
        )  # fmt: skip


def read_bytes(path: Path) -> bytes:
    """All of a file; one without an end (a device) is an `InputError`, and so is one that cannot be read."""
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            if stat.S_ISBLK(state.st_mode) or (stat.S_ISCHR(state.st_mode) and not file.isatty()):
                raise InputError("is a device; name a plain file", source=path)
            most = max(state.st_size, limit_bytes())
            pieces = [file.read(state.st_size + 1)]
            size = len(pieces[0])
            while state.st_size < size <= most and pieces[-1]:  # a pipe, or one that grows
                pieces.append(file.read(min(size + MIB, most + 1 - size)))
                size += len(pieces[-1])
            data = b"".join(pieces)
    except FileNotFoundError:
        raise InputError("no such file", source=path) from None
    except IsADirectoryError:
        raise InputError("is a folder, not a file", source=path) from None
    except OSError as error:
        raise InputError(f"cannot be read ({reason(error)})", source=path) from None
    except ValueError:
        raise InputError.of("file name", "must not hold the character NUL", str(path)) from None
    if len(data) > most:
        raise InputError(f"goes on and on: more than {most // MIB:,} MiB, and no end", source=path)
    return data


def read_text(path: Path) -> str:
    """All of a text file; what is no text is an `InputError`."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not text in UTF-8 ({error.reason} at byte {error.start})", source=path) from None
