"""Emulated Robotiq grippers: behind a UR's URCap, and on a serial line."""
