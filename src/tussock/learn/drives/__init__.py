"""Recordings of a sensor that moves, as pulses in the world, part by part.

Inner: people use the names in `tussock`.
"""
