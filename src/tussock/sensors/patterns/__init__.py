"""Scan patterns: where a sensor looks, and when. One pattern a file."""
