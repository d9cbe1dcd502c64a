"""Followers: one package per environment (kinematic, MuJoCo, ROS 2, CAN)."""

DISTRIBUTION = "paprle"
"""Whose package this is: others may bring one of the same name."""
