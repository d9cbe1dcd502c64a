"""Robotiq's 2F-85, 2F-140 and Hand-E."""
