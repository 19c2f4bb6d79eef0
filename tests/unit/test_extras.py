"""Optional libraries are imported late, and do nothing to the program by that."""

from __future__ import annotations

import signal
import sys

import pytest

from tussock.errors import InputError
from tussock.extras import load_extra


def test_what_is_missing_is_named_with_its_extra():
    with pytest.raises(
        InputError, match=r"^a shrubbery needs nobody_has_this; install it with: pip install 'tussock\[x\]'$"
    ):
        load_extra("nobody_has_this.inside", extra="x", purpose="a shrubbery")


def test_a_library_that_lacks_one_of_its_own_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "a_broken_library.py").write_text("import nobody_has_this_either\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nobody_has_this_either"):
        load_extra("a_broken_library", extra="x", purpose="a shrubbery")


def test_an_import_does_not_change_what_an_interrupt_does(tmp_path, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    (tmp_path / "a_library_that_catches.py").write_text(
        "import signal\nsignal.signal(signal.SIGINT, lambda *_: None)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert load_extra("a_library_that_catches", extra="x", purpose="a shrubbery").signal is signal
    assert signal.getsignal(signal.SIGINT) is before
    sys.modules.pop("a_library_that_catches")
