"""Emulated network camera and RealSense."""
