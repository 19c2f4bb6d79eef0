"""How returns are divided into volumes.

Inner: people use the names in `tussock`.
"""
