"""Light meets the scene: hits, through Embree.

Inner: people use the names in `tussock`.
"""
