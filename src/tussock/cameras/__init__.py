"""Cameras: depth, labels and colour pictures.

Inner: people use the names in `tussock`.
"""
