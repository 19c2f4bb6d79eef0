"""What the receiver makes of hits: pure functions of numbers.

Inner: people use the names in `tussock`.
"""
