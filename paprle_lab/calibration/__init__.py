"""Calibration of cameras, tools and bases."""
