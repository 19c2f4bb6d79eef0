"""The command line: one thin file a command, one line for a mistake."""

from __future__ import annotations

import sys

import typer

from tussock.cli import (
    bench,
    check,
    compare,
    dataset,
    demo,
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
    validate,
    view,
    worlds,
)
from tussock.errors import TussockError

__all__ = ["app", "main"]

app = typer.Typer(
    name="tussock",
    help="Range sensors where the ground grows: LIDARs and cameras in grass, leaves and branches.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # plain rich would take the units, as [m], for its own
)
app.command()(demo.demo)
app.command()(scan.scan)
app.command()(stream.stream)
app.command()(replay.replay)
app.command()(render.render)
app.command()(dataset.dataset)
app.command()(worlds.worlds)
app.command()(run.run)
app.command()(check.check)
app.command()(view.view)
app.command()(sensors.sensors)
app.command()(bench.bench)
app.command()(scenes.scenes)
app.command()(motion.motion)
app.command()(pack.pack)
app.command()(pack.unpack)
app.command()(noise.noise)
app.command()(learn.learn)
app.command()(compare.compare)
app.command()(validate.validate)


@app.callback(invoke_without_command=True)
def _root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if version:
        from tussock.version import VERSION

        typer.echo(f"tussock {VERSION}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a mistake is one line on standard error and exit status 2."""
    try:
        status = app(standalone_mode=False)
    except TussockError as error:
        _fail(str(error))
    except MemoryError:
        _fail("out of memory; use a smaller scene or fewer returns")
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        # The parser's own complaints (unknown option, missing argument) know how to say themselves.
        if not hasattr(error, "format_message"):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            typer.echo(error.format_message())
            sys.exit(0)
        _fail(error.format_message())
    else:
        sys.exit(status if isinstance(status, int) else 0)


def _fail(message: str) -> None:
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    sys.exit(2)
