"""The story of a scan: a sensor fires into a scene, and a frame comes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import sealed
from tussock.errors import InputError
from tussock.frame_meta import frame_meta
from tussock.frames.collect import Fired, collect
from tussock.frames.decompose import decompose
from tussock.frames.frame import Frame
from tussock.frames.memory import reused
from tussock.frames.range_rate import range_rates
from tussock.frames.sway_rate import add_sway_rates
from tussock.frames.waveforms import Waveforms
from tussock.listening import listening_of
from tussock.once import once_for_each
from tussock.poses import Pose, Trajectory
from tussock.pulse.adaptive import off_plane, stand_for
from tussock.pulse.aim import fill_true_directions
from tussock.pulse.immersed import media_around
from tussock.pulse.loop import Turns
from tussock.pulse.plain import fire_at_once, fire_on_a_thread, is_dry, ready_to_fire
from tussock.pulse.sub_rays import apart_in_groups
from tussock.pulse.sunlight import Sun, sun_at, sunlight_loop
from tussock.pulse.tables import Firing, PoseTable, Receiving, Recording, Scanning, Slots, Spot
from tussock.randomness import chance_of, check_seed
from tussock.return_modes import MODES
from tussock.scattering import air_of
from tussock.scene.scene import Scene
from tussock.sensors.beam import Beam
from tussock.sensors.pulses import Pulses
from tussock.sensors.sensor import Sensor
from tussock.signal.air import CLEAR
from tussock.signal.detection import Limit
from tussock.signal.media import AIR
from tussock.signal.range_noise import laser_biases
from tussock.signal.returns import Window
from tussock.steps import steps_between
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.hit_tables import HitTables
from tussock.trace.packets import LANES
from tussock.trace.world import Moving, World

__all__ = ["SUN", "frames_between", "scan", "scan_range"]

SUN = (215.0, 40.0)
"""[deg] azimuth and elevation, where nothing else is said"""

_MOST_SAMPLES = 10**9  # 4 GB
_BLOCK, _LARGE_BLOCK = 256, 1024  # pulses a thread takes at a time; whoever is done first takes the next
_TURNS = 8  # blocks a thread takes at least, so that none waits long for the last one
_ROWS_A_THREAD = 10_000
_PIECE = 400_000  # rays that a thread traces without looking up: a part of a second
_REAL, _WORD, _BYTE = np.dtype(np.float32), np.dtype(np.uint32), np.dtype(np.uint8)
_NO_WEIGHTS = sealed(np.zeros(0, np.float32))
_NO_PLANE = sealed(np.zeros((0, 0), np.float32))
_ONE_ORIGIN = sealed(np.zeros((1, 3), np.float32))
_FAR_S = 1e10  # [s] 317 years: a microsecond is still told apart
_POSE_STEP = 1e-3  # [s] between poses of a moving sensor: at 10 rad/s the chord is off by 1e-8 rad


def scan(
    scene: Scene | World,
    sensor: Sensor,
    pose: Pose | Trajectory | None = None,
    *,
    seed: int = 0,
    frame: int = 0,
    keep_misses: bool = False,
    waveform: bool = False,
    threads: int | None = None,
    block: int | None = None,
    on: str = "cpu",
    epoch: float = 0.0,
    sun: tuple[float, float] = SUN,
) -> Frame:
    """Scan a scene once: revolution or image number ``frame``, which starts at ``epoch`` + ``frame`` × the sensor's period.

    ``pose`` is ``T_world_sensor``, standing or moving. The same seed gives the same bytes whatever the
    ``threads`` and the ``block`` (pulses a thread takes at a time; chosen if not given). ``keep_misses`` keeps a row for every pulse
    without return; ``waveform`` keeps the received signal of every pulse, in bins and decomposed. ``on`` is ``"cpu"``
    or ``"gpu"``, an NVIDIA graphics processor (extra ``cuda``). ``epoch`` [s] is when frame 0 starts: a UNIX time, where
    poses and motions are in UNIX time; chance and firings are those of the frame's number, whenever it starts. ``sun`` is where the sun stands, azimuth and elevation [deg], for sensors with
    ``receiver.near_infrared``. Hand over a `World` instead of a `Scene` to scan many
    times without building it again.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1), seed=1)
    >>> bool((frame.object_id[frame.hit] == wall.id).all())
    True
    """
    world = scene if isinstance(scene, World) else World(scene)
    if not isinstance(sensor, Sensor):
        raise InputError.of(
            "sensor", "must be a Sensor", sensor, "tussock.load_sensor(name) gives one of the catalogue"
        )
    path = pose if isinstance(pose, Trajectory) else Trajectory.standing(Pose() if pose is None else pose)
    seed, threads = check_seed(seed), resolve_threads(threads)
    given = None if block is None else _checked_block(block)
    frame, on, epoch = _checked_frame(frame), checked_on(on), _checked_epoch(epoch)

    shot = prepare(world, sensor, path, seed, frame, waveform=waveform, epoch=epoch)
    fired, slots = shot.fired, shot.slots
    there = _fired_on_gpu(world, sensor, shot, keep_misses=keep_misses) if on == "gpu" else None
    meta = frame_meta(world, sensor, seed, frame, len(fired.lasers)) | {"start_s": fired.start}
    if there is not None:  # which has been at work meanwhile
        columns = _from_gpu(there, slots, threads)
    else:
        pulses = len(fired.lasers)
        together = LANES * shot.scanning.firing.apart
        block = block_for(pulses, sensor.beam.rays, threads, together) if given is None else given
        blocks, pieces = -(-pulses // block), 1 + pulses * sensor.beam.rays // (_PIECE * threads)
        most = blocks if pieces == 1 else -(-blocks // (threads * pieces))
        turns = Turns(block, np.zeros(1, np.int64), most, np.zeros(blocks, np.int64))
        ready = ready_to_fire(turns, shot.scanning, slots)
        if pieces == 1:
            fire_at_once(ready, threads)
        else:
            run_on_threads(fire_on_a_thread, threads, ready, pieces=pieces)
        tables = shot.moving.tables
        # To begin takes a thread as long as to fill some thousands of rows.
        few = min(threads, 1 + pulses // _ROWS_A_THREAD)
        counts = turns.counts
        if block % together:  # blocks of groups are then not those of pulses
            counts = np.add.reduceat(slots.counts, np.arange(0, pulses, block), dtype=np.int64)
        columns = collect(fired, slots, tables, block, counts, keep_misses=keep_misses, threads=few)
    add_speeds(columns, fired, path, world, sensor, shot.moving.tables)
    if sensor.receiver.near_infrared:
        light = np.empty(len(fired.lasers), np.float32)
        run_on_threads(sunlight_loop, threads, shot.scanning, _checked_sun(sun), light)
        columns["near_infrared"][:] = light[columns["pulse"]]
    waveforms = _waveforms(slots.recording, sensor, threads) if waveform else None
    if waveforms is not None:
        meta["waveforms"] = {"pulse_fwhm_ns": waveforms.pulse_fwhm_ns, "noise": waveforms.noise}
    return Frame(**columns, meta=meta, trajectory=path, waveforms=waveforms)


class Prepared(NamedTuple):
    """One scan, as the loops take it."""

    scanning: Scanning
    fired: Fired
    slots: Slots
    moving: Moving
    """must live as long as the scan runs"""
    end: float
    """[s] of the last pulse"""


def prepare(
    world: World, sensor: Sensor, path: Trajectory, seed: int, frame: int, *, waveform: bool = False, epoch: float = 0.0
) -> Prepared:  # fmt: skip
    """All that a scan reads, and room for what it finds."""
    period, pulses = sensor.frame_period, sensor.pulses(frame)
    start = epoch + frame * period
    # The last firing cycle of a revolution may end a little after it.
    span = max(period, float(pulses.offsets[-1]))
    firing = _firing(pulses, sensor, span)
    poses = _pose_table(path, start, period, span, world.origin)
    moving = world.moving(start, start + span)
    around = moving.surroundings._replace(tables=moving.tables._replace(optics=world.optics_at(sensor.wavelength_nm)))
    receiving = _receiving(sensor, seed)._replace(media=media_around(around, poses.positions[0]))
    now = world.weather_at(start + span / 2, poses.positions[len(poses.positions) // 2] + world.origin)
    if now is not None:
        receiving = receiving._replace(extinction=np.float32(float(receiving.extinction) + now.extinction))
    air = CLEAR if now is None else air_of(now, sensor, world.origin, span)
    scanning = _adapted(Scanning(around, firing, poses, receiving, chance_of(seed, frame), air), sensor)
    fired = Fired(
        firing.directions, _true_directions(scanning), firing.origins, firing.offsets, firing.lasers, pulses.azimuths,
        pulses.elevations, start,
    )  # fmt: skip
    return Prepared(scanning, fired, _slots(len(pulses), sensor, waveform=waveform), moving, start + span)


def _fired_on_gpu(world: World, sensor: Sensor, shot: Prepared, *, keep_misses: bool) -> Any:
    """A scan that a graphics processor has begun."""
    from tussock.gpu.scans import shots_of
    from tussock.gpu.worlds import Wanted, ready_on_gpu

    scanning, fired, slots = shot.scanning, shot.fired, shot.slots
    there = ready_on_gpu(
        world, Wanted(sensor, scanning, fired, slots, fired.start, shot.end, 1, keep_misses)
    )  # fmt: skip
    there.fire(shots_of(scanning), fired.start)
    return there


def _from_gpu(there: Any, slots: Slots, threads: int) -> dict[str, NDArray[Any]]:
    """The columns of a scan that a graphics processor makes, when it is done; waveforms, where they are kept, into the slots."""
    columns: dict[str, NDArray[Any]] = there.to_host(int(there.starts()[-1]), threads)
    if len(slots.recording.samples):
        slots.recording.starts[:] = there.slots.recording.starts.to_host()
        slots.recording.samples[:] = there.slots.recording.samples.to_host()
    return columns


def checked_on(on: str) -> str:
    """Where a scan is made: ``cpu`` or ``gpu``."""
    if on not in ("cpu", "gpu"):
        raise InputError.of("on", "must be cpu or gpu", on)
    return on


def _true_directions(scanning: Scanning) -> NDArray[np.float32]:
    """Where the axes of pulses really went, sensor frame, shape (n, 3)."""
    firing = scanning.firing
    if firing.pointing_sigma == 0:
        return firing.directions
    directions = np.empty_like(firing.directions)
    fill_true_directions(firing, scanning.chance, directions)
    return directions


def _waveforms(recording: Recording, sensor: Sensor, threads: int) -> Waveforms:
    """The waveforms of the pulses that anything came back of, decomposed."""
    pulses = np.flatnonzero(np.isfinite(recording.starts))
    noise = 1.0 if sensor.waveform.noise and sensor.receiver.detects else 0.0
    kept = Waveforms(
        pulses.astype(np.uint32), recording.starts[pulses], recording.samples[pulses], sensor.waveform.bin_ns,
        sensor.receiver.pulse_fwhm_ns, noise,
    )  # fmt: skip
    return replace(kept, components=decompose(kept, threads=threads))


def add_speeds(
    columns: dict[str, NDArray[Any]], fired: Fired, path: Trajectory, world: World, sensor: Sensor,
    tables: HitTables | None = None,
) -> None:  # fmt: skip
    """Fill in radial speeds, where anything moves, and what the sensor measures of them.

    ``tables`` say what sways.
    """
    movers = {thing.id: thing.motion for thing in world.objects if thing.motion is not None and thing.motion.moving}
    if path.moving or movers:
        columns["true_speed"][:] = range_rates(columns, fired, path, movers)
    if tables is not None and len(tables.sway.plants):
        add_sway_rates(columns, fired, path, tables, world.origin)
    if sensor.noise.speed_sigma_m_s is not None:
        columns["speed"] *= np.float32(sensor.noise.speed_sigma_m_s)
        columns["speed"] += np.nan_to_num(columns["true_speed"], nan=0.0)


def scan_range(
    scene: Scene | World, sensor: Sensor, pose: Pose | Trajectory | None = None, *, start: float = 0.0, end: float,
    epoch: float = 0.0, **options: Any,
) -> Iterator[Frame]:  # fmt: skip
    """Scan the frames that start in [start, end) [s], one after the other; options as for `scan`.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> world, sensor = tussock.World(scene), tussock.load_sensor("vlp-16")
    >>> len(list(tussock.scan_range(world, sensor, start=0.0, end=0.3)))
    3
    """
    world = scene if isinstance(scene, World) else World(scene)
    for frame in frames_between(sensor, start, end, epoch=epoch):
        yield scan(world, sensor, pose, frame=frame, epoch=epoch, **options)


def frames_between(sensor: Sensor, start: float, end: float, *, epoch: float = 0.0) -> range:
    """Numbers of the frames that start in [start, end): any cut of the time gives each frame once.

    ``epoch`` [s] is when frame 0 starts.
    """
    epoch = _checked_epoch(epoch)
    if not (np.isfinite(start) and np.isfinite(end)) or not epoch <= start <= end:
        least = f"{epoch:.15g} (epoch)" if epoch else "0"
        raise InputError.of("time range", f"must be {least} <= start <= end [s]", (start, end))
    period = sensor.frame_period
    return steps_between((start - epoch) / period, (end - epoch) / period, "frames")


def _checked_epoch(epoch: float) -> float:
    if isinstance(epoch, bool) or not isinstance(epoch, (int, float, np.number)) or not abs(float(epoch)) <= _FAR_S:
        raise InputError.of("epoch", f"must be a time [s] within {_FAR_S:g} of 0", epoch)
    return float(epoch)


def block_for(pulses: int, rays: int, threads: int, together: int = LANES) -> int:
    """Pulses a thread takes at a time: more of them where each is quick, as long as there are turns for all threads.

    A multiple of those that share groups.
    """
    most = min(_LARGE_BLOCK // rays, pulses // (_TURNS * threads))
    return -(-max(_BLOCK, most // LANES * LANES) // together) * together


def _checked_block(block: int) -> int:
    if not isinstance(block, (int, np.integer)) or block < 16 or block % 16:
        raise InputError.of("block", "must be a whole multiple of 16 above 0", block)
    return int(block)


def _checked_frame(frame: int) -> int:
    if isinstance(frame, bool) or not isinstance(frame, (int, np.integer)) or not 0 <= frame < 2**56:
        raise InputError.of("frame", "must be a whole number from 0 to 2^56 - 1", frame)
    return int(frame)


def _checked_sun(sun: tuple[float, float]) -> Sun:
    try:
        azimuth, elevation = (float(angle) for angle in sun)
    except (TypeError, ValueError):
        raise InputError.of("sun", "must be azimuth and elevation [deg]", sun, "for example (215, 40)") from None
    if not (abs(azimuth) <= 360 and abs(elevation) <= 90):
        raise InputError.of("sun", "must lie within 360 and 90 degrees", sun)
    return sun_at(azimuth, elevation)


class _Spread(NamedTuple):
    """How a beam is spread over its sub-rays; the names are those of `Firing`."""

    stencil: NDArray[np.float32]
    weights: NDArray[np.float32]
    columns: NDArray[np.float32]
    falls: np.float32
    spot: int
    half_sizes: tuple[float, float]


@lru_cache(maxsize=16)
def _spread(beam: Beam, echoes: bool) -> _Spread:
    """Kept for the next scan: it is the same for all of a sensor."""
    offsets = beam.stencil().astype(np.float64)
    length = np.sqrt(1 + (offsets**2).sum(1, keepdims=True))
    stencil = (np.concatenate([np.ones((len(offsets), 1)), offsets], 1) / length).astype(np.float32)
    drawn = Spot.SQUARE if beam.shape == "rectangle" else Spot.ROUND
    spot = drawn if beam.sampling == "random" else Spot.STENCIL
    weights = beam.weights() if echoes else np.ones(len(stencil), np.float32)
    columns = np.concatenate([stencil, weights[:, None]], 1)
    columns = np.ascontiguousarray(np.concatenate([columns, np.repeat(columns[-1:], LANES, 0)]).T)
    falls = np.float32(2.0 if echoes and spot and beam.profile == "gaussian" else 0.0)
    return _Spread(sealed(stencil), sealed(weights), sealed(columns), falls, int(spot), beam.half_sizes)


@once_for_each
def _apart(pulses: Pulses, rays: int) -> int:
    return apart_in_groups(pulses.lasers, rays)


def _firing(pulses: Pulses, sensor: Sensor, span: float) -> Firing:
    origins = _ONE_ORIGIN if pulses.origins is None else pulses.origins
    spread = _spread(sensor.beam, sensor.receiver.model == "echoes")
    return Firing(
        pulses.directions,
        origins,
        pulses.offsets,
        pulses.lasers,
        _apart(pulses, len(spread.stencil)),
        spread.stencil,
        spread.weights,
        spread.columns,
        spread.falls,
        spread.spot,
        np.float32(spread.half_sizes[0]),
        np.float32(spread.half_sizes[1]),
        np.float32(sensor.noise.pointing_sigma_mrad * 1e-3),
        span,
        len(spread.stencil),
        _NO_WEIGHTS,
        _NO_PLANE,
    )


def _adapted(scanning: Scanning, sensor: Sensor) -> Scanning:
    """The scan with fewer sub-rays where fewer do; where light goes on from what it meets, all are traced."""
    around, firing, probes = scanning.around, scanning.firing, sensor.beam.probes
    goes_on = around.tables.bends or len(around.tables.responses) or len(around.volumes.model)
    if goes_on or probes == len(firing.stencil) or not is_dry(scanning):
        return scanning
    # Sealed as those of other scans are: the compiler takes arrays that may be written for another kind.
    shares = sealed(stand_for(firing.stencil, firing.weights, probes))
    plane = sealed(off_plane(firing.stencil[:probes]))
    return scanning._replace(firing=firing._replace(probes=probes, stand_for=shares, off_plane=plane))


def pose_table(world: World, sensor: Sensor, path: Trajectory, frame: int) -> PoseTable:
    """Where a sensor is during a frame."""
    span = max(sensor.frame_period, float(sensor.pulses(frame).offsets[-1]))
    return _pose_table(path, frame * sensor.frame_period, sensor.frame_period, span, world.origin)


def _pose_table(path: Trajectory, start: float, period: float, span: float, origin: NDArray[np.float64]) -> PoseTable:
    """Poses at even steps and at the path's own knots, from the start of the frame to its last pulse."""
    if not path.moving:
        return PoseTable(np.zeros(1), path.positions - origin, path.quaternions.copy())
    path.check_covers("the frame", start, start + period, "scan a shorter time range")
    even = np.linspace(start, start + span, max(2, int(np.ceil(span / _POSE_STEP)) + 1))
    inside = path.times[(path.times > start) & (path.times < start + span)]
    times = np.unique(np.concatenate([even, inside]))
    positions, quaternions = path.at(times)
    flips = np.cumprod(np.where((quaternions[1:] * quaternions[:-1]).sum(1) < 0, -1.0, 1.0))
    quaternions[1:] *= flips[:, None]
    return PoseTable(times - start, positions - origin, quaternions)


@once_for_each
def _receiving(sensor: Sensor, seed: int) -> Receiving:
    receiver, noise = sensor.receiver, sensor.noise
    limit = receiver.detection_limit
    return Receiving(
        echoes=receiver.model == "echoes",
        listening=listening_of(sensor),
        mode=MODES.index(receiver.mode),
        window=Window(
            np.float32(receiver.min_range_m), np.float32(receiver.max_range_m), np.float32(receiver.signal_cutoff_m)
        ),
        min_range=np.float32(receiver.min_range_m),
        max_range=np.float32(receiver.max_range_m),
        range_step=np.float32(receiver.range_step_m),
        intensity_step=np.float32(receiver.intensity_step),
        min_intensity=np.float32(receiver.min_intensity),
        spreading_reference=np.float32(receiver.spreading_reference_m),
        loss_reference=np.float32(1.0 if receiver.model == "echoes" else receiver.spreading_reference_m),
        extinction=np.float32(receiver.extinction_per_m),
        limit=Limit(
            np.float32(limit.near_m if limit else 0.0),
            np.float32(limit.far_m if limit else 0.0),
            np.float32(limit.near_reflectivity if limit else 0.0),
            np.float32(limit.far_reflectivity if limit else 0.0),
        ),
        backfolding=receiver.backfolding,
        bounces=receiver.max_bounces,
        ray_sigma=np.float32(noise.ray_sigma_m),
        laplace=noise.distribution == "laplace",
        dropout=np.float32(noise.dropout),
        biases=laser_biases(noise.bias_sigma_m, sensor.lasers, seed),
        media=AIR,
    )


def _slots(pulses: int, sensor: Sensor, *, waveform: bool) -> Slots:
    returns, kept = sensor.receiver.returns, sensor.waveform
    if waveform and sensor.receiver.model != "echoes":
        raise InputError.of("waveform", "needs receiver.model = echoes", sensor.receiver.model)
    if waveform and pulses * kept.samples > _MOST_SAMPLES:
        raise InputError.of(
            "waveform", f"holds at most {_MOST_SAMPLES:.0e} samples a frame", f"{pulses} pulses × {kept.samples}",
            "set a shorter waveform.window_m or a longer waveform.bin_ns",
        )  # fmt: skip

    # One piece of memory, which the next scan uses again.
    memory, used = reused(pulses * (returns * 33 + 1) + 64), 0

    def room(dtype: np.dtype[Any], *shape: int) -> NDArray[Any]:
        nonlocal used
        shape = shape or (pulses, returns)
        first, used = used, used + prod(shape) * dtype.itemsize
        return np.ndarray(shape, dtype, memory, first)

    recorded = pulses if waveform else 0
    recording = Recording(
        np.empty(recorded, np.float32), np.empty((recorded, kept.samples if waveform else 0), np.float32),
        np.float32(kept.bin_m), np.float32(kept.lead_m), kept.noise,
    )  # fmt: skip

    true_range, measured, intensity, signal = room(_REAL), room(_REAL), room(_REAL), room(_REAL)
    speed = room(_REAL, pulses, returns if sensor.noise.speed_sigma_m_s is not None else 0)
    geometry, primitive, copy = room(_WORD), room(_WORD), room(_WORD)
    kind, counts = room(_BYTE), room(_BYTE, pulses)
    return Slots(
        counts, true_range, measured, intensity, signal, speed, geometry, primitive, copy, kind, recording
    )  # fmt: skip
