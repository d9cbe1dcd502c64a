"""Emulated Robotiq grippers."""
