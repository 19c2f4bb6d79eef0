"""What Embree asks of us at a hit: whether the ray truly meets the triangle, and whether there is anything of it.

Inner: people use the names in `tussock`.
"""
