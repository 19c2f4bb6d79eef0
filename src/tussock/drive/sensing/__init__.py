"""The sensors beside the LIDAR: GPS, compass, odometry, IMU, each with the errors of its data sheet.

Inner: people use the names in `tussock`.
"""
