"""Data sets from many worlds, made on one machine or many: plans, items, stores, engines.

Inner: people use the names in `tussock`.
"""
