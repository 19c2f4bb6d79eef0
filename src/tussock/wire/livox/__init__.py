"""Livox packets, out and in, answers to Livox's drivers, and the message of its ROS drivers.

Inner: people use the names in `tussock`.
"""
