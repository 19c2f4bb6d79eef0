"""Several sensors on one moving body.

Inner: people use the names in `tussock`.
"""
