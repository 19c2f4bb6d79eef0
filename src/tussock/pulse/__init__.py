"""The fused loop over pulses: the tracer and the physics of the signal joined, one step a file."""
