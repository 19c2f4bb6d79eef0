"""What is out there: the model of a scene.

Inner: people use the names in `tussock`.
"""
