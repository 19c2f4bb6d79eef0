"""Scenes in the formats that other programs have them in: USD and glTF, read and written.

Inner: people use the names in `tussock`.
"""
