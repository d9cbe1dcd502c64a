"""Servos, arms and their drivers, emulated or simulated."""
