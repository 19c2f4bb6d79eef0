"""Pictures that people look at: everything that draws.

Inner: people use the names in `tussock`.
"""
