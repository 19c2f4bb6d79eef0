"""Worlds by recipe: any number of different places, each a function of a recipe, a seed and its own number.

Inner: people use the names in `tussock`.
"""
