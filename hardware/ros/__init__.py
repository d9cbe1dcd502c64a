"""ROS 2 and ROS 1 with and without a ROS installation."""
