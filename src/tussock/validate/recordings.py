"""Where other people's recordings lie; none of them is part of the package (``docs/recordings.md`` lists them).

``TUSSOCK_RECORDINGS`` names the folder, or a folder ``shared/data`` stands beside the source or above it. A name that
is no folder hides them all.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["absent", "recording"]


def recording(name: str) -> Path | None:
    """The file of that name (``velodyne/hdl32e_moving.pcap``), or None where it is absent."""
    given = os.environ.get("TUSSOCK_RECORDINGS")
    folders = [Path(given)] if given else [above / "shared" / "data" for above in Path(__file__).resolve().parents]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def absent(name: str) -> str:
    """Why something could not be compared, and what to do."""
    return f"{name} is absent; set TUSSOCK_RECORDINGS to the folder that holds it (docs/recordings.md: where to get it)"
