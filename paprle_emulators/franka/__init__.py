"""Emulated Franka Research 3 and Panda."""
