"""Ready scenes, by name.

Inner: people use the names in `tussock`.
"""
