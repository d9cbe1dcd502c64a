"""ROS 2 and ROS 1, also without an installation."""
