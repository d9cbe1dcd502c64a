"""Relation between the limits of jerk and of acceleration."""

LONGEST_TURNING = 1.0
"""Longest time that J may take to turn A around, [s]; half of it is a delay."""
