"""Motion in USD: time samples of transforms, which become the motion of an object, and back.

What a transform above a shape does over time, from the stage's start on, is a motion where it keeps sizes and angles:

    from the shape to the world = place at the start, then motion;   motion(t) = start⁻¹ · now(t)

USD goes from sample to sample op by op (a turn about an axis by its angle), a `Trajectory` by the shortest turn, so poses
are taken at every sample and 24 times a second between. Time 0 is the stage's start.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.poses import Trajectory

__all__ = ["Motions", "write_motion"]

_BETWEEN = 24.0  # [1/s]
_MOST = 100_000
"""poses of one object"""
_RIGID = 1e-5
_STILL = 1e-9


class Motions:
    """Reads the motions of a stage; ``time`` is when things are where their places say."""

    def __init__(self, pxr: Any, stage: Any, time: Any, upright: NDArray[np.float64]) -> None:
        self._pxr, self._upright = pxr, upright
        self._per_second = float(stage.GetTimeCodesPerSecond())
        self._zero = float(stage.GetStartTimeCode()) if stage.HasAuthoredTimeCodeRange() else 0.0
        self._start = pxr.UsdGeom.XformCache(time)
        self.changing = 0
        """shapes whose transforms change sizes or angles over time, which is no motion"""

    def of(self, prim: Any, moving: list[Any]) -> Trajectory | None:
        """How ``prim`` moves by the transforms ``moving`` at and above it; None where it stands still."""
        samples = np.unique([sample for placed in moving for sample in placed.GetTimeSamples()])
        if len(samples) < 2 or not self._per_second > 0:
            return None
        first, last = max(samples[0], self._zero), samples[-1]
        if last <= first:
            return None
        if (last - first) / self._per_second * _BETWEEN > _MOST:
            seconds = (last - first) / self._per_second
            raise InputError.of(
                f"{prim.GetPath()}", f"must move for at most {_MOST / _BETWEEN:,.0f} s", f"{seconds:g} s"
            )
        between = np.arange(first, last, self._per_second / _BETWEEN)
        codes = np.unique(np.concatenate([between, samples[samples >= first], [last]]))
        codes = codes[np.append(True, np.diff(codes) > 1e-9 * self._per_second)]
        moved = self._moved(prim, codes)
        if np.abs(moved - np.eye(4)).max() < _STILL:
            return None
        turns = np.swapaxes(moved[:, :3, :3], 1, 2)
        square = np.abs(turns @ np.swapaxes(turns, 1, 2) - np.eye(3)).max() < _RIGID
        if not square or (np.linalg.det(turns) < 0).any():
            self.changing += 1
            return None
        times = (codes - self._zero) / self._per_second
        return Trajectory(times, np.ascontiguousarray(moved[:, 3, :3]), Rotation.from_matrix(turns).as_quat())

    def _moved(self, prim: Any, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """What happened to a prim since the start, in the world's axes, acting on rows, shape (n, 4, 4)."""
        start = np.linalg.inv(np.array(self._start.GetLocalToWorldTransform(prim)) @ self._upright)
        cache = self._pxr.UsdGeom.XformCache()
        found = np.empty((len(codes), 4, 4))
        for row, code in enumerate(codes.tolist()):
            cache.SetTime(self._pxr.Usd.TimeCode(code))
            found[row] = start @ (np.array(cache.GetLocalToWorldTransform(prim)) @ self._upright)
        return found


def write_motion(pxr: Any, stage: Any, path: str, motion: Trajectory) -> None:
    """Define a transform at ``path`` that moves as an object does, in time codes of a second."""
    stage.SetTimeCodesPerSecond(1.0)
    stage.SetStartTimeCode(
        min(0.0, float(motion.times[0])) if not stage.HasAuthoredTimeCodeRange() else stage.GetStartTimeCode()
    )
    stage.SetEndTimeCode(max(float(motion.times[-1]), stage.GetEndTimeCode()))
    prim = pxr.UsdGeom.Xform.Define(stage, path)
    double = pxr.UsdGeom.XformOp.PrecisionDouble
    shift, turn = prim.AddTranslateOp(double), prim.AddOrientOp(double)
    for time, place, (x, y, z, w) in zip(
        motion.times.tolist(), motion.positions.tolist(), motion.quaternions.tolist(), strict=True
    ):
        shift.Set(pxr.Gf.Vec3d(*place), time)
        turn.Set(pxr.Gf.Quatd(w, x, y, z), time)
