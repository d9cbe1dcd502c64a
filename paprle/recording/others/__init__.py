"""Recordings in formats of other projects: ROS bags and AdaptiX."""
