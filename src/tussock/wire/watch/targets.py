"""Where frames are shown, as people write it on the command line.

foxglove, foxglove:PORT, foxglove:HOST:PORT       a server for the Foxglove app, 127.0.0.1:8765 if not said
rerun, rerun:HOST:PORT, rerun:FILE.rrd            a Rerun viewer that listens, 127.0.0.1:9876 if not said, or a file
dds, dds:DOMAIN, dds:DOMAIN@INTERFACE             ROS 2 topics, domain 0 on the loopback interface if not said
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tussock.errors import InputError
from tussock.wire.watch.dds import DdsWatcher
from tussock.wire.watch.foxglove import FoxgloveWatcher
from tussock.wire.watch.rerun import RerunWatcher
from tussock.wire.watch.seen import Watcher

__all__ = ["WATCHERS", "is_watcher", "open_watcher"]

WATCHERS = ("foxglove", "rerun", "dds")


def is_watcher(text: str) -> bool:
    """Whether this names a place to look, not an address for packets."""
    return text.strip().partition(":")[0].lower() in WATCHERS


def open_watcher(text: str, names: Sequence[str] = (), *, pictures: bool = False) -> Watcher:
    """Open one for sensors of these names; a mistake, a missing library or a port that is taken is one line."""
    kind, _, rest = text.strip().partition(":")
    match kind.lower():
        case "foxglove":
            return FoxgloveWatcher(*_address(text, rest, 8765), names=names, pictures=pictures)
        case "rerun":
            if rest.endswith(".rrd"):
                return RerunWatcher(path=Path(rest))
            return RerunWatcher(*_address(text, rest, 9876))
        case "dds":
            domain, _, interface = rest.partition("@")
            if domain and not domain.isdigit():
                raise InputError.of("--to", "must be dds, dds:DOMAIN or dds:DOMAIN@INTERFACE", text)
            return DdsWatcher(int(domain or 0), interface or "lo")
    raise InputError.of("--to", "must begin with one of " + ", ".join(WATCHERS), text)


def _address(text: str, rest: str, port: int) -> tuple[str, int]:
    host, _, number = rest.rpartition(":")
    if not rest:
        return "127.0.0.1", port
    if not number.isdigit() or not 0 <= int(number) <= 65535:
        raise InputError.of("--to", "must end in a port, as foxglove:8765 or foxglove:HOST:PORT", text)
    return host or "127.0.0.1", int(number)
