"""Pulses that walk through a grid of voxels, many together.

Inner: people use the names in `tussock`.
"""
