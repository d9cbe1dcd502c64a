"""Emulated Franka Research 3."""
