"""How what was learned compares with what was measured.

Inner: people use the names in `tussock`.
"""
