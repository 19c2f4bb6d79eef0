"""Cut-outs: surfaces that are not there where their texture is see-through.

Inner: people use the names in `tussock`.
"""
