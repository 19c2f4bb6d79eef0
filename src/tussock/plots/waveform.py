"""A picture of one pulse: its samples, the Gaussians they are made of, and what the sensor reported."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.frames.waveforms import Waveforms
from tussock.plots.canvas import MEASURED, QUIET, SIMULATED, picture

__all__ = ["plot_waveform", "richest_pulse"]


def richest_pulse(frame: Frame) -> int:
    """The pulse with the most components, the first of them: the one most worth looking at."""
    waveforms = _waveforms_of(frame)
    parts = waveforms.components
    if parts is None or not len(parts):
        return int(waveforms.pulse[0])
    pulses, counts = np.unique(parts.pulse, return_counts=True)
    return int(pulses[np.argmax(counts)])


def plot_waveform(frame: Frame, path: Path | str, *, pulse: int | None = None, force: bool = False) -> None:
    """Draw the waveform of a pulse to a PNG; ``pulse`` is the one with the most components if not given.

    >>> tussock.plot_waveform(tussock.scan(scene, sensor, waveform=True), "pulse.png")  # doctest: +SKIP
    """
    waveforms = _waveforms_of(frame)
    pulse = richest_pulse(frame) if pulse is None else pulse
    row = waveforms.row_of(pulse)
    x, samples = waveforms.ranges(row), waveforms.samples[row]
    unit = "signal over noise" if waveforms.noise else "signal"
    about = f"{waveforms.bin_ns:g} ns a bin, pulse of {waveforms.pulse_fwhm_ns:g} ns"
    with picture(path, f"Pulse {pulse}", about, size=(11.0, 5.2), force=force) as figure:
        axes = figure.add_axes((0.08, 0.13, 0.88, 0.68))
        axes.step(x, samples, where="mid", color=QUIET, lw=1.2, label="samples")
        parts = waveforms.components
        if parts is not None:
            fine = np.linspace(x[0], x[-1], 2000)
            per_ns = waveforms.bin_m / waveforms.bin_ns
            for i in np.flatnonzero(parts.pulse == pulse):
                sigma = parts.width[i] * per_ns / 2.3548
                label = f"{parts.range[i]:.2f} m, {parts.width[i]:.1f} ns"
                shape = parts.amplitude[i] * np.exp(-((fine - parts.range[i]) ** 2) / (2 * sigma**2))
                axes.plot(fine, shape, color=MEASURED, lw=1.6, label=label)
        for k, distance in enumerate(frame.range[(frame.pulse == pulse) & frame.hit]):
            axes.axvline(distance, color=SIMULATED, lw=1.0, ls="--", label="reported" if k == 0 else None)
        axes.set(xlabel="range [m]", ylabel=unit, xlim=(x[0], x[-1]))
        axes.legend(fontsize=9)


def _waveforms_of(frame: Frame) -> Waveforms:
    if frame.waveforms is None or not len(frame.waveforms):
        raise InputError("frame: has no waveforms; scan with waveform=True (--waveform)")
    return frame.waveforms
