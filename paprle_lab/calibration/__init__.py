"""Calibration of a rig: cameras, tools and bases."""
