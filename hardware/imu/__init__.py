"""Inertial sensors on a serial line."""
