"""What comes out: frames, one row per return, truth beside measurement.

Inner: people use the names in `tussock`.
"""
