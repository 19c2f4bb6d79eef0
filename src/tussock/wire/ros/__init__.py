"""ROS 2 messages and logs."""
