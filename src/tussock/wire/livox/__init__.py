"""Livox packets (SDK2), out and in, and the message of Livox's ROS drivers.

Inner: people use the names in `tussock`.
"""
