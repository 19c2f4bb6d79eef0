"""Vehicles: how they obey commands, stand on the ground, are held back and stopped.

Inner: people use the names in `tussock`.
"""
