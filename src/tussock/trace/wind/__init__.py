"""Plants that bend in wind: which copies do, where their tips are at each moment, and how a ray meets them.

Inner: people use the names in `tussock`.
"""
