"""The command line, one thin file a command.

Inner: people use the names in `tussock`.
"""
