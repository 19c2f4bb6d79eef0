"""Hesai packets, out and in.

Inner: people use the names in `tussock`.
"""
