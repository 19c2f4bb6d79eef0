"""From scans of real places back to a scene.

Inner: people use the names in `tussock`.
"""
