"""Range sensors where the ground grows."""
