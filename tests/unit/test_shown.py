"""Things show themselves in one line, and in notebooks with a table and a picture."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import tussock
from tussock.shown import in_words


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """One of every kind that people get back."""
    scene, sensor, pose = tussock.ready_scene("rods"), tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1)
    world, camera = tussock.World(scene), tussock.Camera(width=64, height=36)
    frame = tussock.scan(world, sensor, pose, keep_misses=True)
    path = tussock.Trajectory.through([0, 1], [pose, tussock.Pose.at(1, 0, 2)])
    rig = tussock.Rig(
        path,
        lidars=[tussock.MountedLidar("top", sensor, pose)],
        cameras=[tussock.MountedCamera("front", camera, pose)],
    )
    capture = tmp_path_factory.mktemp("shown") / "run.pcap"
    with tussock.open_recording(capture, sensor) as run:
        run.write(frame)
    datagrams = tussock.read_datagrams(capture)
    pulses = tussock.measured_pulses(frame)
    return {
        "scene": scene, "object": scene.objects[0], "world": world, "sensor": sensor, "frame": frame, "path": path,
        "camera": camera, "view": tussock.look(world, camera, pose), "picture": tussock.render(world, camera, pose),
        "mesh": tussock.box((1, 1, 1)), "placements": tussock.Placements.of(np.zeros((100, 3))), "pulses": sensor.pulses(),
        "measured": pulses, "volumes": tussock.learn_volumes(pulses, voxel=0.5), "rig": rig,
        "moment": next(iter(tussock.capture(rig, world, end=0.1, views=True))), "datagrams": datagrams,
        "packets": tussock.decode_packets(datagrams.select(datagrams.port == 2368).payloads()),
        "terrain": tussock.noise_terrain((10, 10), height=1.0, wavelength=5.0),
    }  # fmt: skip


def test_reprs_are_one_line(things: dict[str, object]) -> None:
    for name, thing in things.items():
        text = repr(thing)
        assert len(text) < 400, name
        assert "\n" not in text, name
        assert "object at 0x" not in text, name
        assert str(thing) == text


def test_they_say_what_matters(things: dict[str, object]) -> None:
    frame = things["frame"]
    assert isinstance(frame, tussock.Frame)
    assert f"{int(frame.hit.sum()):,} of {frame.pulses:,} pulses" in repr(frame)
    assert "vlp-16" in repr(frame) and "rods" in repr(frame)
    assert "thin-rods" in repr(things["scene"]) and "rods" in repr(things["world"])
    assert "16 lasers" in repr(things["sensor"])
    assert "12" in repr(things["mesh"]) and "1 × 1 × 1 m" in repr(things["mesh"])
    assert "0 s to 1 s" in repr(things["path"])
    assert "float64 (100, 3, 4)" in repr(things["placements"])


@pytest.mark.parametrize("name", ["scene", "sensor", "frame", "camera"])
def test_notebooks_show_a_table_and_a_picture(things: dict[str, object], name: str) -> None:
    thing = things[name]
    page, png = thing._repr_html_(), thing._repr_png_()  # type: ignore[attr-defined]
    assert page.startswith("<table>") and "data:image/png;base64," in page
    pixels = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
    assert pixels.shape == (360, 640, 3)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 20, "something is drawn"


@pytest.mark.parametrize(
    "lens",
    [tussock.Fisheye(horizontal_fov_deg=180), tussock.Equirectangular(), tussock.Orthographic(width_m=10)],
    ids=lambda lens: lens.kind,
)
def test_every_lens_has_a_picture(lens: object) -> None:
    assert tussock.Camera(width=60, height=60, lens=lens)._repr_png_()  # type: ignore[arg-type]


def test_what_is_empty_has_no_picture() -> None:
    assert tussock.Scene("empty")._repr_png_() is None
    assert "objects" in tussock.Scene("empty")._repr_html_()
    scene = tussock.Scene("sky")
    scene.add(tussock.box((1, 1, 1)), position=(0, 0, 500))
    frame = tussock.scan(scene, tussock.load_sensor("vlp-16"))
    assert len(frame) == 0
    assert "0 of 28,944 pulses" in repr(frame)
    assert frame._repr_png_() is None


def test_names_are_escaped_in_pages() -> None:
    assert "<b>" not in tussock.Scene("<b>")._repr_html_()


def test_values_in_words() -> None:
    assert in_words(np.zeros((3, 2))) == "float64 (3, 2)"
    assert in_words(0.1) == "0.1"
    assert in_words(dict.fromkeys(range(9), "a" * 20)) == "dict of 9"
    assert in_words(Path("a")) == "PosixPath('a')"
    assert in_words([1, 2]) == "[1, 2]"
