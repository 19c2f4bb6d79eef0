"""Arrays shared with other programs on this machine, by name, in both directions.

`SharedSegment.create` makes a segment and `SharedSegment.attach` joins one; the layout is that of
`tussock.wire.shared.shm_layout`. Nobody waits for a reader: one that starts late, is slow or dies harms nobody.

Who lives is told by the system, which takes a dead process's locks away: the simulator holds an exclusive `flock`
on its segment, the consumer that answers holds a record lock on one byte of it. A segment whose lock is free was left
behind by a killed simulator; the next one of that name replaces it. (The process numbers and heartbeats in the
header are for programs that cannot lock, and for people.)

Linux only: segments are files in /dev/shm, which is where `shm_open` puts them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.errors import InputError, OutputError, nearest
from tussock.wire.shared.shm_files import is_locked, new_file, open_live, process_start, same_file, segment_path
from tussock.wire.shared.shm_layout import (
    CHANNEL,
    CLOSED,
    DIRECTIONS,
    ELEMENT_TYPES,
    HEADER,
    LIVE,
    LOCKSTEP,
    MAGIC,
    SLOT,
    VERSION,
    ChannelSpec,
    Direction,
    slot_bytes,
)

__all__ = ["Sample", "SharedSegment", "SimulatorGone"]

_CONSUMER_BYTE = 64  # the record lock lies on `consumer_pid`
_SPINS = 200  # looks before a waiting side goes to sleep between them
_NAP = 50e-6  # [s]
_LIFE_CHECK = 0.05  # [s] between looks whether the other side lives
_TRIES = 10_000


class SimulatorGone(InputError):
    """The simulator behind a segment has ended or was killed.

    >>> issubclass(tussock.SimulatorGone, tussock.InputError)
    True
    """


class Sample(NamedTuple):
    """An array that came through a channel."""

    array: NDArray[Any]
    number: int
    """1 for the channel's first"""
    time: float
    """[s] simulation time"""


class SharedSegment:
    """A segment that this process made (and writes ``out`` channels of) or joined (and writes ``in`` channels of).

    >>> channel = tussock.ChannelSpec("numbers", "out", "f8", (3,))
    >>> with tussock.SharedSegment.create("tussock-docs", [channel]) as shared:
    ...     _ = shared.publish("numbers", [1.0, 2.0, 3.0])
    """

    def __init__(self, name: str, fd: int, *, simulator: bool) -> None:
        self.name, self.is_simulator = name, simulator
        self._fd = fd
        self._memory: mmap.mmap | None = mmap.mmap(fd, 0)
        self._header = np.frombuffer(self._memory, HEADER, 1)[0:1]
        count = int(self._header["channels"][0])
        self._table = np.frombuffer(self._memory, CHANNEL, count, HEADER.itemsize)
        self._index = {bytes(row["name"]).decode(): k for k, row in enumerate(self._table)}
        self._step_answered = 0
        self._controls = simulator

    # -- making and joining ------------------------------------------------------------------------------------

    @classmethod
    def create(cls, name: str, channels: Sequence[ChannelSpec], *, lockstep: bool = False) -> Self:
        """Make a segment; a name in use is an `OutputError`, one left behind by a killed simulator is replaced."""
        path = segment_path(name)
        specs = [_checked(spec) for spec in channels]
        if not specs or len({spec.name for spec in specs}) != len(specs):
            raise InputError(f"shared memory {name!r}: needs channels, each with a name of its own")
        sizes = [slot_bytes(spec) for spec in specs]
        start = (HEADER.itemsize + CHANNEL.itemsize * len(specs) + 63) // 64 * 64
        offsets = start + 2 * np.cumsum([0, *sizes[:-1]])
        total = start + 2 * sum(sizes)

        fd = new_file(path, name)
        try:
            # Reserved now: a page that cannot be had later would end the process with SIGBUS.
            os.posix_fallocate(fd, 0, total)
            with mmap.mmap(fd, total) as memory:
                table = np.zeros(len(specs), CHANNEL)
                for row, spec, size, offset in zip(table, specs, sizes, offsets, strict=True):
                    row["name"], row["direction"] = spec.name.encode(), DIRECTIONS[spec.direction]
                    row["type"], row["dimensions"] = ELEMENT_TYPES[spec.dtype], len(spec.shape)
                    row["shape"][: len(spec.shape)] = spec.shape
                    row["shape"][len(spec.shape) :] = 1
                    row["offset"], row["slot_bytes"] = offset, size
                memory[HEADER.itemsize : HEADER.itemsize + table.nbytes] = table.tobytes()
                header = np.zeros(1, HEADER)
                header["magic"], header["version"], header["bytes"] = MAGIC, VERSION, total
                header["channels"], header["channel_bytes"] = len(specs), CHANNEL.itemsize
                header["flags"], header["state"] = LOCKSTEP if lockstep else 0, LIVE
                header["simulator_pid"], header["simulator_start"] = os.getpid(), process_start(os.getpid())
                header["simulator_heartbeat"] = time.monotonic_ns()
                # The magic comes last: whoever sees it sees a whole segment.
                raw = header.tobytes()
                memory[8 : HEADER.itemsize] = raw[8:]
                memory[:8] = raw[:8]
        except OSError as error:
            path.unlink(missing_ok=True)
            os.close(fd)
            why = "no space left in shared memory" if error.errno == errno.ENOSPC else str(error.strerror)
            raise OutputError(f"shared memory {name!r}: cannot be made ({why}; {total} bytes are needed)") from None
        return cls(name, fd, simulator=True)

    @classmethod
    def attach(cls, name: str, *, wait: float = 0.0, control: bool = False) -> Self:
        """Join a segment, waiting up to ``wait`` [s] for its simulator.

        ``control`` makes this process the one consumer that writes ``in`` channels and answers; one at a time.
        """
        path = segment_path(name)
        end = time.monotonic() + wait
        while True:
            fd, why = open_live(path)
            if fd is not None:
                break
            if time.monotonic() >= end:
                raise InputError(f"shared memory {name!r}: {why}; start the simulator first")
            time.sleep(0.01)
        segment = cls(name, fd, simulator=False)
        if control:
            segment._take_control()
        return segment

    def _take_control(self) -> None:
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _CONSUMER_BYTE)
        except OSError:
            pid = int(self._header["consumer_pid"][0])
            self.close()
            raise InputError(f"shared memory {self.name!r}: is controlled by process {pid} already") from None
        self._header["consumer_pid"] = os.getpid()
        self._header["consumer_start"] = process_start(os.getpid())
        self._header["consumer_heartbeat"] = time.monotonic_ns()
        self._controls = True

    # -- channels ----------------------------------------------------------------------------------------------

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(self._index)

    @property
    def lockstep(self) -> bool:
        return bool(self._header["flags"][0] & LOCKSTEP)

    def publish(self, channel: str, array: ArrayLike, *, time: float = 0.0) -> int:
        """Write an array to a channel; its number. Readers see the last one until this one is whole."""
        row = self._row(channel, "out" if self.is_simulator else "in")
        if not self._controls:
            raise InputError(f"channel {channel!r}: only a consumer with control may write; attach with control=True")
        data = np.asarray(array, _element_type(row))
        shape = tuple(int(n) for n in row["shape"][: int(row["dimensions"])])
        if data.ndim != len(shape) or data.shape[1:] != shape[1:] or data.shape[0] > shape[0]:
            raise InputError.of(f"channel {channel!r}", f"holds arrays of up to {shape}", data.shape)
        number = int(row["published"]) + 1
        slot, target = self._slot(row, number)
        # From an odd number, that a killed writer left, on to the next odd one.
        sequence = (int(slot["sequence"][0]) + 1) | 1
        slot["sequence"] = sequence
        slot["number"], slot["time"] = number, time
        slot["shape"][0, : data.ndim] = data.shape
        slot["shape"][0, data.ndim :] = 1
        target[: data.size].reshape(data.shape)[...] = data
        slot["sequence"] = sequence + 1
        row["published"] = number
        self._beat()
        return number

    def latest(self, channel: str, *, after: int = 0) -> Sample | None:
        """A copy of the newest array of a channel, None where there is none newer than number ``after``."""
        row = self._row(channel, None)
        for _ in range(_TRIES):
            published = int(row["published"])
            if published <= after:
                return None
            slot, source = self._slot(row, published)
            sequence = int(slot["sequence"][0])
            if sequence & 1:
                continue
            number, moment = int(slot["number"][0]), float(slot["time"][0])
            shape = tuple(int(n) for n in slot["shape"][0, : int(row["dimensions"])])
            size = int(np.prod(shape))
            if size > len(source):
                continue  # half-written shape
            copy = source[:size].copy()
            if int(slot["sequence"][0]) == sequence:
                return Sample(copy.reshape(shape), number, moment)
        raise InputError(f"channel {channel!r}: is written faster than it can be read")

    def wait_for(self, channel: str, *, after: int = 0, timeout: float = 1.0) -> Sample:
        """The newest array of a channel with a number above ``after``; an `InputError` after ``timeout`` [s]."""
        row = self._row(channel, None)
        if not self._wait(lambda: int(row["published"]) > after, timeout):
            raise InputError(f"shared memory {self.name!r}: nothing new on {channel!r} within {timeout:g} s")
        sample = self.latest(channel, after=after)
        assert sample is not None
        return sample

    # -- lock step ---------------------------------------------------------------------------------------------

    def step(self) -> int:
        """Simulator: say that all channels of a step are published; the number of the step."""
        number = int(self._header["step"][0]) + 1
        self._header["step"] = number
        self._beat()
        return number

    def await_answer(self, step: int, *, timeout: float) -> bool:
        """Simulator: wait until a consumer has answered ``step``; False after ``timeout`` [s]."""
        return self._wait(lambda: int(self._header["answer"][0]) >= step, timeout)

    def await_step(self, *, timeout: float = 1.0) -> int:
        """Consumer: wait for a step that is not answered yet; its number. `SimulatorGone` where none can come."""

        def due() -> bool:
            return int(self._header["step"][0]) > max(int(self._header["answer"][0]), self._step_answered)

        if not self._wait(due, timeout):
            raise InputError(f"shared memory {self.name!r}: no step within {timeout:g} s")
        return int(self._header["step"][0])

    def answer(self, step: int) -> None:
        """Consumer: say that ``step`` is dealt with and everything for the next one is published."""
        if not self._controls:
            raise InputError("only a consumer with control may answer; attach with control=True")
        self._step_answered = step
        self._header["answer"] = step
        self._beat()

    # -- life --------------------------------------------------------------------------------------------------

    @property
    def simulator_alive(self) -> bool:
        """Whether the simulator behind the segment is there."""
        if self.is_simulator:
            return True
        return int(self._header["state"][0]) != CLOSED and is_locked(self._fd)

    def close(self) -> None:
        """Leave the segment; the simulator takes its name away too. Readers keep what they have mapped."""
        if self._memory is None:
            return
        if self.is_simulator:
            self._header["state"] = CLOSED
            path = segment_path(self.name)
            if same_file(path, self._fd):
                path.unlink(missing_ok=True)
        del self._header, self._table
        with contextlib.suppress(BufferError):
            # A view may live on, in the traceback of an error for one; the memory goes with the last of them.
            self._memory.close()
        self._memory = None
        os.close(self._fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _beat(self) -> None:
        side = "simulator_heartbeat" if self.is_simulator else "consumer_heartbeat"
        self._header[side] = time.monotonic_ns()

    def _wait(self, ready: Callable[[], bool], timeout: float) -> bool:
        """Look often, then between naps; `SimulatorGone` where the other side is the simulator and has gone."""
        for _ in range(_SPINS):
            if ready():
                return True
        end = time.monotonic() + timeout
        check = time.monotonic() + _LIFE_CHECK
        while not ready():
            now = time.monotonic()
            if now >= check:
                self._beat() if self._controls else None
                if not self.simulator_alive:
                    if ready():
                        return True
                    raise SimulatorGone(f"shared memory {self.name!r}: its simulator has gone")
                check = now + _LIFE_CHECK
            if now >= end:
                return False
            time.sleep(_NAP)
        return True

    def _row(self, channel: str, direction: Direction | None) -> Any:
        if channel not in self._index:
            raise InputError(f"channel {channel!r}: not in this segment; {nearest(channel, self._index)}")
        row = self._table[self._index[channel]]
        if direction is not None and int(row["direction"]) != DIRECTIONS[direction]:
            raise InputError(f"channel {channel!r}: is written by the other side")
        return row

    def _slot(self, row: Any, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Header and data of the slot for array ``number``."""
        assert self._memory is not None
        at = int(row["offset"]) + (number & 1) * int(row["slot_bytes"])
        size = int(row["slot_bytes"]) - SLOT.itemsize
        dtype = _element_type(row)
        data = np.frombuffer(self._memory, dtype, size // dtype.itemsize, at + SLOT.itemsize)
        return np.frombuffer(self._memory, SLOT, 1, at), data


_TYPE_NAMES = {code: name for name, code in ELEMENT_TYPES.items()}


def _element_type(row: Any) -> np.dtype[Any]:
    return np.dtype(_TYPE_NAMES[int(row["type"])])


def _checked(spec: ChannelSpec) -> ChannelSpec:
    if not 1 <= len(spec.name.encode()) < 40 or not spec.name.isascii():
        raise InputError.of("channel name", "must be of 1 to 39 ASCII characters", spec.name)
    if spec.dtype not in ELEMENT_TYPES or spec.direction not in DIRECTIONS:
        given = (spec.direction, spec.dtype)
        raise InputError.of(f"channel {spec.name!r}", "must go in or out, of " + ", ".join(ELEMENT_TYPES), given)
    if not 1 <= len(spec.shape) <= 3 or min(spec.shape) < 1:
        raise InputError.of(f"channel {spec.name!r}", "must have one to three dimensions above 0", spec.shape)
    return spec
