"""The ground, and what is planted on it.

Inner: people use the names in `tussock`.
"""
