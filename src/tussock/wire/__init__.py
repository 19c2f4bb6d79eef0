"""Packets, logs and shared memory.

Inner: people use the names in `tussock`.
"""
