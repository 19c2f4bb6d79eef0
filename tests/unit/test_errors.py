from __future__ import annotations

import pytest

from tussock.errors import InputError, OutputError, TraceError, TussockError, nearest, shorten


@pytest.mark.parametrize("kind", [InputError, OutputError, TraceError])
def test_one_except_catches_all(kind: type[TussockError]) -> None:
    with pytest.raises(TussockError):
        raise kind("x: is wrong")


def test_the_usual_form() -> None:
    assert str(InputError.of("scale", "must be > 0", -1.5, "use 1")) == "scale: must be > 0, got -1.5; use 1"
    assert str(InputError.of("name", "must be unique", "a")) == "name: must be unique, got 'a'"


def test_a_value_is_shown_on_one_short_line() -> None:
    shown = shorten([[0.0] * 3 for _ in range(100)])
    assert len(shown) == 80
    assert shown.endswith("…")
    assert "\n" not in shorten("two\nlines\r\n and\ttabs")
    assert shorten("x" * 78) == repr("x" * 78)


def test_nearest_names_one_or_all() -> None:
    assert nearest("refelctance", ["reflectance", "color"]) == "did you mean 'reflectance'?"
    assert nearest("qqq", ["b", "a"]) == "known: a, b"
    assert nearest("x", []) == "none is known here"
