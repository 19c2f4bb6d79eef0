"""Arrays shared with other programs on this machine."""
