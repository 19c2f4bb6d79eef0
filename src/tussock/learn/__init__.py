"""From scans of real places back to a scene."""
