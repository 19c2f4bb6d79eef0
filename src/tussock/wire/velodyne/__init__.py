"""Velodyne packets, out and in."""
