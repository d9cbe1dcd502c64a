"""Emulated robot behind ROS."""
