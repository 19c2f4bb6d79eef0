"""Numbers of settings are finite, whichever model they stand in and however deep."""

from __future__ import annotations

import importlib
import math
import pkgutil
from typing import Any

import pytest
from pydantic import ValidationError

import tussock
from tussock.settings import Settings

for module in pkgutil.walk_packages(tussock.__path__, "tussock."):
    if not module.name.startswith(("tussock.blender.inside", "tussock.cli")):
        importlib.import_module(module.name)


def all_settings(model: type[Settings] = Settings) -> list[type[Settings]]:
    below = model.__subclasses__()
    return [*below, *(deeper for one in below for deeper in all_settings(one))]


def holds_numbers(annotation: Any) -> bool:
    return annotation is float or any(holds_numbers(part) for part in getattr(annotation, "__args__", ()))


FIELDS = sorted(
    {
        (model.__module__, model.__name__, name): (model, name)
        for model in all_settings()
        for name, field in model.model_fields.items()
        if model.__module__.startswith("tussock.") and holds_numbers(field.annotation)
    }.items()
)


def test_there_are_such_fields() -> None:
    assert len(FIELDS) > 100


@pytest.mark.parametrize(("model", "name"), [one[1] for one in FIELDS], ids=[".".join(one[0][1:]) for one in FIELDS])
def test_every_number_is_finite(model: type[Settings], name: str) -> None:
    for bad in (math.nan, math.inf, -math.inf):
        for given in (bad, [bad, bad], [bad, bad, bad], [[bad, bad, bad]], [[bad, bad]] * 3, [bad] * 4, {"a": bad}):
            with pytest.raises(ValidationError) as caught:
                model.model_validate({name: given})
            assert any(complaint["loc"][:1] == (name,) for complaint in caught.value.errors()), given
