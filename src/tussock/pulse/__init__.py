"""The fused loop over pulses: the tracer and the physics of the signal joined, one step a file.

Inner: people use the names in `tussock`.
"""
