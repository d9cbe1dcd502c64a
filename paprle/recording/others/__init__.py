"""Recordings of ROS and AdaptiX."""
