"""What the studio has on its page: the scene, the sensor, the points, and a panel a tab.

Inner: people use the names in `tussock`.
"""
