"""Whole scans on a graphics processor: the pulse of `tussock.pulse`, one thread each.

Inner: people use the names in `tussock`.
"""
