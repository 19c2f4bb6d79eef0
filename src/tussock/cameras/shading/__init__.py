"""What a pixel looks like: light, surfaces, the air between.

Inner: people use the names in `tussock`.
"""
