"""The server of a page in the browser (viser, extra ``view``): refused addresses are said, and strangers kept out.

viser tries other ports for ever where an address is none of this machine's, and talks to whoever connects. Any page that
is open in the same browser could: browsers let pages connect to this machine, and say only from where they come
(``Origin``). So a connection must come from the page that was served here.
"""

from __future__ import annotations

import http
import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tussock.errors import InputError, OutputError, cause, reason
from tussock.extras import load_extra

__all__ = ["is_own_page", "open_page_server"]

_changing = threading.Lock()


def open_page_server(host: str, port: int, label: str) -> Any:
    """A `viser.ViserServer` at ``host``, at the first free port from ``port`` on."""
    if not 0 <= port <= 65535:
        raise InputError.of("port", "must be from 0 to 65535", port)
    viser = load_extra("viser", extra="view", purpose="the viewer")
    _check_address(host)
    try:
        with _only_own_pages(host):
            return viser.ViserServer(host=host, port=port, label=label, verbose=False)
    except OSError as error:
        raise OutputError(f"{host}:{port}: cannot be listened at ({reason(error)}); pass another port") from None


def _check_address(host: str) -> None:
    if "\0" in host:
        raise InputError.of("host", "must be a name or an address of this machine", host)
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, kind) as tried:
            tried.bind(address)
    except (OSError, UnicodeError) as error:
        why = cause(error)
        raise InputError.of(
            "host",
            f"must be an address of this machine ({why})",
            host,
            "127.0.0.1 serves this machine, 0.0.0.0 others too",
        ) from None


def is_own_page(origin: str | None, asked: str | None, host: str) -> bool:
    """Whether a connection comes from the page that is served here, or from no page at all.

    ``origin`` and ``asked`` are the headers Origin and Host; ``host`` is the address that is served. On a local address the
    name must be local too: another one may be made to lead here.
    """
    if origin is None:
        return True
    try:
        page = urlsplit(origin)
        own = urlsplit(f"//{asked or ''}")
        same = (page.hostname, page.port) == (own.hostname, own.port) and page.hostname is not None
    except ValueError:
        return False
    return same and (_is_local(page.hostname) or not _is_local(host))


def _is_local(name: str | None) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name or "").is_loopback
    except ValueError:
        return False


@contextmanager
def _only_own_pages(host: str) -> Iterator[None]:
    """Within the block a server of websockets is made that refuses connections from other pages."""
    load_extra("websockets.asyncio.server", extra="view", purpose="the viewer")
    module: Any = sys.modules["websockets.asyncio.server"]
    real = module.serve

    def serve(*words: Any, process_request: Any = None, **more: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            if not is_own_page(request.headers.get("Origin"), request.headers.get("Host"), host):
                return connection.respond(http.HTTPStatus.FORBIDDEN, "This page may not look here.\n")
            return process_request(connection, request) if process_request else None

        return real(*words, process_request=checked, **more)

    with _changing:
        module.serve = serve
        try:
            yield
        finally:
            module.serve = real
