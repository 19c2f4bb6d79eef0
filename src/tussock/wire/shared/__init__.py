"""Arrays shared with other programs on this machine.

Inner: people use the names in `tussock`.
"""
