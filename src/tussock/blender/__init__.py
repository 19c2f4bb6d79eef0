"""Scenes from Blender: a .blend as it is, cameras standing for sensors, points put back beside the scene.

Inner: people use the names in `tussock`.
"""
