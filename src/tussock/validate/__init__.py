"""The experiments of the papers, run again: one file each, with their numbers beside ours.

Inner: people use the names in `tussock`.
"""
