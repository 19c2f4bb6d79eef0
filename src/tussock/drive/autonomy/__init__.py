"""The autonomy of Goodin et al. 2018: register, map, plan, follow; each step can be replaced.

Inner: people use the names in `tussock`.
"""
