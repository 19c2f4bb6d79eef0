"""The cache of compiled code is stamped with what the code depends on, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import tussock
from tussock.kernels import _files_of_kernels


def test_files_of_kernels_and_of_their_constants_are_found(tmp_path):
    (tmp_path / "deep").mkdir()
    files = {
        "kernels.py": "",
        "loop.py": "from tussock.kernels import kernel\nfrom tussock.deep.numbers import (\n    WHOLE,\n    make,\n)\n",
        "deep/numbers.py": "WHOLE = 3\n",
        "deep/words.py": "",
        "deep/inner.py": "from tussock.kernels import inline_kernel\nfrom tussock.deep.words import say\n",
        "talk.py": "# speaks of a kernel and defines none\nfrom tussock.deep.words import LOUD\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = {file.relative_to(tmp_path).as_posix() for file in _files_of_kernels(tmp_path)}
    assert found == {"kernels.py", "loop.py", "deep/numbers.py", "deep/inner.py"}


def test_the_loop_and_its_numbers_are_among_them():
    package = Path(tussock.__file__).parent
    found = {file.relative_to(package).as_posix() for file in _files_of_kernels(package)}
    assert {"pulse/loop.py", "signal/returns.py", "trace/packets.py", "scene/volumes.py", "elementary.py"} <= found
    assert not any(name.startswith(("cli/", "validate/")) for name in found)
    assert all((package / name).is_file() for name in found)
