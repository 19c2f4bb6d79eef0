"""What a volume knows besides where it is and what it lets through: labels and colours.

Inner: people use the names in `tussock`.
"""
