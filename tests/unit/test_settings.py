from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from tussock.errors import InputError
from tussock.settings import Settings, read_toml


class Lens(Settings):
    focus_m: Annotated[float, Field(gt=0.0)] = 1.0
    coating: str = "none"


class Round(Settings):
    kind: Literal["round"] = "round"
    radius_m: float = 1.0


class Square(Settings):
    kind: Literal["square"] = "square"
    side_m: float = 1.0


class Camera(Settings):
    name: str
    lens: Lens = Lens()
    spares: tuple[Lens, ...] = ()
    opening: Annotated[Round | Square, Field(discriminator="kind")] = Round()
    near_m: float = 0.0
    far_m: float = 10.0

    @model_validator(mode="after")
    def _ordered(self) -> Camera:
        if self.near_m >= self.far_m:
            raise ValueError(f"near_m must be below far_m ({self.far_m:g})")
        return self


def said(**data: object) -> str:
    with pytest.raises(InputError) as caught:
        Camera.parse(data, "camera.toml")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("camera.toml: ")
    return text.removeprefix("camera.toml: ")


def test_unknown_keys_are_refused_with_the_nearest() -> None:
    assert said(name="a", lense={}) == "lense: unknown key; did you mean 'lens'?"
    assert said(name="a", lens={"focus": 2}) == "lens.focus: unknown key; did you mean 'focus_m'?"
    assert said(name="a", spares=[{}, {"coatin": "x"}]) == "spares.1.coatin: unknown key; did you mean 'coating'?"
    wrong = {"kind": "square", "radius_m": 1.0}
    assert said(name="a", opening=wrong).startswith("opening.radius_m: unknown key; ")


def test_a_mistyped_key_is_called_unknown_before_missing() -> None:
    assert said(nam="a") == "nam: unknown key; did you mean 'name'? (and 1 more)"


def test_rules_are_said_with_field_and_value() -> None:
    assert said() == "name: is required"
    assert said(name="a", lens={"focus_m": -2}) == "lens.focus_m: should be greater than 0, got -2"
    assert said(name="a", lens={"focus_m": "wide"}).startswith("lens.focus_m: should be a valid number")
    assert said(name="a", near_m=11.0).startswith("settings: near_m must be below far_m (10), got ")
    assert said(name="a", opening={"kind": "star"}).startswith("opening: ")


def test_the_same_from_python() -> None:
    with pytest.raises(InputError, match=r"^Camera: lens\.focus_m: should be greater than 0, got -1\.0$"):
        Camera(name="a", lens={"focus_m": -1.0})
    with pytest.raises(InputError, match=r"^Lens: focus: unknown key; did you mean 'focus_m'\?$"):
        Lens(focus=3)


def test_settings_are_frozen() -> None:
    camera = Camera(name="a")
    with pytest.raises(Exception, match="frozen"):
        camera.name = "b"
    assert Camera(name="a") == camera
    assert hash(Camera(name="a")) == hash(camera)


def test_a_changed_copy_is_checked_again() -> None:
    camera = Camera(name="a", lens=Lens(focus_m=2.0))
    changed = camera.changed(**{"lens.coating": "blue", "far_m": 20.0})
    assert (changed.lens.coating, changed.lens.focus_m, changed.far_m) == ("blue", 2.0, 20.0)
    assert camera.far_m == 10.0
    with pytest.raises(InputError, match=r"^camera: lens\.focus_m: should be greater than 0, got 0$"):
        camera.changed(**{"lens.focus_m": 0})
    with pytest.raises(InputError, match=r"unknown key; did you mean 'far_m'"):
        camera.changed(far=1)
    with pytest.raises(InputError, match="must be a table of settings"):
        camera.changed(**{"name.first": "x"})


def test_reading_toml(tmp_path: Path) -> None:
    good = tmp_path / "good.toml"
    good.write_text('name = "a"\n[lens]\nfocus_m = 3\n')
    assert Camera.parse(read_toml(good), "x").lens.focus_m == 3.0
    (tmp_path / "broken.toml").write_text("name = \n")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "digits.toml").write_text("a = " + "9" * 4301)
    (tmp_path / "deep.toml").write_text("a = " + "[" * 5000)
    for name, rule in [
        ("none.toml", "no such file"),
        ("broken.toml", "not valid TOML"),
        ("binary.toml", "is not text in UTF-8"),
        ("digits.toml", "not valid TOML: .*digits"),
        ("deep.toml", "is nested too deeply"),
        ("nul\0.toml", "must not hold the character NUL"),
        (".", "is a folder"),
    ]:
        with pytest.raises(InputError, match=rule) as caught:
            read_toml(tmp_path / name)
        assert "\n" not in str(caught.value)
        assert str(tmp_path) in str(caught.value)
