"""Dynamixel servos in SI units."""
