"""``--set key=value``: any setting of a sensor from the command line."""

from __future__ import annotations

import tomllib
from typing import Any

from tussock.errors import InputError

__all__ = ["parse_settings"]


def parse_settings(texts: list[str]) -> dict[str, Any]:
    """``beam.rays=9`` and the like as a dict; a value is read as TOML, and as plain text where it is not."""
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError.of("--set", "must be key=value", text, "for example --set beam.rays=9")
        try:
            values[key.strip()] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            values[key.strip()] = value.strip()
    return values
