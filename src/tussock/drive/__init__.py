"""Driving: a vehicle that sees the scene only through its simulated sensors, and finds its way.

Inner: people use the names in `tussock`.
"""
