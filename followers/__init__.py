"""Followers: one package per environment (kinematic, MuJoCo, ROS 2, CAN)."""
