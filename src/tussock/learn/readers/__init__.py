"""Scans of other people's sensors as pulses.

Inner: people use the names in `tussock`.
"""
