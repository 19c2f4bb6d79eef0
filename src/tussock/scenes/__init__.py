"""Ready scenes, by name."""
