"""Several sensors on one moving body."""
