"""What a vehicle meets: the ground below the plants, what stops it, what gives way, what moves.

Inner: people use the names in `tussock`.
"""
