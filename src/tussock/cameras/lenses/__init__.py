"""How points become pixels and pixels become rays.

Inner: people use the names in `tussock`.
"""
