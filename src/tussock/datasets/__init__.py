"""Labelled data sets in the layouts that people read."""
