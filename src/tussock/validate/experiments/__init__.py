"""One experiment of the papers a file.

Inner: people use the names in `tussock`.
"""
