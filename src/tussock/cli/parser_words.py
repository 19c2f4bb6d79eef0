"""What the parser of the command line complains of, in the form that all our messages have."""

from __future__ import annotations

from typing import Any

from tussock.errors import InputError

__all__ = ["in_our_form"]

_RULES = {
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "must be a whole number of at most 4300 digits",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
}
"""kind of pydantic's complaint, by which Typer reads values: our rule"""


def in_our_form(error: Any) -> str:
    """``--rays: must be a whole number, got 'banana'; see tussock scan --help``.

    Complaints that have no value (an unknown option, a missing argument) know how to say themselves.
    """
    about, mistakes = getattr(error, "param", None), getattr(error.__cause__, "errors", None)
    if about is None or mistakes is None:
        return str(error.format_message())
    mistake = mistakes()[0]
    rule = _RULES.get(mistake["type"]) or mistake["msg"].replace("Input should be", "must be")
    option = max(about.opts, key=len) if about.opts[0].startswith("-") else about.name
    command = f" {error.ctx.info_name}" if error.ctx is not None else ""
    return str(InputError.of(option, rule, mistake["input"], f"see tussock{command} --help"))
