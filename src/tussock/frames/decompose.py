"""A waveform as a sum of Gaussians: amplitude, centre and width of each.

The usual way of full-waveform work (Hofton et al. 2000, IEEE TGRS 38, 1989-1996; Wagner et al. 2006, ISPRS J. 60,
100-112): peaks of the waveform, smoothed by half the pulse's width so that noise makes none, are first guesses, and
Levenberg and Marquardt's steps fit all components of a pulse at once. A component wider than the pulse met something
deep or slanted: its width is √(σ_pulse² + σ_depth²).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tussock.frames.waveforms import Components, Waveforms
from tussock.kernels import inline_kernel, kernel, loop_kernel
from tussock.threads import resolve_threads, run_on_threads

__all__ = ["decompose"]

MOST = 8
"""the most components of a pulse"""
_STEPS = 25
_PER_FWHM = 1.0 / (2.0 * math.sqrt(2.0 * math.log(2.0)))


class _Fit(NamedTuple):
    """What a worker uses again for every waveform."""

    smooth: Any
    parameters: Any
    """amplitude, centre and σ of every component, in bins"""
    trial: Any
    gradient: Any
    hessian: Any
    factor: Any
    step: Any


def decompose(waveforms: Waveforms, *, least: float | None = None, threads: int | None = None) -> Components:
    """The Gaussian components of every waveform.

    ``least`` is the smallest amplitude that counts: six times the noise of a sample if not given, and a thousandth of
    the highest sample of each pulse where there is no noise.

    >>> components = tussock.decompose(tussock.scan(scene, sensor, waveform=True).waveforms)  # doctest: +SKIP
    """
    rows = len(waveforms)
    found = np.zeros((rows, MOST, 3), np.float32)
    counts = np.zeros(rows, np.int64)
    floor = 6.0 * waveforms.noise if least is None else least
    sigma = waveforms.pulse_fwhm_ns * _PER_FWHM / waveforms.bin_ns
    run_on_threads(_decompose, resolve_threads(threads), waveforms.samples, sigma, floor, found, counts)
    taken = np.arange(MOST) < counts[:, None]
    amplitude, centre, width = (found[..., i][taken] for i in range(3))
    row = np.repeat(np.arange(rows), counts)
    return Components(
        pulse=waveforms.pulse[row],
        range=(waveforms.start[row] + np.float32(waveforms.bin_m) * centre).astype(np.float32),
        amplitude=amplitude,
        width=(width * np.float32(waveforms.bin_ns / _PER_FWHM)).astype(np.float32),
    )


@kernel
def _decompose(worker: int, workers: int, samples: Any, sigma: float, floor: float, found: Any, counts: Any) -> None:
    size = 3 * MOST
    fit = _Fit(
        np.zeros(samples.shape[1]), np.zeros(size), np.zeros(size), np.zeros(size), np.zeros((size, size)),
        np.zeros((size, size)), np.zeros(size),
    )  # fmt: skip
    for row in range(worker, len(samples), workers):
        counts[row] = _one(samples[row], sigma, floor, fit, found[row])


@loop_kernel
def _one(samples: Any, sigma: float, floor: float, fit: Any, found: Any) -> int:
    """The components of one waveform, nearest first; how many there are."""
    highest = 0.0
    for sample in samples:
        highest = max(highest, sample)
    least = floor if floor > 0.0 else 1e-3 * highest
    if highest < least or highest <= 0.0:
        return 0
    count = _first_guesses(samples, sigma, least, fit)
    _refine(samples, count, fit)
    kept = 0
    for c in range(count):
        amplitude, centre, width = fit.parameters[3 * c], fit.parameters[3 * c + 1], abs(fit.parameters[3 * c + 2])
        if amplitude >= least and 0.0 <= centre <= len(samples) - 1 and width < len(samples):
            at = kept
            while at > 0 and found[at - 1, 1] > centre:
                for i in range(3):
                    found[at, i] = found[at - 1, i]
                at -= 1
            found[at, 0], found[at, 1], found[at, 2] = amplitude, centre, width
            kept += 1
    return kept


@loop_kernel
def _first_guesses(samples: Any, sigma: float, least: float, fit: Any) -> int:
    """Peaks of the smoothed waveform; where there are more than `MOST`, the highest."""
    filter_sigma = 0.5 * sigma
    size, reach = len(samples), int(4.0 * filter_sigma) + 1
    for i in range(size):
        total, weight = 0.0, 0.0
        for j in range(max(0, i - reach), min(size, i + reach + 1)):
            w = math.exp(-0.5 * ((i - j) / filter_sigma) ** 2)
            total += w * samples[j]
            weight += w
        fit.smooth[i] = total / weight
    count = 0
    for i in range(size):
        here = fit.smooth[i]
        # A pulse twice as wide as the filter is √0.8 as high behind it.
        if here < 0.85 * least or (i > 0 and fit.smooth[i - 1] >= here) or (i + 1 < size and fit.smooth[i + 1] > here):
            continue
        at = count
        if count == MOST:
            for c in range(MOST):
                if at == MOST or fit.parameters[3 * c] < fit.parameters[3 * at]:
                    at = c
            if fit.parameters[3 * at] >= here:
                continue
        else:
            count += 1
        fit.parameters[3 * at], fit.parameters[3 * at + 1], fit.parameters[3 * at + 2] = here, i, 1.1 * sigma
    return count


@loop_kernel
def _refine(samples: Any, count: int, fit: Any) -> None:
    """Levenberg and Marquardt: steps between Newton's and the steepest descent, the shorter the worse the last went."""
    damping, n = 1e-3, 3 * count
    error = _normal_equations(samples, count, fit.parameters, fit.gradient, fit.hessian)
    for _ in range(_STEPS):
        if not _solve(n, damping, fit):
            damping *= 10.0
            continue
        size = 0.0
        for i in range(n):
            fit.trial[i] = fit.parameters[i] + fit.step[i]
            size = max(size, abs(fit.step[i]) / (1e-6 + abs(fit.parameters[i])))
        better = _misfit(samples, count, fit.trial)
        if better <= error:
            for i in range(n):
                fit.parameters[i] = fit.trial[i]
            damping = max(damping * 0.2, 1e-12)
            if size < 1e-5:
                return
            error = _normal_equations(samples, count, fit.parameters, fit.gradient, fit.hessian)
        else:
            damping *= 10.0
            if damping > 1e12:
                return


@inline_kernel
def _left_over(samples: Any, count: int, parameters: Any, i: int) -> float:
    """What the components have too much at sample ``i``."""
    rest = -float(samples[i])
    for c in range(count):
        z = (i - parameters[3 * c + 1]) / parameters[3 * c + 2]
        if -8.0 < z < 8.0:
            rest += parameters[3 * c] * math.exp(-0.5 * z * z)
    return rest


@loop_kernel
def _misfit(samples: Any, count: int, parameters: Any) -> float:
    """Sum of the squares of what the components leave over."""
    total = 0.0
    for i in range(len(samples)):
        rest = _left_over(samples, count, parameters, i)
        total += rest * rest
    return total


@loop_kernel
def _normal_equations(samples: Any, count: int, parameters: Any, gradient: Any, hessian: Any) -> float:
    """JᵀJ and −Jᵀr of the components, and the sum of the squares of r."""
    n, total = 3 * count, 0.0
    for a in range(n):
        gradient[a] = 0.0
        for b in range(n):
            hessian[a, b] = 0.0
    for i in range(len(samples)):
        rest = _left_over(samples, count, parameters, i)
        total += rest * rest
        for c in range(count):
            a0, a1, a2 = _slope(i, parameters, c)
            if a0 == 0.0:
                continue
            gradient[3 * c] -= a0 * rest
            gradient[3 * c + 1] -= a1 * rest
            gradient[3 * c + 2] -= a2 * rest
            for d in range(count):
                b0, b1, b2 = _slope(i, parameters, d)
                row, column = 3 * c, 3 * d
                hessian[row, column] += a0 * b0
                hessian[row, column + 1] += a0 * b1
                hessian[row, column + 2] += a0 * b2
                hessian[row + 1, column] += a1 * b0
                hessian[row + 1, column + 1] += a1 * b1
                hessian[row + 1, column + 2] += a1 * b2
                hessian[row + 2, column] += a2 * b0
                hessian[row + 2, column + 1] += a2 * b1
                hessian[row + 2, column + 2] += a2 * b2
    return total


@loop_kernel
def _slope(i: int, parameters: Any, c: int) -> Any:
    """How component ``c`` changes at sample ``i`` with its amplitude, centre and σ."""
    amplitude, width = parameters[3 * c], parameters[3 * c + 2]
    z = (i - parameters[3 * c + 1]) / width
    if z <= -8.0 or z >= 8.0:
        return 0.0, 0.0, 0.0
    shape = math.exp(-0.5 * z * z)
    return shape, amplitude * shape * z / width, amplitude * shape * z * z / width


@loop_kernel
def _solve(n: int, damping: float, fit: Any) -> bool:
    """(H + damping·diag H)·step = gradient, by Cholesky; whether that could be done."""
    factor = fit.factor
    for a in range(n):
        for b in range(a + 1):
            total = fit.hessian[a, b]
            if a == b:
                total += damping * total + 1e-30
            for k in range(b):
                total -= factor[a, k] * factor[b, k]
            if a == b:
                if total <= 0.0:
                    return False
                factor[a, a] = math.sqrt(total)
            else:
                factor[a, b] = total / factor[b, b]
    for a in range(n):
        total = fit.gradient[a]
        for k in range(a):
            total -= factor[a, k] * fit.step[k]
        fit.step[a] = total / factor[a, a]
    for a in range(n - 1, -1, -1):
        total = fit.step[a]
        for k in range(a + 1, n):
            total -= factor[k, a] * fit.step[k]
        fit.step[a] = total / factor[a, a]
    return True
