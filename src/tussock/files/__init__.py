"""Frames and images to files and back."""
