"""Scenes, meshes, motion and volumes as files."""
