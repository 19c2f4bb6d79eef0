"""Settings as validated models: unknown keys are refused, and a mistake is one line that says where it is.

Every model of a file (sensor, scene, rig) derives from `Settings`. Built from Python or from TOML, a wrong
value raises `InputError` with the path of the field, the rule, the value and, for unknown keys, the nearest
known one.
"""

from __future__ import annotations

import inspect
import tomllib
import typing
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from tussock.errors import InputError, nearest
from tussock.limits import read_text

__all__ = ["Settings", "read_toml"]


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)  # its own name for it is private


class _OneLineErrors(ModelMetaclass):
    """Turns pydantic's report into `InputError` where a model is built by name from Python.

    Nested models are validated without this call, so the outermost model reports the whole path.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except ValidationError as error:
            raise _one_mistake(error, cls, cls.__name__) from None  # type: ignore[arg-type]


class Settings(BaseModel, metaclass=_OneLineErrors):
    """A frozen model that refuses unknown keys, NaN and infinity."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, allow_inf_nan=False)

    @classmethod
    def parse(cls, data: Any, source: str) -> Self:
        """Validate plain data (as read from a file); ``source`` names the file in errors."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise _one_mistake(error, cls, source) from None

    def changed(self, **values: Any) -> Self:
        """A copy with some fields changed, validated again; a key may be dotted (``beam.rays``)."""
        data = self.model_dump(exclude_unset=True)
        for key, value in values.items():
            *parents, last = key.split(".")
            table = data
            for parent in parents:
                table = table.setdefault(parent, {})
                if not isinstance(table, dict):
                    raise InputError.of(key, f"{parent!r} must be a table of settings", table)
            table[last] = value
        return type(self).parse(data, type(self).__name__.lower())


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; a missing or broken one is an `InputError`."""
    try:
        return tomllib.loads(read_text(path))
    except RecursionError:
        raise InputError("is nested too deeply", source=path) from None
    except ValueError as error:  # tomllib's own, and numbers of thousands of digits
        raise InputError(f"not valid TOML: {error}", source=path) from None


def _one_mistake(error: ValidationError, model: type[BaseModel], source: str) -> InputError:
    """The first complaint of pydantic, as ``source: field: rule, got value; remedy`` (and how many more there are)."""
    # A mistyped key is both unknown and missing: the unknown one says more.
    complaints = sorted(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    first = complaints[0]
    where = ".".join(_without_tags(model, first["loc"])) or "settings"
    told = partial(InputError, field=where, source=source, more=len(complaints) - 1)
    if first["type"] == "extra_forbidden":
        *parents, key = first["loc"]
        return told("unknown key", remedy=nearest(str(key), _known_keys(model, parents)))
    if first["type"] == "missing":
        return told("is required")
    rule = first["msg"].removeprefix("Value error, ")
    rule = rule[0].lower() + rule[1:].replace("Input should", "should")
    return told(rule.replace("input should", "should"), given=first["input"])


def _without_tags(model: Any, path: tuple[Any, ...]) -> list[str]:
    """The path as the user wrote it: pydantic adds the tag of a union (``pattern.spinning.steps``)."""
    shown: list[str] = []
    for at, part in enumerate(path):
        models = _models_at(model, path[:at])
        is_field = any(str(part) in candidate.model_fields for candidate in models)
        if is_field or isinstance(part, int) or len(models) < 2 or at + 1 == len(path):
            shown.append(str(part))
    return shown


def _known_keys(model: Any, path: list[Any]) -> list[str]:
    """The keys that a model accepts at ``path`` below it."""
    return sorted({name for candidate in _models_at(model, path) for name in candidate.model_fields})


def _models_at(model: Any, path: Iterable[Any]) -> list[type[BaseModel]]:
    """The models that may stand at ``path`` below a model."""
    models = _models_in(model)
    for part in path:
        found: list[type[BaseModel]] = []
        for candidate in models:
            field = candidate.model_fields.get(str(part))
            # A part that is no field is a list index, a dict key or the tag of a union: stay.
            found += _models_in(field.annotation) if field else [candidate]
        models = found
    return models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in _models_in(part)]
