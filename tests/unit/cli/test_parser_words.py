"""A value of another kind, for every option of every command that takes a number."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest

from tussock.cli.app import app


def numbers_taken() -> Iterator[tuple[str, str, bool]]:
    """Command, option, and whether it takes whole numbers only."""
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        for field, parameter in inspect.signature(command.callback, eval_str=True).parameters.items():
            if get_origin(parameter.annotation) is not Annotated:
                continue
            kind, option = get_args(parameter.annotation)[:2]
            kinds = {kind, *get_args(kind)}
            words = (getattr(option, "default", None), *(getattr(option, "param_decls", None) or ()))
            spelled = [word for word in words if isinstance(word, str) and word.startswith("--")]
            if type(option).__name__ == "OptionInfo" and kinds & {int, float} and bool not in kinds:
                yield name, (spelled or [f"--{field.replace('_', '-')}"])[0].split("/")[0], float not in kinds


NUMBERS = sorted(set(numbers_taken()))


def test_there_are_many() -> None:
    assert len(NUMBERS) > 50


@pytest.mark.parametrize(("command", "option", "whole"), NUMBERS)
def test_a_word_for_a_number(command: str, option: str, whole: bool, tussock: Callable[..., Any]) -> None:
    status, out, told = tussock(command, option, "banana")
    kind = "a whole number" if whole else "a number"
    assert told == f"error: {option}: must be {kind}, got 'banana'; see tussock {command} --help\n"
    assert (status, out) == (2, "")


def test_a_number_outside_its_limits(tussock: Callable[..., Any]) -> None:
    status, _, told = tussock("replay", "a.pcap", "--port", "70000")
    assert status == 2
    assert "--port: must be less than or equal to 65535, got '70000'; see tussock replay --help" in told


def test_what_has_no_value_speaks_for_itself(tussock: Callable[..., Any]) -> None:
    assert tussock("scan", "--no-such-option")[2].startswith("error: No such option: --no-such-option")
    assert "Missing argument" in tussock("scan")[2]
