"""Cameras: depth, labels and colour pictures."""
