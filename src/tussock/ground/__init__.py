"""The ground, and what is planted on it."""
