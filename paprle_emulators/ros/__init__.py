"""An emulated robot behind ROS: ros2_control semantics, simple drives.

See ``README.md``.
"""
