"""``tussock check``, also ``tussock dataset check``: is a data set whole, and what does it hold?"""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["check"]

_SHOWN = 20


def check(
    dataset: Annotated[
        str, typer.Argument(help="Folder or URL of a data set that `tussock run` or `tussock dataset` made.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Say it as JSON.")] = False,
) -> None:
    """Verify checksums, counts and readability of a data set, and count its labels. Exit status 3: something is wrong."""
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, said, waiting
    from tussock.jobs.check import check_dataset

    with waiting("checking", quiet=as_json):
        found = check_dataset(dataset)
    if as_json:
        print_json(found._asdict())
    else:
        console.print(
            f"{found.files} files, {found.bytes / 1e6:.1f} MB, {found.frames} frames, {found.returns:,} returns",
            markup=False,
        )
        for name, count in sorted(found.classes.items(), key=lambda pair: -pair[1]):
            console.print(f"  {name:<16}{count:>14,}  {count / max(found.returns, 1):6.1%}", markup=False)
        for line in found.wrong[:_SHOWN]:
            said.print(f"wrong: {line}", markup=False)
        if len(found.wrong) > _SHOWN:
            said.print(f"wrong: {len(found.wrong) - _SHOWN} more", markup=False)
        if not found.wrong:
            console.print("whole: every file has its checksum and can be read")
    if found.wrong:
        raise typer.Exit(3)
