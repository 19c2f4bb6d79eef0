"""``HOST:PORT`` as people write it, and where that is."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Any

from tussock.errors import InputError, OutputError

__all__ = ["Endpoint", "open_sender"]


@dataclass(frozen=True)
class Endpoint:
    """One place on the network that datagrams are sent to.

    >>> tussock.Endpoint.parse("127.0.0.1:2368").port
    2368
    """

    host: str
    port: int
    family: int = socket.AF_INET
    address: tuple[Any, ...] = ()
    """as the socket wants it"""
    source: str = ""
    """address of ours that datagrams leave from; empty: the system's choice"""
    source_port: int = 0
    """port of ours that they leave from; 0: the system's choice"""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Read ``HOST:PORT`` or ``[IPv6]:PORT`` and look the host up."""
        host, colon, port_text = text.strip().rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not colon or not host or (":" in host and not text.strip().startswith("[")):
            raise InputError.of("address", "must be HOST:PORT", text, "for example 127.0.0.1:2368")
        if not (port_text.isascii() and port_text.isdigit()) or not 1 <= int(port_text) <= 65535:
            raise InputError.of("port", "must be a whole number from 1 to 65535", port_text)
        try:
            found = socket.getaddrinfo(host, int(port_text), type=socket.SOCK_DGRAM)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise InputError(f"address {text}: the host {host!r} cannot be found ({why})") from None
        family, _, _, _, address = found[0]
        return cls(host, int(port_text), family, address)


def open_sender(endpoint: Endpoint) -> socket.socket:
    """A datagram socket for an endpoint; it is bound to no port, and left unconnected: with nobody listening the
    system would report errors from the other side as ours."""
    try:
        sender = socket.socket(endpoint.family, socket.SOCK_DGRAM)
        if endpoint.source_port:  # left from by several, when a driver asks for packets elsewhere
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if endpoint.source:
            sender.bind((endpoint.source, endpoint.source_port))
        if endpoint.family == socket.AF_INET:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    except OSError as error:
        raise OutputError(f"{endpoint}: no socket can be opened ({error.strerror})") from None
    return sender
