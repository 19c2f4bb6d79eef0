from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from tussock.errors import NOT_GIVEN, InputError, OutputError, TraceError, TussockError, nearest, shorten
from tussock.sensors.beam import Beam


@pytest.mark.parametrize("kind", [InputError, OutputError, TraceError])
def test_one_except_catches_all(kind: type[TussockError]) -> None:
    with pytest.raises(TussockError):
        raise kind("x: is wrong")


def test_the_usual_form() -> None:
    assert str(InputError.of("scale", "must be > 0", -1.5, "use 1")) == "scale: must be > 0, got -1.5; use 1"
    assert str(InputError.of("name", "must be unique", "a")) == "name: must be unique, got 'a'"


def test_each_part_is_an_attribute() -> None:
    error = InputError.of("scale", "must be > 0", -1.5, "use 1", source=Path("scene.toml"))
    assert (error.sources, error.field, error.rule) == (("scene.toml",), "scale", "must be > 0")
    assert (error.given, error.remedy, error.more) == (-1.5, "use 1", 0)
    plain = InputError("no such file", source="a.pcd")
    assert str(plain) == "a.pcd: no such file" and plain.given is NOT_GIVEN and plain.field == plain.remedy == ""
    assert str(InputError("must be given", field="name", given=None)) == "name: must be given, got None"


def test_a_mistake_is_told_of_each_source_once() -> None:
    error = InputError("holds no triangles", source="a.obj").within("a.obj").within("objects.1").within("scene.toml")
    assert str(error) == "scene.toml: objects.1: a.obj: holds no triangles"
    assert error.sources == ("scene.toml", "objects.1", "a.obj")
    # a name that begins like the source is none
    assert str(InputError("x: is wrong").within("x")) == "x: x: is wrong"


def test_settings_fill_in_the_parts() -> None:
    with pytest.raises(InputError) as caught:
        Beam.parse({"ray": 3, "rays": -1}, "beam.toml")
    error = caught.value
    assert (error.sources, error.field, error.rule, error.more) == (("beam.toml",), "ray", "unknown key", 1)
    assert error.remedy == "did you mean 'rays'?" and str(error).endswith("(and 1 more)")
    with pytest.raises(InputError) as caught:
        Beam(rays=-1)
    assert (caught.value.field, caught.value.given, caught.value.sources) == ("rays", -1, ("Beam",))


def test_errors_come_whole_out_of_another_process() -> None:
    error = InputError.of("scale", "must be > 0", -1.5, "use 1", source="a.toml").within("b.toml")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.__dict__ == error.__dict__
    assert pickle.loads(pickle.dumps(InputError("is wrong"))).given is NOT_GIVEN


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
