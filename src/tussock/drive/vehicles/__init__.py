"""Vehicles: how they obey commands, stand on the ground, are held back and stopped."""
