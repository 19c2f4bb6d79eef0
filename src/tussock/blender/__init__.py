"""Scenes from Blender: a .blend as it is, cameras standing for sensors, points put back beside the scene."""
