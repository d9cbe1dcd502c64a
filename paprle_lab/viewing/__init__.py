"""Recordings for the viewer: own episodes, data sets of LeRobot, and bags of ROS."""
