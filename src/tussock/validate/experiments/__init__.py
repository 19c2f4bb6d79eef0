"""One experiment of the papers a file."""
