"""The command line: one thin file a command, one line for a mistake."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import warnings
from contextlib import suppress

import typer

from tussock.cli import (
    bench,
    check,
    compare,
    dataset,
    demo,
    drive,
    learn,
    motion,
    noise,
    pack,
    render,
    replay,
    run,
    scan,
    scenes,
    sensors,
    stream,
    studio,
    validate,
    view,
    warm_up,
    worlds,
)
from tussock.cli.interrupt import watch, what_is_kept
from tussock.cli.options import Command, Commands
from tussock.cli.parser_words import in_our_form
from tussock.errors import TussockError, TussockWarning, in_words, visible

__all__ = ["app", "main"]

app = typer.Typer(
    name="tussock",
    cls=Commands,
    help="Range sensors where the ground grows: LIDARs and cameras in grass, leaves and branches.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # plain rich would take the units, as [m], for its own
)
for command in (
    demo.demo, scan.scan, stream.stream, replay.replay, render.render, dataset.dataset, worlds.worlds, run.run, check.check,
    drive.drive, studio.studio, view.view, sensors.sensors, bench.bench, scenes.scenes, motion.motion, pack.pack, pack.unpack,
    noise.noise, learn.learn, compare.compare, validate.validate, warm_up.warm_up,
):  # fmt: skip
    app.command(cls=dataset.DatasetCommand if command is dataset.dataset else Command)(command)


@app.callback(invoke_without_command=True)
def _root(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
    isa: str = typer.Option("", help="Instructions that trace rays: native, or pinned: avx2, sse4.2, avx, avx512."),
    edges: str = typer.Option("", help="Who decides right at edges: embree, or own arithmetic."),
) -> None:
    if isa or edges:
        from tussock.trace.embree import chosen_edges, chosen_isa

        chosen_isa(isa or None)
        chosen_edges(edges or None)
    for name, given in (("TUSSOCK_ISA", isa), ("TUSSOCK_EDGES", edges)):
        if given:  # for this process and those that it starts
            os.environ[name] = given
    if version:
        from tussock.version import VERSION

        typer.echo(f"tussock {VERSION}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a mistake is one line on standard error and exit status 2."""
    for channel in (sys.stdout, sys.stderr):
        if isinstance(channel, io.TextIOWrapper):
            channel.reconfigure(errors="backslashreplace")  # a name that is no text must not stop a message
    with watch(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what libraries think of numbers and of each other is not for people here
        warnings.simplefilter("default", TussockWarning)
        warnings.showwarning = _note
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it complains where it has no folder for its caches
        status = _run()
    sys.exit(status)


def _note(message: Warning | str, *_: object, **__: object) -> None:
    from tussock.cli.console import note

    note(str(message))


def _run() -> int:
    """The exit status of the command."""
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        _write(f"interrupted; {what_is_kept()}")
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except Exception as error:
        return _failed(error)
    return status if isinstance(status, int) else 0


def _failed(error: Exception) -> int:
    """The one net for what can go wrong on purpose, in the system, or in the parser; the rest is a mistake of ours."""
    if isinstance(error, TussockError):
        return _say(in_options(str(error)))
    if isinstance(error, MemoryError):
        return _say("out of memory; use a smaller scene or fewer returns")
    if isinstance(error, RecursionError):
        return _say("what was given is nested too deeply; make it flatter")
    if isinstance(error, OSError):
        _drop_output()
        return _say(in_words(error))
    # What is left are the parser's own complaints (unknown option, missing argument, a value of another kind).
    if not hasattr(error, "format_message"):
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.format_message())
        return 0
    return _say(in_our_form(error))


def in_options(message: str) -> str:
    """What a message asks for in Python's words (``force=True``), in those of the command line (``--force``)."""
    return re.sub(r"\b([a-z_]+)=True\b", lambda found: "--" + found[1].replace("_", "-"), message)


def _say(message: str) -> int:
    _write(f"error: {' '.join(message.split())}")
    return 2


def _write(line: str) -> None:
    with suppress(OSError):
        typer.echo(visible(line), err=True)


def _drop_output() -> None:
    """Where standard output cannot be written, drop what is left of it: Python would complain once more at its end."""
    with suppress(OSError):
        sys.stdout.flush()
        return
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
