"""The wrapper around Embree: errors surface with their text, what is made is released, masks hide."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import TraceError
from tussock.kernels import kernel
from tussock.trace.embree import (
    MAX_TIME_STEPS,
    BufferType,
    Device,
    Format,
    GeometryType,
    RawScene,
    library_path,
)
from tussock.trace.packets import _INST, LANES, NOTHING, hit_at, intersect, load_ray, new_packet
from tussock.trace.ray import Ray

SQUARE = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], np.float32)
HALVES = np.array([[0, 1, 2], [0, 2, 3]], np.uint32)


@kernel
def _look_down(scene: int, mask: int, lanes_in_use: int, xs: np.ndarray, found: np.ndarray) -> None:
    """Rays from 10 m above x = ``xs``; ``found`` gets range, geometry, primitive, instance and copy."""
    packet = new_packet()
    for l in range(LANES):
        load_ray(packet, l, Ray(xs[l], 0.25, 10.0, 0.0, 0.0, -1.0, 0.0, 100.0, 0.5), mask)
        if l >= lanes_in_use:
            packet.masks[l] = 0
    intersect(scene, packet, 0)
    for l in range(LANES):
        hit = hit_at(packet, l)
        found[l, 0], found[l, 1], found[l, 2] = hit.distance, hit.geometry, hit.primitive
        found[l, 3], found[l, 4] = packet.bits[_INST + l], hit.copy


def look_down(scene: RawScene, mask: int = 0xFFFFFFFF, lanes: int = LANES) -> np.ndarray:
    found = np.zeros((LANES, 5))
    _look_down(scene.handle, mask, lanes, np.linspace(-2, 2, LANES).astype(np.float32), found)
    return found


def square_at(device: Device, height: float, mask: int) -> object:
    lifted = SQUARE + np.array([0, 0, height], np.float32)
    return device.geometry(GeometryType.TRIANGLE).triangles(lifted, HALVES).mask(mask).commit()


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )


def test_version() -> None:
    assert Device().version.startswith("4.")


def test_the_wheel_carries_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TUSSOCK_EMBREE", raising=False)
    assert Path(library_path()).is_file()
    monkeypatch.setenv("TUSSOCK_EMBREE", "/somewhere/libembree4.so")
    assert library_path() == "/somewhere/libembree4.so"


@pytest.mark.parametrize("kind", ["missing", "not a library", "another library"])
def test_a_library_that_cannot_be_used_is_one_clear_line(kind: str, tmp_path: Path) -> None:
    bad = str(tmp_path / "libembree4.so")
    if kind == "not a library":
        Path(bad).write_text("text")
    if kind == "another library":
        bad = "libm.so.6"
    code = (
        "from tussock.errors import TraceError\n"
        "from tussock.trace.embree import Device\n"
        "try:\n    Device()\n"
        "except TraceError as error:\n    print(error)\n"
    )
    done = run(code, TUSSOCK_EMBREE=bad)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1, done.stdout
    assert done.stdout.startswith(f"{bad}: cannot be used as the Embree 4 library (")


def test_embree_errors_carry_embrees_text() -> None:
    device = Device()
    with pytest.raises(TraceError, match=r"^creating a geometry: Embree reports \w+ \w+: invalid geometry type$"):
        device.geometry(99)  # type: ignore[arg-type]
    geometry = device.geometry(GeometryType.TRIANGLE)
    with pytest.raises(TraceError, match=r"^reserving a geometry buffer: Embree reports invalid \w+"):
        geometry.copy_in(BufferType.TRANSFORM, SQUARE, Format.FLOAT3)
    shape = device.scene().commit()
    too_many = np.zeros((MAX_TIME_STEPS + 1, 1, 12), np.float32)
    with pytest.raises(TraceError, match="Embree reports invalid"):
        device.geometry(GeometryType.INSTANCE_ARRAY).instances(shape, too_many).commit()
    with pytest.raises(TraceError, match="must be contiguous"):
        geometry.share(BufferType.VERTEX, np.zeros((4, 6), np.float32)[:, ::2], Format.FLOAT3)
    square_at(device, 0, 1)  # an error once told is over


def test_nearest_hit_and_idle_lanes() -> None:
    device = Device()
    scene = device.scene()
    scene.attach(square_at(device, 0.0, 1), 7)
    scene.attach(square_at(device, 3.0, 1), 4)
    scene.commit()
    found = look_down(scene, lanes=10)
    inside = np.abs(np.linspace(-2, 2, LANES)) < 1
    assert np.allclose(found[:10][inside[:10], 0], 7), "the upper one"
    assert (found[:10][inside[:10], 1] == 4).all()
    assert (found[10:, 0] == 100).all(), "idle lanes are left alone"
    assert (found[~inside, 1] == NOTHING).all()


def test_a_ray_sees_what_shares_a_bit_with_its_mask() -> None:
    device = Device()
    scene = device.scene()
    scene.attach(square_at(device, 0.0, 0b01), 0)
    scene.attach(square_at(device, 3.0, 0b10), 1)
    scene.commit()
    middle = LANES // 2
    assert look_down(scene, 0b11)[middle, 1] == 1
    assert look_down(scene, 0b10)[middle, 1] == 1
    assert look_down(scene, 0b01)[middle, 1] == 0
    assert look_down(scene, 0b100)[middle, 1] == NOTHING


def test_instances_keep_their_shape_alive_and_say_which_copy() -> None:
    device = Device()
    shape = device.scene()
    shape.attach(square_at(device, 0.0, 0xFFFFFFFF), 0)
    shape.commit()
    transforms = np.zeros((1, 3, 12), np.float32)
    transforms[0, :, [0, 4, 8]] = 1.0
    transforms[0, :, 11] = [1.0, 5.0, 2.0]
    scene = device.scene()
    copies = device.geometry(GeometryType.INSTANCE_ARRAY).instances(shape, transforms).mask(0xFFFFFFFF)
    scene.attach(copies.commit(), 3)
    scene.commit()
    del shape, copies, transforms
    found = look_down(scene)[LANES // 2]
    assert found[0] == pytest.approx(5.0, abs=1e-5), "the highest copy"
    assert found.tolist()[3:] == [3.0, 1.0], "instance number 3, its second copy"


def test_what_is_made_is_released() -> None:
    """Forty worlds of 20,000 triangles one after the other need no more memory than a few."""
    code = """
import gc, os
from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.trace.world import World

scene = Scene()
floor = ground((100, 100), cells=(100, 100))
scene.add(floor)
scene.add(floor, position=(0, 0, 5))
scene.add(box(), motion=Trajectory.through([0.0, 1.0], [Pose.at(1), Pose.at(2, yaw=1)]))
page = os.sysconf("SC_PAGE_SIZE")
def used():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * page / 2**20
sizes = []
for _ in range(40):
    world = World(scene)
    for start in (0.0, 0.1):
        world.moving(start, start + 0.1)
    del world
    sizes.append(used())
print(sizes[9], sizes[-1])
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    early, late = map(float, done.stdout.split())
    assert late - early < 20, f"{early:.0f} MiB after ten worlds, {late:.0f} after forty; each needs some 4 MiB"


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="this system has no RLIMIT_AS and /proc: run it on Linux"
)
@pytest.mark.parametrize("room", [20, 80, 200])
def test_out_of_memory_is_an_error_with_one_line(room: int) -> None:
    """2 million triangles with too little room [MiB]: for the device, the buffers or the hierarchy."""
    code = f"""
import resource
from tussock.errors import TraceError
from tussock.scene.primitives import ground
from tussock.scene.scene import Scene
from tussock.trace.embree import Device
from tussock.trace.world import World

scene = Scene()
scene.add(ground((100, 100), cells=(1000, 1000)))
Device()
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + {room} * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    World(scene)
except TraceError as error:
    print(error)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr[-500:]
    assert len(done.stdout.splitlines()) == 1, done.stdout
    assert "out of memory" in done.stdout
