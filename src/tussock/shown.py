"""How things show themselves: one line in Python, a table and, where it helps, a picture in notebooks.

A class that derives from `Shown` tells its `_facts`, in words. Data classes need not: their fields are told, arrays by
type and shape (give the decorator ``repr=False``, or it writes a repr of its own). Pictures are made by
`tussock.plots.notebook`, which stands above all that is shown; it is looked up when a notebook asks.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sized
from dataclasses import fields
from html import escape
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

__all__ = ["Shown", "in_words"]

_LONGEST = 60
_PICTURES = "tussock.plots.notebook"


def in_words(value: object) -> str:
    """A value in few words: an array by type and shape, a long or nested one by its kind and length."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, float):
        return f"{value:g}"
    text = repr(value)
    if len(text) <= _LONGEST and "\n" not in text:
        return text
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, Sized) else type(value).__name__


class Shown:
    """Something with a repr of one line, a table in notebooks, and a picture there if ``_pictured``."""

    _pictured: ClassVar[bool] = False

    def _facts(self) -> Mapping[str, object]:
        """What there is to know at a glance, by name; the values are texts, or made so by `in_words`."""
        thing: Any = self
        told = {field.name: getattr(self, field.name) for field in fields(thing) if field.repr}
        return {name: value for name, value in told.items() if value is not None}

    def __repr__(self) -> str:
        told = (
            f"{name} {value if isinstance(value, str) else in_words(value)}" for name, value in self._facts().items()
        )
        return f"{type(self).__name__}({'; '.join(told)})"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        cells = (
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(value if isinstance(value, str) else in_words(value))}</td></tr>"
            for name, value in self._facts().items()
        )
        table = f"<table><caption>{type(self).__name__}</caption>{''.join(cells)}</table>"
        png = self._repr_png_()
        if png is None:
            return table
        return f"{table}<img alt='{type(self).__name__}' src='data:image/png;base64,{base64.b64encode(png).decode()}'>"

    def _repr_png_(self) -> bytes | None:
        """A small picture, or None; a picture that cannot be made must not hide the table."""
        if not self._pictured:
            return None
        picture: Any = import_module(_PICTURES).picture_of
        png: bytes | None = picture(self)
        return png
