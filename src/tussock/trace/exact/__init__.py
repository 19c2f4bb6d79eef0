"""Which triangles rays really meet, by our own arithmetic: margins, the filter that knows true hits, cut-outs.

Inner: people use the names in `tussock`.
"""
