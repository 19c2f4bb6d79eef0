"""Packets, logs and shared memory."""
