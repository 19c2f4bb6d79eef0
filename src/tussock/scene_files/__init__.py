"""Scenes, meshes, motion and volumes as files.

Inner: people use the names in `tussock`.
"""
