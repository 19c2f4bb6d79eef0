"""Scans of other people's sensors as pulses."""
