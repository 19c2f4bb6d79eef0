"""Several sensors in one capture, told apart by who sent a datagram and to which port.

A unit is named as briefly as it can be told from the others: by its address, by address and the port that it sends
to (``192.168.1.201:2368``), or in full with the port that it sends from (``192.168.1.201:443>2368``).
"""

from __future__ import annotations

from tussock.errors import InputError
from tussock.wire.captures.datagrams import Datagrams, Sender

__all__ = ["choose_unit", "unit_names"]


def choose_unit(datagrams: Datagrams, unit: str | None = None) -> Datagrams:
    """The datagrams of one unit; where there are several, ``unit`` must name one."""
    senders = datagrams.senders()
    names = unit_names(senders)
    if unit is None:
        if len(senders) <= 1:
            return datagrams
        raise InputError(
            f"{datagrams.path}: holds packets of {len(senders)} units, {_listed(senders, names)}; choose one with --unit"
        )
    meant = [sender for sender, name in zip(senders, names, strict=True) if unit in {name, *_forms(sender)}]
    if len(meant) == 1:
        return datagrams.select(meant[0].rows)
    rule = "must name one unit, but several answer to it" if meant else "no unit has this name"
    raise InputError.of("unit", rule, unit, f"{datagrams.path} holds {_listed(senders, names)}")


def unit_names(senders: list[Sender]) -> list[str]:
    """The shortest name of each that none of the others answers to."""
    forms = [_forms(sender) for sender in senders]
    names = []
    for mine, own in enumerate(forms):
        others = {form for other, theirs in enumerate(forms) if other != mine for form in theirs}
        names.append(next((form for form in own if form not in others), own[-1]))
    return names


def _forms(sender: Sender) -> list[str]:
    """From the shortest to the one that says all."""
    host = f"[{sender.source}]" if ":" in sender.source else sender.source
    return [sender.source, f"{host}:{sender.port}", str(sender), f"{sender}@{sender.lane}"]


def _listed(senders: list[Sender], names: list[str]) -> str:
    shown = [f"{name} ({len(sender.rows)} packets)" for sender, name in zip(senders, names, strict=True)]
    if len(shown) > 5:
        shown = [*shown[:4], f"{len(shown) - 4} more"]
    return ", ".join(shown[:-1]) + (" and " if len(shown) > 1 else "") + shown[-1] if shown else "none"
