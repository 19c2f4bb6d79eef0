"""Plants, grown from a few numbers and a seed.

Inner: people use the names in `tussock`.
"""
