"""Names of scenes, objects and files are shown as they are: no markup, no escape sequences."""

from __future__ import annotations

import json

import pytest

SCENE = """
name = {name}
[[objects]]
name = {name}
plane = {{size_m = [60, 60]}}
[objects.motion]
times_s = [0, 1]
positions_m = [[0, 0, 0], [1, 0, 0]]
"""
NAMES = ["[/bold]", "[red]x", "a[/]b", ":smile:", "[link=http://a.b]c", "\x1b[31mred\x07", "\x9b31m", "\u202eabc"]


@pytest.mark.parametrize("name", NAMES)
def test_in_a_scene(tussock, tmp_path, name):
    (tmp_path / "s.toml").write_text(SCENE.format(name=json.dumps(name)))
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    status, out, err = tussock("scan", "s.toml", "--sensor", "vlp-16", "--out", "f.npz")
    assert (status, err) == (0, "")
    assert out.startswith(f"{shown}: 2 triangles")
    status, out, err = tussock("render", "s.toml", "--size", "16x8", "--out", "f.png")
    assert (status, err, out.startswith(f"{shown}: 2 triangles")) == (0, "", True)
    status, out, err = tussock("scan", "s.toml", "--sensor", name, "--out", "g.npz")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert all(c.isprintable() for c in err.rstrip("\n"))


@pytest.mark.parametrize("name", ["a[red]b", "[bold]", ":smile:", "x\x1b[31m", "y\udcff"])
def test_of_files(tussock, tmp_path, name):
    (tmp_path / f"{name}.toml").write_text(SCENE.format(name='"s"'))
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    for command in (
        ["scan", f"{name}.toml", "--sensor", "vlp-16", "--out", f"{name}.npz"],
        ["render", f"{name}.toml", "--size", "16x8", "--out", f"{name}.png"],
        ["motion", f"{name}.toml", "--out", f"{name}.csv"],
        ["pack", f"{name}.toml", "--out", f"{name}.tussock"],
    ):
        status, out, err = tussock(*command)
        assert (status, err) == (0, ""), command
        assert f"{shown}.{command[-1].rpartition('.')[2]}" in out
        assert (tmp_path / command[-1]).exists()
    status, out, err = tussock("unpack", f"{name}.tussock", "--out", f"{name}")
    assert (status, err, out.rstrip().endswith(f"into {shown}")) == (0, "", True)
    status, out, err = tussock("scan", f"{name}.tom", "--sensor", "vlp-16", "--out", "f.npz")
    assert (status, out) == (2, "")
    assert "\x1b" not in err
