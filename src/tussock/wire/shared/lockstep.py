"""Lock step: simulate a frame, wait for the consumer's answer, simulate the next; time stands still meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tussock.errors import OutputError
from tussock.frames.frame import Frame
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.wire.shared.shared_run import Command, SharedRun

__all__ = ["lockstep"]


def lockstep(
    world: World, sensor: Sensor, shared: SharedRun, frames: Iterable[int], *, timeout: float = 10.0, seed: int = 0,
    threads: int | None = None,
) -> Iterator[Frame]:  # fmt: skip
    """Frames in lock step with whoever answers, until a consumer commands a stop.

    A consumer may die and another take its place; when nobody answers for ``timeout`` [s] it is an `OutputError`.
    """
    for number in frames:
        frame = scan(world, sensor, shared.path(number), seed=seed, frame=number, threads=threads)
        shared.publish(frame)
        step = shared.segment.step()
        yield frame
        if not shared.segment.await_answer(step, timeout=timeout):
            raise OutputError(
                f"lock step: nobody answered on {shared.segment.name!r} within {timeout:g} s; start a consumer, "
                "wait longer with --timeout, or leave out --lockstep"
            )
        if shared.command == Command.STOP:
            return
