"""Recordings for the viewer: own episodes, LeRobot data sets, ROS bags."""
