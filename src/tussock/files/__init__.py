"""Frames and images to files and back.

Inner: people use the names in `tussock`.
"""
