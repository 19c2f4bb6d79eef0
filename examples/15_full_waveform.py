"""The signal itself: what a receiver sees of a pulse that goes through a shrub, and the Gaussians it is made of."""

import tussock

sensor = tussock.load_sensor("vlp-16").with_(**{"receiver.mode": "all", "waveform.window_m": 15.0})
frame = tussock.scan(tussock.ready_scene("shrub"), sensor, tussock.ready_pose("shrub"), waveform=True)
waves = frame.waveforms
parts = waves.components

tussock.save_frame(frame, "shrub.npz")  # also .parquet, and .las with its packets in .wdp
tussock.plot_waveform(frame, "pulse.png")
print(f"{len(waves)} pulses of {frame.pulses} came back, {len(parts)} components")
print(f"echoes are {parts.width.mean():.1f} ns wide on average; the pulse itself is {waves.pulse_fwhm_ns:g} ns")
