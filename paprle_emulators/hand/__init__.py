"""Emulated RealSense, viewing a hand."""
