"""Scans on a graphics processor, without one: in Numba's simulator, and as far as the compiler's output."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from simulated_gpu import blowing, cases, flooded, grid_sensor, holes, room, views, weathers
from tussock.air.weather import Shower, Weather
from tussock.cameras.camera import Camera
from tussock.cameras.render import look
from tussock.cameras.view_loop import Seen
from tussock.cameras.viewing import viewing_of
from tussock.errors import InputError
from tussock.gpu.kernels import bound, local_arrays, waiting_rays
from tussock.gpu.probing import GROUP, group_order
from tussock.gpu.scans import GpuScan, compiled_kernels, examples_of
from tussock.gpu.wandering import Wandering
from tussock.many import media_of, scan_many
from tussock.poses import Pose, Trajectory
from tussock.pulse.sub_rays import lot_of
from tussock.randomness import chance_of
from tussock.scene.placements import Placements
from tussock.scene.volumes import WHOLE, Volumes
from tussock.simulate import prepare, scan
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.world import World

TESTS = Path(__file__).parents[2]
SCENES = {"plain": room, "cut-outs": holes, "in wind": blowing}


@pytest.fixture(scope="module")
def said() -> dict[str, dict[str, float]]:
    """What the simulator says of every case; the kernels run as plain Python, so the scenes are small."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "simulated_gpu.py")],
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    result: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return result


@pytest.mark.parametrize(
    "case",
    ["echoes", "hit by hit", "response", "mirrors and glass", "leaves", "cut-outs", "adaptive", "in wind", "moving"],
)
def test_the_same_returns_as_on_the_processor(said: dict[str, dict[str, float]], case: str) -> None:
    one = said[case]
    assert one["hits"] >= 20, "the scene must be met"
    for what in ("near", "object", "label", "placement", "returns", "nan"):
        assert one[what] >= 0.95, (what, one)  # a pulse of few may graze an edge
    assert one["again"] == 1.0, "the same scan twice has the same bytes"


@pytest.mark.parametrize("weather", list(weathers()))
def test_the_air_sends_back_what_it_does_on_the_processor(said: dict[str, dict[str, float]], weather: str) -> None:
    one = said[weather]
    assert one["from the air"] >= 3, "the air must be seen"
    for what in ("near", "object", "label", "placement", "returns", "nan"):
        assert one[what] >= 0.95, (what, one)
    assert one["again"] == 1.0


def test_a_cloud_that_has_drifted_is_met_where_it_is(said: dict[str, dict[str, float]]) -> None:
    one = said["dust that drifts"]
    assert one["moved"] == 1.0 and one["from the air"] >= 3
    assert min(one[what] for what in ("near", "object", "label", "returns", "nan")) >= 0.95, one


def test_plants_are_where_the_wind_of_a_later_frame_has_them(said: dict[str, dict[str, float]]) -> None:
    one = said["bushes that sway"]
    assert one["moved"] == 1.0
    assert min(one[what] for what in ("near", "object", "label", "placement", "returns", "nan")) >= 0.95, one


def test_what_is_behind_a_leaf_is_a_return_of_its_own(said: dict[str, dict[str, float]]) -> None:
    """The wall behind it, which is the last thing of that scene."""
    assert said["leaves"]["last thing"] >= 20


@pytest.mark.parametrize("case", ["many", "many that wander", "many in wind", "many in media"])
def test_many_sensors_at_once(said: dict[str, dict[str, float]], case: str) -> None:
    one = said[case]
    assert one["frames"] == 3
    assert one["hits"] >= 40
    assert min(one["near"], one["true place"], one["speed"]) >= 0.95, one


@pytest.mark.parametrize("camera", list(views()))
def test_cameras_see_what_they_see_on_the_processor(said: dict[str, dict[str, float]], camera: str) -> None:
    one = dict(said[camera])
    assert one.pop("seen") > 0.3
    assert one.pop("again") == one.pop("depth only") == 1.0
    assert min(one.values()) >= 0.97, one  # a pixel of few may graze an edge


@pytest.mark.parametrize("scene", SCENES)
def test_kernels_of_cameras_are_compiled(scene: str) -> None:
    pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'tussock[cuda]'")
    from tussock.cameras.on_gpu import compiled_views, view_examples

    world, camera = World(SCENES[scene]()), Camera(width=4, height=4)
    viewing = viewing_of(camera, Trajectory.standing(Pose()), 0.0, world.origin)
    seen = Seen(*[getattr(look(world, camera), name) for name in Seen._fields])
    made = compiled_views(view_examples(WorldTrees(world).standing, world.moving(0, 0).tables, viewing, seen))
    assert set(made) == {"pixel_kernel", "walk_kernel", "seen_kernel"}
    for name, ptx in made.items():
        assert f".entry {name}(" in ptx
        assert ".extern" not in ptx
        # All is woven into the kernel, but for large angles of a library's sine, which a fisheye may ask for.
        assert all("__internal_trig" in line for line in ptx.splitlines() if line.startswith(".func")), name


@pytest.mark.parametrize(("pulses", "apart"), [(100, 1), (16, 1), (1000, 3), (2048, 64), (5, 2)])
def test_pulses_are_in_the_order_of_their_groups(pulses: int, apart: int) -> None:
    chance, made = chance_of(0, 0), []
    firing = SimpleNamespace(lasers=np.zeros(pulses), apart=apart)
    for at in range(0, pulses, GROUP):
        lot = lot_of.py_func(firing, at, chance)
        made += [lot.first + lane * lot.apart for lane in range(lot.lanes)]
    np.testing.assert_array_equal(group_order(pulses, apart), made)


@pytest.mark.parametrize(("sensors", "pulses", "at_once"), [(1, 100, 100), (1, 100, 50), (7, 100, 250), (3, 100, 40)])
def test_launches_take_every_pulse_and_part_no_group(sensors: int, pulses: int, at_once: int) -> None:
    ready = SimpleNamespace(fired=SimpleNamespace(lasers=np.zeros(pulses)), span=SimpleNamespace(pulses=at_once))
    for probed in (False, True):
        spans = GpuScan._spans(cast(Any, SimpleNamespace(_ready=ready, _sensors=sensors, _probes=probed)))
        taken = np.concatenate([np.arange(first, first + count) for first, count in spans])
        np.testing.assert_array_equal(taken, np.arange(sensors * pulses))
        assert max(count for _, count in spans) <= at_once
        if probed:
            assert all(first % pulses % GROUP == 0 for first, _ in spans)


def test_somewhere_else_is_refused(plain_sensor: Callable) -> None:
    with pytest.raises(InputError, match=r"^on: must be cpu or gpu, got 'tpu'"):
        scan(room(), plain_sensor(), on="tpu")


def test_many_sensors_on_the_processor() -> None:
    """Sensor by sensor what `scan` gives."""
    world, sensor = World(room()), grid_sensor(**{"noise.bias_sigma_m": 0.01, "noise.ray_sigma_m": 0.02})
    poses = [Pose.at(0.0, 0.3 * i, 1.5) for i in range(3)]
    many = scan_many(world, sensor, poses, [5, 6, 7])
    assert len(many) == 3
    assert many.starts[-1] == len(many.columns["range"])
    for number, (pose, seed) in enumerate(zip(poses, [5, 6, 7], strict=True)):
        assert many.frame(number).identical(scan(world, sensor, pose, seed=seed))
    assert not many.frame(0).identical(scan_many(world, sensor, poses).frame(0))
    with pytest.raises(InputError, match=r"^frame: must be a whole number from 0 to 2, got 3"):
        many.frame(3)


def test_many_sensors_with_too_few_seeds() -> None:
    with pytest.raises(InputError, match=r"^seeds: must be as many as the poses, 2, got 1"):
        scan_many(room(), grid_sensor(), [Pose(), Pose()], [1])
    with pytest.raises(InputError, match=r"^poses: must hold one pose at least$"):
        scan_many(room(), grid_sensor(), [])


def test_what_still_does_not_run_there_is_said_in_a_line() -> None:
    pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'tussock[cuda]'")
    shower = Shower(rain_mm_h=30, radius_m=5, position_m=(0, 0))
    raining = room().with_weather(Weather(rain_mm_h=1.0, showers=(shower,)))
    with pytest.raises(InputError, match=r"^poses: on='gpu' takes sensors that are all in the same shower; scan the o"):
        scan_many(raining, grid_sensor(), [Pose.at(0, 0, 1.5), Pose.at(9, 0, 1.5)], on="gpu")
    places = [Pose.at(0, 0, 1), Pose.at(0.5, 0, 1), Pose.at(2, 0, 1)]
    paths = [Trajectory.through([0.0, knot, 0.2], places) for knot in (0.0501, 0.0502)]
    with pytest.raises(
        InputError, match=r"^poses: on='gpu' takes sensors that all stand, or paths that share their times"
    ):
        scan_many(room(), grid_sensor(), paths, on="gpu")
    learned = room()
    learned.add_volumes(
        Volumes(
            np.full((1, 3), 4.0, np.float32), np.array([[1.0, 0, 0, 1, 0, 1]], np.float32), np.full(1, 0.5, np.float32),
            np.full((1, 1), WHOLE // 2), np.zeros(1, np.uint16), np.ones(1, np.uint32), np.full(1, 0.3, np.float32), 8.0,
            np.full(1, np.inf, np.float32), labels=np.zeros(0, np.uint16), colors=np.zeros((0, 4), np.uint8),
        ),
        placements=Placements.of([[5.0, -4, -4]]),
    )  # fmt: skip
    with pytest.raises(InputError, match=r"^volumes: cameras do not see them on='gpu' yet; look on='cpu'$"):
        look(learned, Camera(width=4, height=4), on="gpu")


@pytest.mark.parametrize("case", ["echoes", "cut-outs", "in wind", "adaptive"])
def test_every_kernel_is_compiled(case: str) -> None:
    """To PTX, for a processor that is not there; operations are not joined, so that both machines round alike."""
    pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'tussock[cuda]'")
    scene, sensor = cases()[case]
    world = World(scene)
    ready = prepare(world, sensor, Trajectory.standing(Pose()), 0, 0)
    examples = examples_of(WorldTrees(world), ready.scanning, ready.fired, ready.slots)
    made = compiled_kernels(examples)
    assert set(made) == set(examples.arguments())
    for name, ptx in made.items():
        assert f".entry {name}(" in ptx
        assert ".target sm_75" in ptx
        assert re.search(r"^\s*call", ptx, re.MULTILINE) is None, "everything is woven into the kernel"
        assert "used_bytes_mask" not in ptx, "older drivers do not know it"
    assert "fma.rn.f32" not in made["fill_kernel"]
    assert "ld.global.v4.f32" in made["walk_kernel"], "four numbers at once"
    assert "fma.rn.f32" in made["walk_kernel"], "boxes have room for another rounding"
    assert ".extern" not in made["walk_kernel"]
    exact = re.search(r"(rcp|div)\.rn\.f64", made["walk_kernel"])
    assert (exact is None) == (case not in ("cut-outs", "in wind")), "where nothing is cut out, a walk asks no picture"
    assert ("probe_kernel" in made) == (case == "adaptive")


def test_sensors_in_different_media_have_kernels_of_their_own() -> None:
    pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'tussock[cuda]'")
    from tussock.trace.cuda.compiled import compile_ptx, device_function

    world = World(flooded())
    ready = prepare(world, grid_sensor(), Trajectory.standing(Pose()), 0, 0)
    dry, wet = np.array([[0.0, 0.0, 1.5]]), np.array([[0.0, 0.3, 1.5]])
    assert media_of(ready.scanning, np.stack([dry, wet]))[:, 0].tolist() == pytest.approx([1.0, 1.33])
    assert len(media_of(ready.scanning, np.stack([wet, wet]))) == 0
    made = []
    for own in (False, True):
        examples = examples_of(WorldTrees(world), ready.scanning, ready.fired, ready.slots, own_media=own)
        kernels = bound(device_function, examples)
        args = examples.arguments()["aim_kernel"]
        made.append(compile_ptx("aim_kernel", args, partial(kernels.get, "aim_kernel"), without=f"own media {own}"))
    assert ".entry aim_kernel(" in made[1] and made[0] != made[1]


def test_rows_of_pulses_that_wander_are_compiled() -> None:
    """Of many sensors each draws again where its pulses went."""
    pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'tussock[cuda]'")
    from tussock.trace.cuda.compiled import compile_ptx, device_function

    world, sensor = World(room()), grid_sensor(**{"noise.pointing_sigma_mrad": 2.0})
    ready = prepare(world, sensor, Trajectory.standing(Pose()), 0, 0)
    sent = Wandering.of(ready.fired, ready.scanning.firing.pointing_sigma)
    examples = examples_of(WorldTrees(world), ready.scanning, sent, ready.slots)
    ptx = compile_ptx(
        "fill_kernel", examples.arguments()["fill_kernel"], lambda: bound(device_function, examples)["fill_kernel"]
    )
    assert ".entry fill_kernel(" in ptx and ".extern" not in ptx


def test_what_is_compiled_depends_on_the_steps_of_a_pulse_alone() -> None:
    """The kinds of the arguments are the same, with mirrors, things that move and many rays; steps may be left out."""
    from tussock.trace.cuda.compiled import kernel_type

    kinds: dict[tuple[int, bool], set[object]] = {}
    left_out, alone = {}, set()
    for name, (scene, sensor) in (cases() | weathers()).items():
        world = World(scene)
        ready = prepare(world, sensor, Trajectory.standing(Pose()), 0, 0)
        examples = examples_of(WorldTrees(world), ready.scanning, ready.fired, ready.slots)
        local = tuple(sorted(local_arrays(examples.scanning, examples.slots.range.shape[1])))
        arguments = {str(kernel_type(arg)) for args in examples.arguments().values() for arg in args}
        queues = "receive_kernel" in examples.arguments()
        assert queues == ("fire_kernel" not in examples.arguments())
        alone |= set() if queues else {name}
        kinds.setdefault((waiting_rays(examples.scanning), queues), set()).add((frozenset(arguments), local))
        assert ("behind_kernel" in examples.arguments()) == (name in ("leaves", "cut-outs", "in wind"))
        left_out[name] = {step.__name__ for step in examples.unused()}
    assert {len(some) for some in kinds.values()} == {1}, (
        "but for queues, and room for rays that wait, which mirrors need"
    )
    assert len(kinds) == 3
    assert alone == {"hit by hit", *weathers()}, "these do not queue up for the receiver"
    plain = {"follow_lanes", "respond_lanes", "record_lanes", "receive_lanes", "weather_lanes"}
    plain |= {"trace_volumes", "end_beams", "stop_lanes", "finish_lanes", "hear_lanes", "lift_lanes", "add_drops"}
    assert left_out["echoes"] == left_out["moving"] == plain
    taken = {"rain": {"hear_lanes"}, "all kinds of weather": {"hear_lanes", "lift_lanes"}}  # clouds are lifted, too
    assert all(left_out[weather] == plain - {"weather_lanes"} - taken.get(weather, set()) for weather in weathers())
    assert left_out["adaptive"] == plain - {"finish_lanes"}
    assert left_out["response"] == plain - {"respond_lanes"}
    assert left_out["mirrors and glass"] == left_out["leaves"] == plain - {"follow_lanes"}
    assert left_out["hit by hit"] == plain - {"receive_lanes"} | {"listen_lanes"}
