"""Labelled data sets in the layouts that people read.

Inner: people use the names in `tussock`.
"""
