"""Scans of other people's sensors as beams."""
