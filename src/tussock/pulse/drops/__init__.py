"""Drops and flakes one by one: which of them sixteen pulses meet, and which of those a receiver hears.

Inner: people use the names in `tussock`.
"""
