"""A robot behind ROS, in a process of its own, that misbehaves on command.

Controllers as ros2_control has them, drives without dynamics. See ``README.md``.
"""
