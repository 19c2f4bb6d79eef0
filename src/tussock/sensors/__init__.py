"""What looks: scan pattern, beam, receiver and noise.

Inner: people use the names in `tussock`.
"""
