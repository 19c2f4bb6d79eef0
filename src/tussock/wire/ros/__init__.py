"""ROS 2 messages and logs.

Inner: people use the names in `tussock`.
"""
