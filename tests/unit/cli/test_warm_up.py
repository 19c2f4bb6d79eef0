"""Compiling is said while it lasts, and can be done beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console

from tussock import kernels
from tussock.cli import console
from tussock.kernels import inline_kernel, kernel


def test_warm_up_says_how_long_and_where(tussock: Callable[..., Any]) -> None:
    status, out, err = tussock("warm-up", "--scans", "--json")
    assert (status, err) == (0, "")
    said = json.loads(out)
    assert list(said["cpu_s"]) == ["scans"] and said["cpu_s"]["scans"] > 0.0
    assert any(Path(said["kept_in"]).glob("loop.plain_pulse_loop-*.nbc"))
    status, out, _ = tussock("warm-up", "--scans")
    assert status == 0 and out.startswith("scans ") and "kept in " in out


def test_a_wait_says_when_it_is_for_the_compiler(monkeypatch) -> None:
    texts = []

    class Status:
        def update(self, text):
            texts.append(str(text))

    monkeypatch.setattr(console, "said", Console(force_terminal=True))
    monkeypatch.setattr(kernels, "keep_compiled", lambda made, stamp: True)  # compiled every time

    @inline_kernel
    def one_more(x):
        return x + 1

    @kernel
    def two_more(x):
        return one_more(one_more(x))

    with console._saying_what_compiles(Status(), "scanning"):
        assert two_more(1) == 3
    assert texts[0] == "scanning: compiling code for this machine, once, 0 kernels so far"
    assert texts[-2:] == ["scanning: compiling code for this machine, once, 1 kernels so far", "scanning"]
    shown = len(texts)
    two_more(2)
    assert len(texts) == shown, "nothing is compiled any more, and nobody listens"
