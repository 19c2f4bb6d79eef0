"""The tracer for graphics processors: trees of boxes of our own, walked by one thread a ray.

Inner: people use the names in `tussock`.
"""
