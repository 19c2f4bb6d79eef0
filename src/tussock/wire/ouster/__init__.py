"""Ouster packets, out and in."""
