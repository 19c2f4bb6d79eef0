"""Live to where people look: Foxglove, Rerun, and ROS 2 by DDS.

Inner: people use the names in `tussock`.
"""
