"""What is in the air: weather as people write it, and the numbers that make it scatter light.

Inner: people use the names in `tussock`.
"""
