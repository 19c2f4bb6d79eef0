"""Plants, grown from a few numbers and a seed."""
