"""Scan patterns: where a sensor looks, and when. One pattern a file.

Inner: people use the names in `tussock`.
"""
